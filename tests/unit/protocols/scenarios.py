"""The recorded scenarios as events: what a decoder of each protocol makes of the upstream's answer."""

import json
from pathlib import Path
from typing import Any

from tests.harness import sse
from tests.unit.protocols.encoding import answer, call, refusal, text, thought

from tidegate.core.events import Event, Failed, Finished, Opaque, ReasoningForm, Started, Stop, UsageTold
from tidegate.core.failure import Kind
from tidegate.core.protocol import Protocol
from tidegate.core.usage import Usage
from tidegate.protocols import refusals
from tidegate.protocols.failures import failed

PAIRS = Path(__file__).parents[2] / "fixtures" / "pairs"
CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
WEATHER = ('{"ci', 'ty":"Par', 'is"}')
MULTIPLICATION = ("17*23 is ", "17*20+17*3.")


def told(input: int, output: int, **more: Any) -> list[Event]:
    return [UsageTold(Usage(input=input, output=output, **more))]


def ended(usage: list[Event], events: list[Event]) -> list[Event]:
    """The usage before the end, as every decoder tells it."""
    return [*events[:-1], *usage, events[-1]]


def item(**members: Any) -> Opaque:
    return Opaque(RESPONSES, {"id": "rs_up1", "type": "reasoning", "summary": [], **members})


def events_of(scenario: str, upstream: Protocol) -> list[Event]:
    """What the upstream of that protocol says in the scenario."""
    mark = "toolu" if upstream is MESSAGES else "call"
    match scenario[:2]:
        case "01":
            return ended(told(18, 12), answer(text("Autumn wind ", "rises, 落叶黄 🍂", ".")))
        case "02":
            calls = call(f"{mark}_up1", "get_weather", *WEATHER)
            stop = Stop.TOOL_CALLS
            return ended(told(64, 21), answer(text("Let me ", "check."), calls, stop=stop))
        case "03":
            first = call(f"{mark}_up1", "get_weather", '{"city":', '"Paris"}')
            nothing = () if upstream is MESSAGES else ("{}",)
            second = call(f"{mark}_up2", "get_time", *nothing)
            return ended(told(90, 40), answer(first, second, stop=Stop.TOOL_CALLS))
        case "04":
            return ended(told(15, 80, reasoning=60), answer(*_thoughts(upstream), text("391")))
        case "05":
            called = call(f"{mark}_up1", "get_weather", '{"city":"Paris"}')
            usage = told(70, 95, reasoning=50)
            return ended(usage, answer(_tool_thought(upstream), called, stop=Stop.TOOL_CALLS))
        case "06":
            return ended(told(20, 9), _refused(upstream))
        case "07":
            cut = upstream is not MESSAGES
            said = text("Once upon ", "a time, in", cut=cut)
            return ended(told(14, 16), answer(said, stop=Stop.LENGTH))
        case "08":
            return ended(told(76, 20, cache_read=1024, cache_write=100), answer(text("Done.")))
        case "09" | "10" | "23" | "25":
            return _broken(scenario, upstream)
        case "11":
            opaque = item(content=[{"type": "reasoning_text", "text": "".join(MULTIPLICATION)}])
            usage = told(15, 80, reasoning=60)
            return ended(usage, answer(thought(*MULTIPLICATION, opaque=opaque), text("391")))
        case _:
            return _quirk(scenario)


def _thoughts(upstream: Protocol) -> list[Any]:
    whole = "".join(MULTIPLICATION)
    match upstream:
        case Protocol.CHAT:
            return [thought(*MULTIPLICATION, opaque=Opaque(CHAT, whole))]
        case Protocol.RESPONSES:
            opaque = item(
                summary=[{"type": "summary_text", "text": whole}], encrypted_content="enc_UPSTREAM_1"
            )
            return [thought(*MULTIPLICATION, opaque=opaque, form=ReasoningForm.SUMMARY)]
        case Protocol.MESSAGES:
            seen = {"type": "thinking", "thinking": whole, "signature": "sig_UPSTREAM_1"}
            hidden = {"type": "redacted_thinking", "data": "redacted_UPSTREAM_1"}
            return [
                thought(*MULTIPLICATION, opaque=Opaque(MESSAGES, [seen])),
                thought(opaque=Opaque(MESSAGES, [hidden])),
            ]


def _tool_thought(upstream: Protocol) -> list[Any]:
    pieces = ("Need the ", "weather tool.")
    match upstream:
        case Protocol.CHAT:
            return thought(*pieces, opaque=Opaque(CHAT, "".join(pieces)))
        case Protocol.RESPONSES:
            return thought(opaque=item(encrypted_content="enc_UPSTREAM_1"))
        case Protocol.MESSAGES:
            block = {"type": "thinking", "thinking": "".join(pieces), "signature": "sig_UPSTREAM_1"}
            return thought(*pieces, opaque=Opaque(MESSAGES, [block]))


def _refused(upstream: Protocol) -> list[Event]:
    if upstream is MESSAGES:
        explanation = "This request was declined under the usage policy."
        return answer(text("Well, "), stop=Stop.REFUSAL, explanation=explanation)
    return answer(refusal("I'm sorry, ", "I can't help with that."), stop=Stop.REFUSAL)


def _broken(scenario: str, upstream: Protocol) -> list[Event]:
    said = {"09": ("Autumn wind ", "rises"), "10": ("Autumn wind ", "rises"), "23": ("Par",), "25": ("Hel",)}
    opened = [Started(), *text(*said[scenario[:2]])[:-1]]
    if scenario.startswith("10"):
        return [*opened, Failed(failed(Kind.INTERRUPTED))]
    stream = (PAIRS / scenario / f"upstream.{upstream.value}.sse").read_bytes()
    last = json.loads(sse.read(stream).events[-1].data)
    return [*opened, Failed(refusals.read_error_event(upstream, last))]


def _quirk(scenario: str) -> list[Event]:
    match scenario[:2]:
        case "20":
            return ended(told(5, 2), answer(text("Hel", "lo")))
        case "21":
            first = call("call_a", "get_weather", '{"city":', '"Paris"}')
            second = call("call_b", "get_weather", '{"city":', '"Rome"}')
            return ended(told(50, 30), answer(first, second, stop=Stop.TOOL_CALLS))
        case "22":
            thinking = thought("Think.", opaque=Opaque(CHAT, "Think."))
            first = call("call_a", "get_weather", '{"city":"Paris"}')
            return ended(told(50, 30), answer(thinking, first, call("call_b", "get_time"), stop=Stop.END))
        case "24":
            called = call("call_a", "get_weather", '{"city":"Paris"}')
            return ended(told(9, 4), answer(text("Hel", "lo"), called))
        case "26":
            called = call("toolu_a", "get_weather", '{"city":"Paris"}')
            said = answer(text("Hel", "lo"), called, stop=Stop.TOOL_CALLS)
            return ended(told(8, 6, cache_read=4), said)
        case _:
            raise AssertionError(f"no answer in {scenario}")


def fails(events: list[Event]) -> bool:
    return not isinstance(events[-1], Finished)
