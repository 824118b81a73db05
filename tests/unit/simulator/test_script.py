from itertools import islice
from typing import Any

import pytest

from tidegate.core.protocol import Protocol
from tidegate.simulator.parameters import Ending
from tidegate.simulator.provider import Provider, Tally
from tidegate.simulator.script import Close, Cut, Say, Stall, Step, Wait

from .reading import PATHS, asked, received, request


def story(model: str, protocol: Protocol = Protocol.CHAT, **members: Any) -> list[str]:
    """The steps in short: w a word, . any other event, numbers for waits."""
    return [_short(step) for step in asked(protocol, f"sim;text=a b c;{model}", **members)[1:]]


def _short(step: Step) -> str:
    match step:
        case Say(data) if b'"content":"' in data and b'"role"' not in data:
            return "w"
        case Say(data) if data.startswith(b":"):
            return "ping"
        case Say(data) if b'"error"' in data:
            return "error"
        case Say(data) if b"[DONE]" in data:
            return "done"
        case Say(data) if b'{"del' in data and not data.endswith(b"}\n\n"):
            return "garble"
        case Say():
            return "."
        case Wait(seconds):
            return f"{seconds:g}"
        case Stall():
            return "stall"
        case Cut(how):
            return how.value
        case Close(connection):
            return "close" if connection else "end"
        case other:
            return repr(other)


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("", ". w w w . done end"),
        ("ttft=2s;rate=4", ". 2 w 0.25 w 0.25 w . done end"),
        ("finish_delay=3s;hold=1s", ". w w w . 3 done 1 end"),
        ("no_end", ". w w w . end"),
        ("no_finish", ". w w w done end"),
        ("done", ". w w w . done done end"),
        ("close", ". w w w . done close"),
        ("cut_after=0", ". clean"),
        ("cut_after=2;cut=reset", ". w w reset"),
        ("cut_after=99;cut=truncate", ". w w w truncate"),
        ("cut_event=1", ". clean"),
        ("cut_event=3;cut=reset", ". w w reset"),
        ("cut=reset", ". w w w . done reset"),
        ("no_end;cut=reset", ". w w w . reset"),
        ("stall_after=1;stall=9s", ". w 9 w w . done end"),
        ("garble_after=1", ". w garble w w . done end"),
        ("error=server", ". error end"),
        ("error=server;ttft=2s", ". 2 error end"),
        ("error_after=1", ". w error end"),
        ("error=server;bare_error", "error end"),
        ("error=server;error_after=2;after_error", ". w w error w . done end"),
        ("garble_after=1;error_after=1", ". w garble error end"),
        ("cut_after=1;garble_after=2", ". w clean"),
        ("ping", ". ping w ping w ping w . done end"),
        ("ttft=5s;ping_every=2s", ". 2 ping 2 ping 1 w w w . done end"),
        ("stall_after=1;stall=3s;ping_every=2s", ". w 2 ping 1 w w . done end"),
    ],
)
def test_each_wish_as_steps(wish: str, expected: str) -> None:
    assert story(wish) == expected.split()


def test_a_stall_without_end_is_the_last_step() -> None:
    assert story("stall_after=1")[:3] == [".", "w", "stall"]


def test_a_stall_may_show_signs_of_life_for_ever() -> None:
    body = request(Protocol.MESSAGES, "sim;stall_after=0;ping_every=1s")
    steps = Provider(Tally()).answer(received(PATHS[Protocol.MESSAGES], body))
    last = list(islice(steps, 100))[-2:]
    assert last[0] == Wait(1.0) or last[1] == Wait(1.0)
    assert any(isinstance(step, Say) and b'"ping"' in step.data for step in last)


@pytest.mark.parametrize("protocol", list(Protocol))
def test_a_cut_never_tells_the_end(protocol: Protocol) -> None:
    steps = asked(protocol, "sim;cut_after=3;cut=reset")
    text = b"".join(step.data for step in steps if isinstance(step, Say))
    assert steps[-1] == Cut(Ending.RESET)
    assert not any(mark in text for mark in (b"[DONE]", b"message_stop", b"response.completed"))
