"""docs/conversion.md tells what conversion does: its tables are probed, not written."""

import pytest
from tests.conversion_page.page import PAGE, TABLES, names, renewed
from tests.conversion_page.requests import fate
from tests.conversion_page.rows import Row, everywhere

from tidegate.core.protocol import Protocol

TEXT = PAGE.read_text(encoding="utf-8")


def test_every_table_has_its_place() -> None:
    assert sorted(names(TEXT)) == sorted(TABLES)


def test_the_tables_are_what_the_code_does() -> None:
    assert renewed(TEXT) == TEXT, "write them anew: python -m tests.conversion_page"


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (Row("a", {"temperature": 0.5}), "kept"),
        (Row("a", {"temperature": 1.5}), "clamped"),
        (Row("a", {"seed": 1}), "dropped"),
        (Row("a", {"store": True}), "left out"),
        (Row("a", {"n": 2}), "refused"),
        (Row("a", {"response_format": {"type": "json_object"}}), "approximated"),
        (Row("a", responses={"store": True}), "–"),
        (everywhere("a", "temperature", 0.5, sampling=False), "dropped"),
    ],
)
def test_the_probe_tells_the_fates_apart(row: Row, word: str) -> None:
    assert fate(row, Protocol.CHAT, Protocol.MESSAGES) == word
