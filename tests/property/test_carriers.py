"""Whatever comes back in an opaque field is a carrier of this account, whole, or nothing."""

import string
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.carrier import MAX_DEPTH, opener, sealer
from tidegate.protocols.conversion import Carried

SECRET = b"server"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
THINKING = st.builds(
    lambda text, signature, more: {**more, "type": "thinking", "thinking": text, "signature": signature},
    TEXT,
    TEXT,
    st.dictionaries(TEXT, VALUES, max_size=2),
)
REDACTED = st.builds(lambda data: {"type": "redacted_thinking", "data": data}, TEXT)
OPAQUE = st.one_of(
    st.builds(Opaque, st.just(Protocol.CHAT), TEXT),
    st.builds(
        lambda more: Opaque(Protocol.RESPONSES, {**more, "type": "reasoning"}),
        st.dictionaries(TEXT, VALUES, max_size=4),
    ),
    st.builds(Opaque, st.just(Protocol.MESSAGES), st.lists(THINKING | REDACTED, min_size=1, max_size=3)),
)
ALPHABET = string.ascii_letters + string.digits + "-_"


@given(OPAQUE, TEXT, TEXT)
def test_a_carrier_brings_back_exactly_what_was_sealed(opaque: Opaque, account: str, group: str) -> None:
    sealed = sealer(SECRET, account, group)(opaque)
    assert opener(SECRET, account)(sealed) == Carried(opaque, group)


@given(OPAQUE, st.data())
def test_a_carrier_that_was_touched_opens_nowhere(opaque: Opaque, data: st.DataObject) -> None:
    sealed = sealer(SECRET, "acme", "group")(opaque)
    place = data.draw(st.integers(0, len(sealed) - 1))
    letter = data.draw(st.sampled_from(ALPHABET).filter(lambda letter: letter != sealed[place]))
    touched = sealed[:place] + letter + sealed[place + 1 :]
    found = opener(SECRET, "acme")(touched)
    # The bits of the last letter that stand for no byte may change without a change of the bytes.
    assert found is None or (place == len(sealed) - 1 and found == Carried(opaque, "group"))


@given(OPAQUE, TEXT, TEXT)
def test_no_other_account_opens_it(opaque: Opaque, account: str, other: str) -> None:
    if account != other:
        assert opener(SECRET, other)(sealer(SECRET, account, "group")(opaque)) is None


@given(st.text(max_size=200) | st.text(ALPHABET, max_size=200).map("tgr1.".__add__))
def test_any_text_is_read_without_a_fault(text: str) -> None:
    assert opener(SECRET, "acme")(text) is None


@settings(max_examples=30)
@given(st.sampled_from(Protocol), VALUES, st.integers(0, 2 * MAX_DEPTH))
def test_any_value_is_sealed_and_comes_back_as_reasoning_or_not_at_all(
    origin: Protocol, value: Any, depth: int
) -> None:
    for _ in range(depth):
        value = [value]
    opaque = Opaque(origin, value)
    assert opener(SECRET, "acme")(sealer(SECRET, "acme", "group")(opaque)) in (Carried(opaque, "group"), None)
