"""The line of play: no two tiles meet but neighbours, who show the same number where they touch."""

from __future__ import annotations

import dataclasses
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invariants import PRESETS
from random_games import played

from dominoes_env.engine.actions import encode_play
from dominoes_env.engine.rules import Rules
from dominoes_env.engine.state import NONE
from dominoes_env.engine.tiles import HIGH, LOW
from dominoes_env.engine.variants import make_rules
from dominoes_env.render.layout import MIN_COLUMNS, Box, Layout, _ways, lay_out
from dominoes_env.words import LaidTile, empty_round, laid_tiles

COLUMNS = (10, 12, 14, 15, 18, 22.5, 30, 43)
#: What tiles that are not neighbours keep between them.
GAP = 0.5


def gaps(boxes: list[Box]) -> tuple[np.ndarray, np.ndarray]:
    """(n, n) distances across and down between boxes; negative where they overlap in that direction."""
    low = np.array([(box.x, box.y) for box in boxes])
    high = low + np.array([(box.width, box.height) for box in boxes])
    between = np.maximum(low[:, None] - high[None], low[None] - high[:, None])
    return between[..., 0], between[..., 1]


def halves(box: Box) -> list[tuple[float, float, int]]:
    """The top left corners of a box's halves, each 1 x 1, with the number in it."""
    step = (0, 1) if box.is_upright else (1, 0)
    return [(box.x, box.y, box.first), (box.x + step[0], box.y + step[1], box.second)]


def touching_numbers(box: Box, other: Box) -> list[tuple[int, int]]:
    """The numbers of the halves of two boxes that share a piece of an edge."""
    pairs = []
    for x, y, number in halves(box):
        for other_x, other_y, other_number in halves(other):
            across, down = abs(x - other_x), abs(y - other_y)
            if (across == 1 and down < 1) or (down == 1 and across < 1):
                pairs.append((number, other_number))
    return pairs


def neighbours(rules: Rules, history: list[int]) -> tuple[list[int], dict[int, int]]:
    """The tile on which each tile was laid (the first: -1), and the one on which each end's next tile would be."""
    before, tip = [], dict.fromkeys(range(4), -1)
    for index, tile in enumerate(laid_tiles(rules, empty_round(rules), history)):
        before.append(tip[tile.end])
        if tile.is_spinner or index == 0:
            unbegun = [tile.end, 2, 3] if index else range(4)
            tip.update(dict.fromkeys(unbegun, index))
        else:
            tip[tile.end] = index
    return before, tip


def check_layout(rules: Rules, history: list[int], columns: float) -> Layout:
    layout = lay_out(rules, history, columns=columns)
    boxes, ends = list(layout.boxes), list(layout.tips)
    before, tip = neighbours(rules, history)
    everything = [*boxes, *layout.tips.values()]
    before += [tip[end] for end in ends]
    across, down = gaps(everything)
    is_neighbour = np.eye(len(everything), dtype=bool)
    for index, other in enumerate(before):
        if other < 0:
            assert index == 0
            continue
        is_neighbour[index, other] = is_neighbour[other, index] = True
        box, neighbour = everything[index], everything[other]
        # They share an edge and no more, and all halves that touch show one number.
        assert max(across[index, other], down[index, other]) == 0
        assert min(across[index, other], down[index, other]) < 0
        touching = touching_numbers(box, neighbour)
        assert touching and all(number == touching[0][1] for pair in touching for number in pair)
    apart = np.maximum(across, down)
    assert (apart[~is_neighbour] >= GAP).all()
    for box in everything:
        assert box.x >= 0 and box.x + box.width <= layout.width == columns
        assert box.y >= 0 and box.y + box.height <= layout.height
        assert (box.width, box.height) == ((1, 2) if box.is_upright else (2, 1))
    assert [box.move for box in boxes] == [move for move, action in enumerate(history) if action < rules.draw_action]
    for box in boxes:
        assert sorted((box.first, box.second)) == [LOW[box.tile], HIGH[box.tile]]
        assert box.tile == history[box.move] % rules.num_tiles
        assert box.is_double == (box.first == box.second)
    return layout


