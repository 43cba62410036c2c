"""The page in a real browser: whole games by clicks and by keys, refreshes, tabs, phones, names, and no trace outside.

They need Chromium and the package playwright (``make browser``). Where CI is set, a missing browser is a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from agents.session import Session
from dominoes_env.archive import parse_record

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SETTLED = "body:not(.busy)"


def missing(what):
    if os.environ.get("CI"):
        pytest.fail(f"{what}; CI has to have it: make browser")
    pytest.skip(f"{what}; make browser installs it")


@pytest.fixture(scope="module")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        missing("the package playwright is missing")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        missing("there is no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class Page:
    """A server of its own, and pages of it that note what they ask for and complain about."""

    def __init__(self, browser, directory, *options):
        self.directory = directory
        command = [sys.executable, "-m", "training.cli", "web", "--port", "0", "--pace", "0", "--games", str(directory)]
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)
        self.address = re.search(r"http://127\.0\.0\.1:\d+/", self.process.stdout.readline()).group()
        self.browser = browser
        self.contexts, self.urls, self.complaints = [], [], []

    def context(self, **options):
        self.contexts.append(self.browser.new_context(reduced_motion="reduce", **options))
        return self.contexts[-1]

    def open(self, context, path=""):
        page = context.new_page()
        page.set_default_timeout(120_000)  # the engine may have to be compiled
        page.on("request", lambda request: self.urls.append(request.url))
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.address + path)
        return page

    def close(self):
        for context in self.contexts:
            context.close()
        self.process.send_signal(2)
        rest = self.process.communicate(timeout=30)[0]
        hosts = {urlsplit(url).netloc for url in self.urls if not url.startswith(("data:", "blob:"))}
        assert hosts <= {urlsplit(self.address).netloc}
        assert self.complaints == []
        assert self.process.returncode == 0 and "closed" in rest

    def session(self, page):
        return Session.load(self.directory / f"{page.url.split('/')[-1]}.json")


@pytest.fixture(scope="module")
def web(browser, tmp_path_factory):
    page = Page(
        browser, tmp_path_factory.mktemp("games"), "--variant", "draw", "--against", "flexible", "--hints", "greedy"
    )
    yield page
    page.close()


def deal(web, context, game="Draw", *, players=2, opponent="flexible", seed="5", one_round=False):
    """A new game by the form; returns its page."""
    page = web.open(context)
    page.get_by_role("radio", name=game, exact=True).check(force=True)
    page.get_by_role("radio", name=str(players), exact=True).first.check(force=True)
    for box in page.get_by_role("combobox").all():
        box.select_option(opponent)
    if one_round:
        page.get_by_role("radio", name="One round").check(force=True)
    page.get_by_text("Seat and seed").click()
    page.get_by_label("Seed", exact=True).fill(seed)
    page.get_by_role("button", name="Deal the tiles").click()
    wait(page)
    return page


def wait(page):
    """Until the page waits for the person; returns what for: ``move``, ``next`` or ``over``."""
    page.locator(f"{SETTLED} :is([data-waits=move], [data-waits=next], [data-waits=over])").wait_for()
    return page.locator("#play").get_attribute("data-waits")


def click_move(page, number):
    """The next move by clicks, one of its ends by the table or by a button; all ways are used in turn."""
    if page.locator("#draw, #pass").count():
        page.locator("#draw, #pass").first.click()
        return
    tiles = page.locator("#hand button:not([aria-disabled])")
    if number % 3 == 0:
        page.locator("#moves button").last.click()
        return
    tiles.nth(number % tiles.count()).click()
    if page.locator("#where button").count():
        aimed = page.locator("#table g.aim")
        if number % 3 == 1:
            aimed.last.click()
        else:
            page.locator("#where button").first.click()


def play_by_clicks(page, step=1):
    page.bring_to_front()
    number = 0
    while (waits := wait(page)) != "over":
        before = page.locator("#play").get_attribute("data-position")
        if waits == "next":
            page.get_by_role("button", name="Next round").click()
        else:
            click_move(page, number)
        page.locator(f"#play:not([data-position='{before}']), #play[data-waits=move]").first.wait_for()
        number += step


@pytest.mark.parametrize("game", ["Block", "Draw", "All Fives"])
def test_a_whole_game_by_clicks(web, game):
    context = web.context(viewport={"width": 1280, "height": 800})
    page = deal(web, context, game, one_round=game != "All Fives")
    play_by_clicks(page)
    session = web.session(page)
    assert session.is_over and session.seed == 5
    page.locator("#over").get_by_text("Seed").wait_for()
    for seat, score in enumerate(session.game.scores):
        assert page.locator("#over tbody tr:not(.held)").nth(seat).locator("td").last.inner_text() == str(score)
    # stepping through, and the record
    page.get_by_role("button", name="Step through").click()
    page.locator("#replay-picture svg").wait_for()
    slider = page.get_by_role("slider", name="Position")
    last = int(slider.get_attribute("max"))
    assert last == sum(1 + len(past.actions) for past in session.record.rounds) - 1
    slider.press("End")
    page.locator(f"#replay-slider[aria-valuetext^='{last + 1} of']").wait_for()
    page.get_by_role("button", name="Position before").click()
    page.locator(f"#replay-slider[aria-valuetext^='{last} of']").wait_for()
    page.get_by_role("button", name="Back to the table").click()
    with page.expect_download() as download:
        page.get_by_text("Download the record").click()
    assert parse_record(download.value.path().read_text()) == session.record
    context.close()


def tab_to(page, place):
    """Press Tab until the focus is in ``place``."""
    for _ in range(60):
        if page.evaluate("(place) => document.querySelector(place).contains(document.activeElement)", place):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {place}")


def test_a_whole_game_by_the_keyboard_alone(web):
    context = web.context()
    page = web.open(context)
    page.locator("#picture svg").wait_for()
    tab_to(page, "input[name=episode]:checked")
    page.keyboard.press("ArrowRight")  # one round
    tab_to(page, "#deal")
    page.keyboard.press("Enter")
    number = 0
    while wait(page) != "over":
        before = page.locator("#play").get_attribute("data-position")
        if page.locator("#draw").count():
            page.keyboard.press("d")
        elif page.locator("#pass").count():
            page.keyboard.press("p")
        elif number % 2:
            page.keyboard.press(str(page.locator("#moves li").count()))
        else:
            tab_to(page, "#hand")
            while page.evaluate("document.activeElement.getAttribute('aria-disabled')"):
                page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
            if page.locator("#where button").count():
                page.keyboard.press("Enter")  # the first end has the focus
        page.locator(f"#play:not([data-position='{before}'])").wait_for()
        number += 1
    assert web.session(page).is_over and page.evaluate("document.activeElement.id") == "over-title"
    context.close()


def test_undo_hint_and_refresh(web):
    context = web.context()
    page = deal(web, context, seed="8")
    number = 0
    while wait(page) == "move" and not page.locator("#undo:not([aria-disabled])").count():
        click_move(page, 3 * number)
        number += 1
    before = page.locator("#play").inner_text()
    page.reload()
    wait(page)
    assert page.locator("#play").inner_text() == before
    page.get_by_role("button", name="Undo").click()
    page.locator("#redo").wait_for()
    wait(page)
    assert web.session(page).num_undone == 1
    page.get_by_role("button", name="Hint").click()
    page.get_by_text("greedy would play").wait_for()
    assert page.locator("#moves .best").count() == 1
    page.get_by_role("button", name="Redo").click()
    wait(page)
    page.goto(web.address)  # the game is on the list of this browser's
    page.locator("#recent a").first.click()
    wait(page)
    assert web.session(page).num_hints == 1
    context.close()


def test_two_tabs_do_not_disturb_each_other(web):
    context = web.context()
    pages = [deal(web, context, seed="1", one_round=True), deal(web, context, seed="1", one_round=True)]
    assert pages[0].url != pages[1].url
    wait(pages[1])
    still = pages[1].locator("#play").inner_text()
    play_by_clicks(pages[0], step=0)
    assert pages[1].locator("#play").inner_text() == still
    play_by_clicks(pages[1], step=0)
    assert web.session(pages[0]).record == web.session(pages[1]).record
    # one game in two tabs: who comes late is told so, and sees how it stands
    first = deal(web, context, seed="2", one_round=True)
    wait(first)
    second = web.open(context, first.url.removeprefix(web.address))
    wait(second)
    first.bring_to_front()
    click_move(first, 0)
    wait(first)
    second.bring_to_front()
    click_move(second, 0)
    second.get_by_text("The game has gone on").or_(second.get_by_text("the game has gone on")).wait_for()
    wait(second)
    assert second.locator("#play").get_attribute("data-position") == first.locator("#play").get_attribute(
        "data-position"
    )
    web.complaints[:] = [text for text in web.complaints if "409" not in text]  # the browser's own note of it
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(web, scheme):
    context = web.context(viewport={"width": 390, "height": 844}, color_scheme=scheme, has_touch=True, is_mobile=True)
    page = web.open(context)
    page.locator("#picture svg").wait_for()
    fits_a_phone(page)
    page = deal(web, context, "Partners", players=4, seed="4")
    fits_a_phone(page)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background))) < 200) == (scheme == "dark")
    while wait(page) == "move":
        click_move(page, 0)
        page.wait_for_timeout(30)
    fits_a_phone(page)
    context.close()


def fits_a_phone(page):
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    small = page.evaluate(
        """[...document.querySelectorAll('button, a, select, summary, label.choice, [data-end] .hit')]
        .filter((element) => element.getClientRects().length)
        .map((element) => [element.outerHTML.slice(0, 90), element.getBoundingClientRect()])
        .filter(([, box]) => box.width < 43.5 || box.height < 43.5).map(([text, box]) => `${text} ${box.width}`)"""
    )
    assert small == []


def test_everything_has_a_name(web):
    context = web.context()
    page = deal(web, context, "All Fives", players=3)
    if not page.locator("#moves button").count():
        wait(page)
    for tree in (page.locator("body").aria_snapshot(), web.open(context).locator("body").aria_snapshot()):
        controls = re.findall(r"^ *- (button|link|radio|checkbox|combobox|slider|textbox|img)\b(.*)$", tree, re.M)
        assert len(controls) > 8
        for role, name in controls:
            assert re.match(r' ".+?"', name), (role, name)
    tree = page.locator("body").aria_snapshot()
    assert re.search(
        r'button "(lead )?\d-\d( on the (left end|right end|upper arm|lower arm) \(\d\)|, fits \d ends)?', tree
    )
    for role, name in (("log", "What has happened"), ("group", "Your tiles"), ("status", "")):
        assert re.search(rf'- {role}( "{name}")?', tree)
    context.close()
