"""The pages in docs/: those made from the code are up to date, examples run, the record shown is one, links lead on."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import dominoes_env
from dominoes_env.archive import format_record, parse_record
from dominoes_env.notation import format_position, parse_position

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def test_pages_made_from_the_code_are_up_to_date():
    for name, text in runpy.run_path(str(DOCS / "make_pages.py"))["pages"]().items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, f"{name}: make docs"


def test_examples_run_in_their_order(capsys):
    for page in PAGES:
        names: dict[str, object] = {}
        for example in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            exec(compile(example, page.name, "exec"), names)
        if page.name == "extending.md":
            assert "balanced v random" in capsys.readouterr().out
        if page.name == "files.md":
            rules, state, history = parse_position(str(names["line"]))
            assert parse_position(format_position(rules, state, history))[2] == history


def test_the_record_shown_is_one():
    (shown,) = re.findall(r"```text\n(.*?)```", (DOCS / "files.md").read_text(encoding="utf-8"), re.DOTALL)
    record = parse_record(shown)
    assert format_record(record) == shown and record.seed == 7 and record.rules == dominoes_env.make_rules("draw")


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_index_names_every_page():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    assert {page.name for page in PAGES} - {"README.md"} == set(re.findall(r"\]\(([a-z]+\.md)\)", index))