def offsets(layout: Layout, later: Layout) -> set[tuple[float, float]]:
    """By how much the boxes of ``layout`` lie elsewhere in ``later``; one offset is a shift of the whole."""
    moved = set()
    for box, after in zip(layout.boxes, later.boxes, strict=False):
        moved.add((after.x - box.x, after.y - box.y))
        assert dataclasses.replace(after, x=box.x, y=box.y) == box or after.is_upright != box.is_upright
    return moved


def check_growth(rules: Rules, history: list[int], columns: float) -> None:
    """Each tile leaves those before it in place, and comes where the tip of its end was."""
    layouts = [lay_out(rules, history[:length], columns=columns) for length in range(len(history) + 1)]
    for layout, later in pairwise(layouts):
        if not layout.boxes or later.boxes[-1].is_spinner:
            continue
        moved = offsets(layout, later)
        assert len(moved) == 1
        dx, dy = moved.pop()
        assert dx == 0
        if len(later.boxes) > len(layout.boxes):
            new, tip = later.boxes[-1], layout.tips[later.boxes[-1].arm]
            if not new.is_double:
                assert (new.x, new.y, new.is_upright) == (tip.x, tip.y + dy, tip.is_upright)
                assert new.first == tip.first or new.second == tip.second


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_random_games(variant, num_players):
    rules = make_rules(variant, num_players=num_players)
    for seed in range(100):
        game = played(rules, seed, 1000, episode="round")
        columns = COLUMNS[seed % len(COLUMNS)]
        check_layout(rules, list(game.history), columns)
        if seed % 10 == 0:
            check_growth(rules, list(game.history), columns)


@pytest.mark.slow
@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_ten_thousand_random_games(variant, num_players):
    rules = make_rules(variant, num_players=num_players)
    for seed in range(10_000):
        game = played(rules, seed, 1000, episode="round")
        check_layout(rules, list(game.history), COLUMNS[seed % len(COLUMNS)])


def laid_at_random(rules: Rules, weights: list[float], generator: random.Random) -> list[int]:
    """A layout of all tiles that can be made to fit, whoever might hold them; ends are chosen by weight."""
    lead = generator.randrange(rules.num_tiles)
    history = [encode_play(rules, lead, 0)]
    while True:
        state = empty_round(rules)
        laid_tiles(rules, state, history)
        fitting = {
            end: [
                tile
                for tile in range(rules.num_tiles)
                if not int(state["laid"][0]) >> tile & 1 and number in (LOW[tile], HIGH[tile])
            ]
            for end, number in enumerate(state["ends"][0])
            if number != NONE
        }
        ends = [end for end, tiles in fitting.items() if tiles]
        if not ends:
            return history
        (end,) = generator.choices(ends, [weights[end] for end in ends])
        doubles = [tile for tile in fitting[end] if LOW[tile] == HIGH[tile]]
        tile = generator.choice(doubles if doubles and generator.random() < 0.5 else fitting[end])
        history.append(encode_play(rules, tile, end))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([("block", 6), ("all_fives", 6), ("threes", 9), ("cuban", 9)]),
    st.lists(st.sampled_from([0.001, 1.0, 1000.0]), min_size=4, max_size=4),
    st.integers(MIN_COLUMNS * 2, 90).map(lambda halves: halves / 2),
    st.integers(0, 2**32),
)
def test_layouts_of_nearly_all_tiles(preset, weights, columns, seed):
    variant, max_pip = preset
    rules = make_rules(variant, max_pip=max_pip)
    history = laid_at_random(rules, weights, random.Random(seed))
    check_layout(rules, history, columns)
    check_growth(rules, history, columns)


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from([(0, 0, True), (0, 0, True), (0, 0, False), (0, 1, False)]),
    st.lists(st.integers(0, 54), min_size=4, max_size=4),
    st.sampled_from([0.05, 0.2, 0.5]),
    st.integers(MIN_COLUMNS * 2, 60).map(lambda halves: halves / 2),
    st.integers(0, 2**32),
)
def test_arms_of_any_length_keep_apart(root, lengths, share, columns, seed):
    """Whatever tiles there were in the world: that no two doubles follow one another is all that an arm asks for."""
    generator = random.Random(seed)
    arms = [[generator.random() < share for _ in range(length)] for length in lengths]
    low, high, is_spinner = root
    rects = [(0, 0, 1, 2) if low == high else (0, 0, 2, 1)]
    before = [-1]
    middle = columns / 2
    for pattern, way in zip(arms, _ways(LaidTile(0, 0, 0, low, high, is_spinner), columns), strict=False):
        last, was_double = 0, low == high
        for wish in pattern:
            is_double = wish and not was_double
            place, way = way.advance(is_double)
            before.append(last)
            last, was_double = len(rects), is_double
            rects.append((place.x - middle, place.y, 1 if place.is_upright else 2, 2 if place.is_upright else 1))
    centre, size = np.array([rect[:2] for rect in rects]), np.array([rect[2:] for rect in rects])
    apart = (np.abs(centre[:, None] - centre[None]) - (size[:, None] + size[None]) / 2).max(-1)
    index = np.arange(1, len(rects))
    assert np.allclose(apart[index, before[1:]], 0)
    apart[index, before[1:]] = apart[before[1:], index] = GAP
    np.fill_diagonal(apart, GAP)
    assert (apart > GAP - 1e-9).all()
    assert (np.abs(centre[:, 0]) + size[:, 0] / 2 <= middle + 1e-9).all()


