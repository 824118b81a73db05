import pytest

from tidegate.storage.pages import Position, UnknownPosition, read_cursor, write_cursor


def test_a_cursor_comes_back_as_its_position() -> None:
    place = Position(1_700_000_000_123_000, "req_ab.c")
    assert read_cursor(write_cursor(place)) == place


@pytest.mark.parametrize(
    "cursor", ["", "x", "é", "!!!!", "MTIz", "LnJlcV8x", "eC5yZXFfMQ", "MTIzLg", "MTIz\n"]
)
def test_anything_else_is_no_cursor(cursor: str) -> None:
    with pytest.raises(UnknownPosition):
        read_cursor(cursor)
