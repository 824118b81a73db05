"""The doctor names every fault that the simulated provider has, and finds nothing on a good one."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from msgspec import structs
from tests.harness.authority import Authority

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.doctor.probes import Examination, probes
from tidegate.doctor.report import Report
from tidegate.doctor.rules import Severity
from tidegate.routing.catalog import Channel
from tidegate.simulator import parameters
from tidegate.simulator.app import Simulator, start
from tidegate.upstream.examination import examine

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
EVERY = (CHAT, RESPONSES, MESSAGES)
KEY = "sk-upstream-credential-of-the-doctor"


@pytest_asyncio.fixture
async def simulator() -> AsyncIterator[Simulator]:
    running = await start("127.0.0.1", 0, require_key=KEY)
    yield running
    await running.close()


async def found(
    simulator: Simulator, protocol: Protocol, model: str, *chosen: Examination, patience: float = 20.0
) -> Report:
    channel = Channel(
        name="simulated",
        protocol=protocol,
        base_url=simulator.base_url(protocol),
        api_key=Secret(KEY),
        models={},
    )
    asked = probes(protocol, model, chosen or tuple(Examination))
    return await examine(channel, model, asked, {}, patience=patience)


def rules(report: Report, *severities: Severity) -> set[str]:
    kept = severities or (Severity.ERROR, Severity.WARNING)
    return {
        finding.rule for stream in report.streams for finding in stream.findings if finding.severity in kept
    }


@pytest.mark.parametrize("model", ["sim", "sim;reasoning=5", "sim;rate=60", "sim;reasoning=2;tools=2"])
@pytest.mark.parametrize("protocol", EVERY)
async def test_a_good_provider_has_no_finding(simulator: Simulator, protocol: Protocol, model: str) -> None:
    report = await found(simulator, protocol, model)
    of_time = {"unflushed", "lumps"}  # a busy machine brings them about
    assert rules(report) <= of_time
    assert rules(report, Severity.NOTE) <= {"accel-buffering", "error-not-refused", "tool-refused"}


@pytest.mark.parametrize("protocol", EVERY)
async def test_a_refusal_is_no_fault(simulator: Simulator, protocol: Protocol) -> None:
    report = await found(simulator, protocol, "sim;refusal", Examination.PLAIN, Examination.WHOLE)
    assert rules(report, *Severity) == set()


@pytest.mark.parametrize("protocol", EVERY)
async def test_a_server_without_tools_is_no_faulty_one(simulator: Simulator, protocol: Protocol) -> None:
    report = await found(simulator, protocol, "sim;refuse=tools", Examination.TOOL)
    assert rules(report, *Severity) == {"tool-refused"}
    assert report.ok


FAULTS: list[tuple[str, str, tuple[Protocol, ...]]] = [
    ("status=500", "status", EVERY),
    ("status=302", "status", EVERY),
    ("error=server", "error-event", EVERY),
    ("error=overloaded;error_after=3", "error-event", EVERY),
    ("error=server;error_after=3;error_form=flat", "error-event", (RESPONSES,)),
    ("error=server;error_after=3;error_form=nested", "error-event", (RESPONSES,)),
    ("error=server;error_after=3;error_form=text", "error-form", (CHAT,)),
    ("error=server;error_after=3;error_form=chunk", "error-event", (CHAT,)),
    ("error=server;bare_error", "error-event", (CHAT, MESSAGES)),
    ("error=server;bare_error", "responses-first", (RESPONSES,)),
    ("error=server;error_after=3;after_error", "after-end", EVERY),
    ("fail_first=1", "status", EVERY),
    ("fail_rate=1/1", "status", EVERY),
    ("refuse=stream", "status", EVERY),
    ("stall_after=3", "stalled", EVERY),
    ("cut_after=3", "end-mark", EVERY),
    ("cut_event=3", "end-mark", EVERY),
    ("cut_after=3;cut=truncate", "connection", EVERY),
    ("cut_after=3;cut=reset", "connection", EVERY),
    ("garble_after=3", "not-json", EVERY),
    ("no_finish", "finish", (CHAT, MESSAGES)),
    ("no_end", "end-mark", EVERY),
    ("done", "foreign-end-mark", (RESPONSES, MESSAGES)),
    ("done", "after-end", (CHAT,)),
    ("finish=odd", "finish-word", (CHAT, MESSAGES)),
    ("crlf", "line-ends", EVERY),
    ("cr", "line-ends", EVERY),
    ("no_space", "space-after-colon", EVERY),
    ("bom", "byte-order-mark", EVERY),
    ("retry", "retry-line", EVERY),
    ("no_data", "event-without-data", EVERY),
    ("ids", "id-line", EVERY),
    ("no_event_names", "event-name-missing", (RESPONSES, MESSAGES)),
    ("event_names", "event-name-unexpected", (CHAT,)),
    ("multiline", "data-lines", EVERY),
    ("bad_utf8", "utf-8", EVERY),
    ("no_final_blank", "last-blank-line", EVERY),
    ("html", "body-form", EVERY),
    ("empty", "body-form", EVERY),
    ("empty=comments", "body-form", EVERY),
    ("empty=done", "finish", (CHAT,)),
    ("empty=done", "end-mark", (RESPONSES, MESSAGES)),
    ("json", "body-form", EVERY),
    ("wrong_type=text/plain", "content-type", EVERY),
    ("wrong_type=none", "content-type", EVERY),
    ("gzip", "content-encoding", EVERY),
    ("br", "content-encoding", EVERY),
    ("zstd", "content-encoding", EVERY),
    ("no_usage", "usage-missing", EVERY),
    ("sse", "body-form", EVERY),
    ("header_size=2000000", "connection", EVERY),
    ("not_http", "connection", EVERY),
    ("drop", "connection", EVERY),
    ("drop=reset", "connection", EVERY),
]


ASKED = {"no_usage": Examination.USAGE, "sse": Examination.WHOLE}
"""What shows a fault that a plain stream does not."""
ALLOWED = {
    **dict.fromkeys(("message", "retry_after", "retry_after_ms", "should_retry"), "a part of a refusal"),
    **dict.fromkeys(("split", "http10", "close", "close_silently", "interim", "trailers"), "HTTP allows it"),
    "check_reasoning": "nothing in the doctor's requests has reasoning",
    "stall": "how long a stall is",
    "comments": "comments before the first line of an event are for everybody",
    "headers": "as many as one likes",
    "twice": "the second answer belongs to no request",
    "head_delay": "a wait; it counts from ten seconds on",
}
"""Parameters that no rule is about, with the reason."""


def test_every_fault_of_the_simulator_is_looked_for() -> None:
    named = {piece.partition("=")[0] for fault, _, _ in FAULTS for piece in fault.split(";")}
    assert parameters.FAULTS - named == set(ALLOWED)


@pytest.mark.parametrize(
    "parameter", ["split=3", "http10", "close", "interim", "trailers", "comments", "headers=50"]
)
async def test_what_is_allowed_has_no_finding(simulator: Simulator, parameter: str) -> None:
    report = await found(simulator, MESSAGES, f"sim;{parameter}", Examination.PLAIN)
    assert rules(report, *Severity) == set()


@pytest.mark.parametrize(
    ("fault", "rule", "protocol"),
    [(fault, rule, protocol) for fault, rule, protocols in FAULTS for protocol in protocols],
)
async def test_a_fault_is_named(simulator: Simulator, fault: str, rule: str, protocol: Protocol) -> None:
    patience = 0.5 if "stall" in fault else 20.0
    asked = ASKED.get(fault, Examination.PLAIN)
    if asked is Examination.USAGE and protocol is not CHAT:
        asked = Examination.PLAIN  # where it is always told
    report = await found(simulator, protocol, f"sim;{fault}", asked, patience=patience)
    assert rule in rules(report, *Severity), report
    if rule_is_error := any(f.severity is Severity.ERROR for s in report.streams for f in s.findings):
        assert report.ok is not rule_is_error


@pytest.mark.parametrize("protocol", EVERY)
async def test_no_report_repeats_the_credential(simulator: Simulator, protocol: Protocol) -> None:
    report = await found(simulator, protocol, f"sim;message={KEY};status=401")
    assert KEY not in str(report.streams)
    assert "(secret)" in str(report.streams)


async def test_a_proxy_that_holds_a_stream_back_is_found() -> None:
    chunk = 'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}\n\n'
    events = [
        chunk % choice
        for choice in (
            '{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}',
            *['{"index":0,"delta":{"content":"word "},"finish_reason":null}'] * 40,
            '{"index":0,"delta":{},"finish_reason":"stop"}',
        )
    ]
    body = "".join([*events, "data: [DONE]\n\n"]).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + b"connection: close\r\n\r\n")
        await asyncio.sleep(1.1)  # what a proxy with buffers does while the model speaks
        writer.write(body)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    channel = Channel(
        name="a",
        protocol=CHAT,
        base_url=f"http://127.0.0.1:{port}/v1",
        api_key=Secret(KEY),
        models={},
    )
    report = await examine(channel, "m", probes(CHAT, "m", (Examination.LONG,)), {}, patience=20.0)
    server.close()
    assert rules(report) == {"unflushed"}


async def test_a_certificate_is_checked_against_the_roots_that_are_told(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    running = await start("127.0.0.1", 0, ssl=authority.server("127.0.0.1"))
    asked = probes(CHAT, "sim", (Examination.PLAIN,))
    channel = Channel(name="a", protocol=CHAT, base_url=running.base_url(CHAT), api_key=Secret(""), models={})
    trusting = structs.replace(channel, ca_file=str(authority.ca_file))
    assert rules(await examine(trusting, "sim", asked, {}, patience=20.0)) == set()
    assert rules(await examine(channel, "sim", asked, {}, patience=20.0)) == {"unreachable"}
    await running.close()