def circuit(rules: Rules, start: int) -> list[int]:
    """All tiles of a double-six set in one line, from ``[start-start]`` to a tile that shows ``start`` again."""
    unused = {(low, high) for high in range(7) for low in range(high)}

    def walk(number: int) -> list[int]:
        path, found = [], True
        while found:
            found = False
            for other in range(7):
                if (min(number, other), max(number, other)) in unused:
                    unused.discard((min(number, other), max(number, other)))
                    path.append(other)
                    number, found = other, True
                    break
        return path

    numbers = [start, *walk(start)]
    place = 0
    while unused:
        detour = walk(numbers[place])
        numbers[place + 1 : place + 1] = detour
        place += 1
    tiles, seen = [(start, start)], {start}
    for number, other in pairwise(numbers):
        tiles.append((number, other))
        if other not in seen:
            seen.add(other)
            tiles.append((other, other))
    return [max(tile) * (max(tile) + 1) // 2 + min(tile) for tile in tiles]


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("variant", ["block", "all_fives"])
def test_all_28_tiles_in_one_line(variant, columns):
    rules = make_rules(variant)
    for end in range(2 if variant == "block" else 1):
        lead, *others = circuit(rules, 6)
        history = [lead] + [encode_play(rules, tile, end) for tile in others]
        layout = check_layout(rules, history, columns)
        check_growth(rules, history, columns)
        assert len(layout.boxes) == 28


@pytest.mark.parametrize("variant", ["block", "all_fives"])
def test_doubles_lie_crosswise_where_nothing_turns(variant):
    rules = make_rules(variant)
    for seed in range(20):
        history = laid_at_random(rules, [1, 1, 0.1, 0.1], random.Random(seed))
        layout = lay_out(rules, history, columns=200)
        for box in layout.boxes:
            if box.arm < 2 or box.is_spinner:
                assert box.is_upright == box.is_double


def test_a_spinner_that_comes_late_takes_the_middle():
    rules = make_rules("all_fives")
    moves = [encode_play(rules, tile, end) for tile, end in [(19, 0), (26, 1), (27, 1)]]  # [5-4] [5-6] [6-6]
    before, after = (lay_out(rules, moves[:length], columns=30) for length in (2, 3))
    assert after.boxes[2].is_spinner and after.boxes[2].centre == (15, after.boxes[2].y + 1)
    assert len(offsets(before, after)) == 1
    assert after.tips.keys() == {0, 1}


def test_an_empty_table():
    layout = lay_out(make_rules("draw"), [], columns=20)
    assert layout == Layout((), {}, 20, 0)


def test_a_lead_alone():
    rules = make_rules("all_fives")
    lone = lay_out(rules, [27], columns=20)  # the double six: the spinner, open at one end only
    assert lone.boxes[0].is_spinner and lone.boxes[0].is_upright and lone.tips.keys() == {0}
    plain = lay_out(rules, [26], columns=20)
    assert (plain.boxes[0].first, plain.boxes[0].second) == (5, 6) and plain.tips.keys() == {0, 1}
    assert (plain.tips[0].second, plain.tips[1].first) == (5, 6)


@pytest.mark.parametrize("columns", [9.5, 0, -3, float("nan")])
def test_too_narrow_a_table_is_refused(columns):
    with pytest.raises(ValueError, match="columns="):
        lay_out(make_rules("draw"), [], columns=columns)
