"""How an answer ended, for the client."""

import pytest

from tidegate.core.events import Finished, Opaque, Stop
from tidegate.core.protocol import Protocol
from tidegate.protocols.endings import is_wanted_back, settled_stop

ENDS = [
    # stop, called, refused, settled
    (Stop.END, False, False, Stop.END),
    (Stop.END, True, False, Stop.TOOL_CALLS),
    (Stop.END, False, True, Stop.REFUSAL),
    (Stop.END, True, True, Stop.TOOL_CALLS),
    (Stop.TOOL_CALLS, True, False, Stop.TOOL_CALLS),
    (Stop.TOOL_CALLS, False, False, Stop.END),
    (Stop.LENGTH, True, False, Stop.LENGTH),
    (Stop.CONTEXT, True, True, Stop.CONTEXT),
    (Stop.STOP_SEQUENCE, False, False, Stop.STOP_SEQUENCE),
    (Stop.REFUSAL, False, True, Stop.REFUSAL),
    (Stop.REFUSAL, False, False, Stop.CONTENT_FILTER),
    (Stop.REFUSAL, True, False, Stop.CONTENT_FILTER),
    (Stop.CONTENT_FILTER, True, True, Stop.CONTENT_FILTER),
    (Stop.PAUSE, False, False, Stop.PAUSE),
]


@pytest.mark.parametrize(("stop", "called", "refused", "settled"), ENDS)
def test_calls_and_refusals_have_a_say(stop: Stop, called: bool, refused: bool, settled: Stop) -> None:
    assert settled_stop(Finished(stop), called=called, refused=refused) is settled


@pytest.mark.parametrize(
    ("origin", "value", "wanted"),
    [
        (Protocol.CHAT, "thought", True),
        (Protocol.CHAT, "", False),
        (Protocol.MESSAGES, [{"type": "redacted_thinking", "data": "x"}], True),
        (Protocol.RESPONSES, {"type": "reasoning", "encrypted_content": "x"}, True),
        (Protocol.RESPONSES, {"type": "reasoning", "encrypted_content": None}, False),
        (Protocol.RESPONSES, {"type": "reasoning", "summary": []}, False),
        (Protocol.RESPONSES, "odd", False),
    ],
)
def test_an_upstream_wants_back_what_only_it_can_read(origin: Protocol, value: object, wanted: bool) -> None:
    assert is_wanted_back(Opaque(origin, value)) is wanted
