"""Sends the rows' requests through every cross pair and says what became of the feature."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
from tests.conversion_page.rows import CARRIERS, GROUP, Body, Row

from tidegate.core.capability import Capabilities
from tidegate.core.conversation import Loss, LossCode
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.abilities import default_max_output_tokens, resolve
from tidegate.protocols.base import Asked
from tidegate.protocols.conversion import Carried, Target, Written
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.registry import dialect_of

PAIRS = tuple((client, channel) for client in Protocol for channel in Protocol if client is not channel)
MODEL = "some-model"
"""A name that belongs to no known family."""
_HI: dict[Protocol, Body] = {
    Protocol.CHAT: {"messages": [{"role": "user", "content": "hi"}]},
    Protocol.RESPONSES: {"input": "hi"},
    Protocol.MESSAGES: {"max_tokens": 4000, "messages": [{"role": "user", "content": "hi"}]},
}
_WORDS = {
    LossCode.APPROXIMATED: "approximated",
    LossCode.CLAMPED: "clamped",
    LossCode.DROPPED: "dropped",
}


def table(rows: Sequence[Row]) -> str:
    """Markdown: a line per row, a column per pair."""
    heads = ["", *(f"{client.value} → {channel.value}" for client, channel in PAIRS)]
    lines = [[row.says, *(fate(row, client, channel) for client, channel in PAIRS)] for row in rows]
    return written_table(heads, lines)


def written_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Markdown."""
    shown = [heads, ["---"] * len(heads), *lines]
    return "".join("| " + " | ".join(cells) + " |\n" for cells in shown)


def fate(row: Row, client: Protocol, channel: Protocol) -> str:
    """One cell."""
    body = row.body(client)
    if body is None:
        return "–"
    found = converted(client, body, channel, row.able)
    if isinstance(found, Failure):
        assert found.kind in (Kind.UNSUPPORTED_PARAMETER, Kind.UNSUPPORTED_VALUE, Kind.INVALID_REQUEST), found
        return "refused"
    usual = converted(client, row.beside.get(client.value, {}), channel, row.able)
    assert isinstance(usual, Written), (row.says, client, usual)
    losses = _audible(found, usual)
    if losses:
        return ", ".join(word for code, word in _WORDS.items() if code in {loss.code for loss in losses})
    same = json.loads(found.body) == json.loads(usual.body) and found.stops == usual.stops
    return "left out" if same else "kept"


def converted(client: Protocol, body: Body, channel: Protocol, able: dict[str, Any]) -> Written | Failure:
    """The smallest request with these members on a channel that is able to this beside its defaults."""
    whole = {"model": "public", "stream": True, **_HI[client], **body}
    asked = dialect_of(client).read_request(json.dumps(whole).encode())
    if not isinstance(asked, Asked):
        return asked
    conversation = halves_of(client).read_conversation(asked, _open)
    if isinstance(conversation, Failure):
        return conversation
    told = msgspec.convert(able, Capabilities)
    target = Target(
        model=MODEL,
        group=GROUP,
        abilities=resolve(channel, MODEL, told, Capabilities()),
        max_output_tokens=default_max_output_tokens(MODEL),
        stream=True,
    )
    return halves_of(channel).write_conversation(conversation, target)


def _audible(found: Written, usual: Written) -> set[Loss]:
    return {loss for loss in set(found.losses) - set(usual.losses) if not loss.silent}


def _open(sealed: str) -> Carried | None:
    return Carried(CARRIERS[sealed], GROUP) if sealed in CARRIERS else None
