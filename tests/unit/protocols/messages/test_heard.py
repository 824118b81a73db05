"""Events with members of unexpected types are still read."""

from tidegate.protocols.messages.heard import Delta, Event, parse


def test_an_event() -> None:
    text = b'{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a"}}'
    assert parse(text) == Event("content_block_delta", index=1, delta=Delta("text_delta", text="a"))


def test_members_of_other_types_count_as_absent() -> None:
    text = b'{"type":"content_block_delta","index":"1","delta":{"text":5,"signature":"\\ud800"}}'
    assert parse(text) == Event("content_block_delta", delta=Delta(signature="\ufffd"))


def test_what_is_no_object() -> None:
    assert parse(b'"x"') is None
    assert parse(b"{") is None
