"""Any record can be kept, and any cursor is either understood or refused."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.exchange.ports import AttemptRecord, RequestRecord, SkippedRecord
from tidegate.ledger.entries import Item
from tidegate.ledger.money import MOST
from tidegate.storage import rows
from tidegate.storage.pages import Position, UnknownPosition, read_cursor, write_cursor

clean = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
any_text = st.text(st.characters(), max_size=20)
numbers = st.floats(0, 1e9)


def records(text: st.SearchStrategy[str], counts: st.SearchStrategy[int]) -> st.SearchStrategy[RequestRecord]:
    attempts = st.builds(
        AttemptRecord,
        channel=text,
        upstream_model=text,
        outcome=text,
        error=st.none() | text,
        started_at=numbers,
        duration_ms=numbers,
        upstream_cost=st.none() | st.integers(0, MOST),
        reason=st.none() | text,
        failure_kind=st.none() | text,
        **dict.fromkeys(("connected_ms", "first_byte_ms", "first_event_ms"), st.none() | numbers),
    )
    items = st.builds(Item, name=text, quantity=st.integers(0, 2**53), price=text, amount=text)
    fields: dict[str, st.SearchStrategy[object]] = {
        **dict.fromkeys(("id", "protocol", "outcome", "usage_source"), text),
        **dict.fromkeys(("key", "account", "model", "channel", "finish_reason"), st.none() | text),
        **dict.fromkeys(("error_type", "error_code", "error_message"), st.none() | text),
        **dict.fromkeys(("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens"), counts),
        "created_at": st.integers(0, 4 * 10**15).map(lambda micros: micros / 1e6),
        "first_token_ms": st.none() | numbers,
        "duration_ms": numbers,
        "warnings": st.lists(text, max_size=3).map(tuple),
        "attempts": st.lists(attempts, max_size=2).map(tuple),
        "cost": st.integers(0, MOST),
        "skipped": st.lists(
            st.builds(SkippedRecord, channel=text, upstream_model=text, why=text), max_size=2
        ).map(tuple),
        "user_agent": st.none() | text,
        "trace_id": st.none() | text,
        "items": st.lists(items, max_size=2).map(tuple),
    }
    return st.builds(RequestRecord, **fields)


@given(records(clean, st.integers(0, 2**63 - 1)))
def test_a_record_comes_back_as_it_was(record: RequestRecord) -> None:
    assert rows.decode(rows.encode(record)) == record


@given(records(any_text, st.integers()))
def test_a_mended_record_fits_every_column(record: RequestRecord) -> None:
    for value in rows.encode(rows.mended(record)):
        match value:
            case str():
                value.encode()
                assert "\0" not in value
            case bool() | float() | None:
                pass
            case int():
                assert -(2**63) <= value < 2**63
            case _:
                raise AssertionError(value)


@given(st.integers(0, 10**18 - 1), clean.filter(lambda text: text != "" and "\0" not in text))
def test_a_cursor_comes_back(created_at: int, identifier: str) -> None:
    place = Position(created_at, identifier)
    assert read_cursor(write_cursor(place)) == place


@given(any_text)
def test_any_text_is_a_cursor_or_refused(text: str) -> None:
    try:
        read_cursor(text)
    except UnknownPosition:
        return
