"""Every fenced block of the README and the manual has a way to be checked, and every excuse a reason."""

import re

from tests.manual.blocks import CHINESE, README, ROOT, Block, all_blocks, blocks_of
from tests.manual.ways import EXCUSES, LINTED, way_of

BLOCKS = all_blocks()


def test_every_block_has_a_way_to_be_checked() -> None:
    unmarked = [block.place for block in BLOCKS if way_of(block) is None]
    assert not unmarked, f"name a language of tests/manual/ways.py behind the fence: {unmarked}"


def test_every_excuse_is_still_needed() -> None:
    for excuse in EXCUSES:
        assert any(block.page == excuse.page and way_of(block) is excuse.way for block in BLOCKS), excuse


def test_every_excuse_has_a_reason() -> None:
    assert all(len(why) > 10 for why in [*LINTED.values(), *(excuse.why for excuse in EXCUSES)])


def test_the_chinese_page_has_the_blocks_of_the_english_one() -> None:
    english, chinese = (
        [
            re.sub(r" *# .*", "", block.text)
            for block in blocks_of(page.name, page.read_text(encoding="utf-8"))
        ]
        for page in (README, CHINESE)
    )
    assert chinese == english


def test_the_chinese_page_shows_the_same_figures_and_links() -> None:
    english, chinese = (page.read_text(encoding="utf-8") for page in (README, CHINESE))
    for what in (r"\]\((docs/[^)]+)\)", r"\d[\d.]* (?:µs|ms|KiB)"):
        assert set(re.findall(what, chinese)) == set(re.findall(what, english))


def test_the_figures_of_the_readme_are_those_of_the_benchmarks() -> None:
    measured = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    rows = README.read_text(encoding="utf-8").split("| load |")[1].split("\n\n")[0].splitlines()[2:]
    figures = [row.split("|")[3].strip() for row in rows if not row.startswith("| first event")]
    assert len(figures) > 4
    stale = [figure for figure in figures if figure not in measured]
    assert not stale, f"README's table of measurements has what docs/benchmarks.md has not: {stale}"


def test_a_block_is_found_with_its_indent_taken_away() -> None:
    [block] = blocks_of("a.md", "1. first\n\n    ```sh\n    one\n      two\n    ```\n")
    assert block == Block("a.md", 3, "sh", "one\n  two\n")


def test_a_page_without_blocks_has_none() -> None:
    assert blocks_of("a.md", "`inline` and ``` in a line\n") == []
