"""The page of a record: all of the game, nothing that is hidden, nothing from outside; in a browser it obeys keys."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
import zlib
from base64 import b64decode
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from invariants import PRESETS
from random_games import played

from dominoes_env.engine.variants import make_rules
from dominoes_env.records import Record
from dominoes_env.render.frames import record_views
from dominoes_env.render.html import record_html
from dominoes_env.render.scene import compose
from dominoes_env.render.svg import shape_svg
from dominoes_env.words import format_tile

TILE = r"\b\d-\d\b"
COLUMNS = {"wide": 30, "narrow": 14}


def record_of(variant: str, num_players: int, seed: int, moves: int = 25) -> Record:
    return played(make_rules(variant, num_players=num_players), seed, moves).record


def unpacked(page: str) -> dict[str, Any]:
    (packed,) = re.findall(r'unpack\("([^"]*)"\)', page)
    return json.loads(zlib.decompress(b64decode(packed)))


def symbols_of(page: str) -> list[str]:
    (symbols,) = re.findall("<defs>(.*?)</defs>", page)
    return re.findall(r'<g id="s\d+">(.*?)</g>', symbols)


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_every_position_is_there_as_it_would_be_drawn_alone(variant, num_players):
    record = record_of(variant, num_players, 3)
    for viewer in (None, 1):
        page = record_html(record, viewer=viewer)
        data, symbols = unpacked(page), symbols_of(page)
        for name, columns in COLUMNS.items():
            views = list(record_views(record, viewer, columns=columns))
            drawn = data[name]
            assert len(views) == len(drawn["frames"]) == len(drawn["heights"]) == len(data["now"])
            for number in range(0, len(views), 7):
                scene = compose(views[number], height=drawn["heights"][number] / 100)
                assert round(scene.width * 100) == drawn["width"]
                shapes = [drawn["shapes"][shape] for shape in drawn["frames"][number]]
                for shape, packed in zip(scene.shapes, shapes, strict=True):
                    use = re.search(r'<use href="#s(\d+)" x="([\d.]+)" y="([\d.]+)"/>', packed)
                    if use is None:
                        assert packed == shape_svg(shape)
                    else:
                        assert packed[: use.start()] == shape_svg(shape)[: use.start()]  # what it is called
                        moved = dataclasses.replace(shape, x=0, y=0, title="")
                        assert shape_svg(moved) == f"<g>{symbols[int(use[1])]}</g>"
                        assert (float(use[2]), float(use[3])) == pytest.approx((shape.x * 100, shape.y * 100), abs=0.06)
                told = ". ".join(data["sentences"][sentence] for sentence in data["told"][number])
                assert told == scene.description
                assert views[number].status_text in data["now"][number]
                assert views[number].last_move_text in data["now"][number]


@pytest.mark.parametrize(("variant", "num_players"), PRESETS)
def test_a_page_for_one_seat_names_no_tile_that_the_seat_did_not_see(variant, num_players):
    record = record_of(variant, num_players, 5, 9)
    for viewer in range(num_players):
        seen: set[str] = set()
        for view in record_views(record, viewer):
            seen.update(format_tile(box.tile) for box in view.layout.boxes)
            seen.update(format_tile(tile) for seat in view.seats for tile in seat.hand)
        text = json.dumps(unpacked(record_html(record, viewer=viewer)))
        assert set(re.findall(TILE, text)) == seen
        assert len(seen) < record.rules.num_tiles or record.rules.num_tiles == num_players * record.rules.hand_size


def test_the_moves_are_listed_by_round():
    record = played(make_rules("all_fives", target=60), 9, 1000).record
    data = unpacked(record_html(record))
    views = list(record_views(record))
    assert len(data["rounds"]) == len(record.rounds) > 1
    for told, past in zip(data["rounds"], record.rounds, strict=True):
        assert len(told["moves"]) == len(past.actions) and told["points"] == list(past.outcome.round_points)
        for number, (seat, word) in enumerate(told["moves"], 1):
            move = views[told["start"] + number].last_move
            assert move is not None and (move.seat, move.word) == (seat, word)
    assert views[data["rounds"][1]["start"]].history == ()


def test_it_asks_for_nothing_from_anywhere():
    page = record_html(record_of("all_fives", 2, 3))
    assert "default-src 'none'" in page
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|action|@import|url\()\s*=?", re.sub("<!--.*?-->|default-src|[a-z]+-src", "", page))
    assert all(target.startswith("#s") for target in re.findall(r'href="([^"]*)"', page))
    assert "<!--" not in page and "/*C" not in page


def test_names_are_text_and_no_markup():
    record = dataclasses.replace(record_of("draw", 2, 3), players=("</script><script>alert(1)</script>", '<b>&"'))
    page = record_html(record)
    assert "alert(1)</script>" not in page and "<b>&" not in page
    assert "</script><script>alert(1)</script>" in unescape(page)
    assert unpacked(page)["names"] == list(record.players)


def test_pages_are_small():
    """What its docstring says: 50 kB for a round, 200 kB for a match of eight."""
    assert len(record_html(played(make_rules("draw"), 9, 1000, "round").record)) < 60_000
    match = played(make_rules("all_fives"), 9, 10_000).record
    assert len(match.rounds) == 8 and len(record_html(match)) < 220_000


# In a browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

#: Steps through the page and writes down what is there after each: position, sentence, tiles, the marked move.
DRIVER = """
<script>
async function drive() {
  const at = (id) => document.getElementById(id);
  while (!document.querySelector("#shapes use")) await new Promise((done) => setTimeout(done, 20));
  const said = [];
  const note = (what) => said.push([what, Number(at("slider").value), at("now").textContent,
    document.querySelectorAll("#shapes use").length, document.querySelectorAll("[aria-current]").length,
    at("told").textContent, at("play").getAttribute("aria-label"), at("back").disabled, at("next").disabled,
    document.documentElement.scrollWidth <= innerWidth, getComputedStyle(at("table")).width]);
  const press = (key, target = document.body) => {
    target.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    note(key);
  };
  note("start");
  const keys = ["ArrowRight", "ArrowRight", "ArrowLeft", "End", "ArrowRight", "Home", "ArrowLeft", "x"];
  for (const key of keys) press(key);
  at("next").click(); note("next");
  at("last").click(); note("last");
  at("back").click(); note("back");
  at("first").click(); note("first");
  document.querySelectorAll("#moves button")[3].click(); note("move 3");
  at("slider").value = 5; at("slider").dispatchEvent(new Event("input")); note("slider");
  press("ArrowRight", at("slider"));
  press(" ", at("next"));
  press(" ");
  await new Promise((done) => setTimeout(done, 2100));
  note("played");
  press(" ");
  await new Promise((done) => setTimeout(done, 2100));
  note("paused");
  press("End"); press(" ");
  await new Promise((done) => setTimeout(done, 100000));
  note("played out");
  document.body.dataset.said = JSON.stringify(said);
}
addEventListener("error", (event) => { document.body.dataset.error = event.message; });
drive();
</script></body>"""


def driven(page: str, tmp_path: Path, width: int) -> list[list[Any]]:
    file = tmp_path / "game.html"
    file.write_text(page.replace("</body>", DRIVER), encoding="utf-8")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom", "--virtual-time-budget=200000"]
    flags += [f"--user-data-dir={tmp_path}/profile", f"--window-size={width},800"]
    done = subprocess.run([str(CHROMIUM), *flags, file.as_uri()], capture_output=True, text=True, timeout=120)
    assert "data-error" not in done.stdout, re.findall('data-error="[^"]*"', done.stdout)
    found = re.search(r'data-said="([^"]*)"', done.stdout)
    assert found, done.stderr
    return json.loads(unescape(found[1]))


@needs_browser
@pytest.mark.parametrize("width", [500, 1200])
def test_it_is_stepped_through_in_a_browser(tmp_path, width):
    record = record_of("all_fives", 2, 3, 30)
    page = record_html(record, viewer=0)
    data = unpacked(page)
    end = len(data["now"]) - 1
    said = driven(page, tmp_path, width)
    where = {what: number for what, number, *_ in said}
    walk = [number for _, number, *_ in said[:9]]
    assert walk == [0, 1, 2, 1, end, end, 0, 0, 0]
    assert [number for _, number, *_ in said[9:16]] == [1, end, end - 1, 0, 3, 5, 6]
    assert said[16][:2] == [" ", 6] and said[16][6] == "Play"  # a button's own key
    assert said[17][:2] == [" ", 6] and said[17][6] == "Pause"
    assert where["played"] == 8 and where["paused"] == 8 and where["played out"] == end
    frames = data["narrow" if width <= 640 else "wide"]
    for _, number, now, tiles, marked, told, _, no_back, no_next, fits, table in said:
        shapes = [frames["shapes"][shape] for shape in frames["frames"][number]]
        assert tiles == sum("<use" in shape for shape in shapes) and marked == 1
        assert now == data["now"][number] and told.startswith(data["sentences"][data["told"][number][0]])
        assert (no_back, no_next) == (number == 0, number == end)
        assert fits and float(table.removesuffix("px")) > 0.5 * width


def test_names_that_look_like_places_of_the_page_are_names():
    record = dataclasses.replace(record_of("draw", 2, 3), players=("/*DATA*/", "/*SYMBOLS*/"))
    page = record_html(record)
    assert unpacked(page)["names"] == ["/*DATA*/", "/*SYMBOLS*/"]
    assert re.findall("<title>(.*?)</title>", page)[0].endswith(": Draw, /*DATA*/, /*SYMBOLS*/")
