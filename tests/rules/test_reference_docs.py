"""The error reference names every kind of failure, the nine pairs every loss, and both as the code has it."""

import re
from pathlib import Path

import pytest
from tests.manual_tables import failures, pairs
from tests.manual_tables.pages import DOCS, PAGES
from tests.manual_tables.places import cells, contents, names

from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol

ERRORS = (DOCS / "errors.md").read_text(encoding="utf-8")
NINE = (DOCS / "pairs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tables_of_the_page_are_what_the_code_has(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert PAGES[page](text) == text, "write them anew: make tables"


def test_every_kind_of_failure_has_a_cause_and_a_mend() -> None:
    told = failures.read(contents(ERRORS)["causes"])
    assert not [kind.value for kind in Kind if not all(told[kind.value][cell] for cell in failures.BY_HAND)]


def test_every_code_of_a_failed_response_is_listed() -> None:
    listed = {
        kind for row in cells(contents(ERRORS)["in_a_stream"])[1:] for kind in re.findall(r"`(\w+)`", row[1])
    }
    assert listed == {kind.value for kind in Kind}


def test_every_pair_has_its_place() -> None:
    assert set(names(NINE)) == set(pairs.NAMES)
    for client in Protocol:
        for channel in Protocol:
            heading = f"## {client.value} → {channel.value} {{ #{client.value}-{channel.value} }}"
            assert heading in NINE


def test_a_row_about_the_same_feature_is_named_by_it() -> None:
    assert "channel with `structured_output = false`" in pairs.losses("chat.messages")
    assert "the same," not in "".join(map(pairs.losses, pairs.NAMES))
