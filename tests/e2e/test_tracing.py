"""A request is one trace at the collector, whatever channels it went over, and a collector never matters."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Start
from tests.harness import settings
from tests.harness.collector import Collector, SeenSpan
from tests.harness.dialects import CACHED, CHAT, FRESH, MESSAGES, OUTPUT, RESPONSES, SIDES
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.script import CUT, HOLD, Pause, body, stream
from tests.harness.stage import Stage
from tests.harness.together import together
from tests.harness.upstream import ScriptedUpstream

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CALLER = ("traceparent", f"00-{TRACE}-{SPAN}-01")
PROMPT = "the-prompt-that-nobody-may-see"
ANSWER = ("the-answer-that-", "nobody-may-see")
CREDENTIAL = "collector-credential-0123456789"


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    running = Collector()
    yield running
    running.close()


def traced(
    folder: Path, upstream: ScriptedUpstream, collector: Collector, **changes: object
) -> settings.Config:
    config = settings.standard(free_port(), str(folder), upstream.base)
    headers = {"x-collector-key": CREDENTIAL}
    return settings.merged(config, tracing={"endpoint": collector.url, "headers": headers, **changes})


@pytest.fixture(scope="module")
def telling(
    upstream: ScriptedUpstream, collector: Collector, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A gateway that traces every request, and tells upstreams."""
    folder = tmp_path_factory.mktemp("telling")
    running = Gateway(traced(folder, upstream, collector, propagate=True, service_name="edge"), folder)
    try:
        yield Stage(running.wait_ready(), upstream)
    finally:
        running.stop()
    for secret in (*settings.ENVIRONMENT.values(), CREDENTIAL):
        assert secret not in running.log


async def spans(collector: Collector, reply: Any) -> list[SeenSpan]:
    return await asyncio.to_thread(collector.of_request, reply.header("x-request-id"))


async def test_a_failover_is_one_trace_under_the_callers_span(telling: Stage, collector: Collector) -> None:
    async def moved(side: Any) -> None:
        script = side.script(pieces=ANSWER)
        error = json.dumps(side.error_body("no", "server_error")).encode()
        played = await telling.play(
            side, body(error, 500), b=[stream(script.all)], extra=[CALLER, ("tracestate", "a=1")]
        )
        request, first, served = await spans(collector, played.reply)
        assert {span.trace_id for span in (request, first, served)} == {TRACE}
        assert {span.state for span in (request, first, served)} == {"a=1"}
        assert (request.is_server, request.parent_id) == (True, SPAN)
        assert (first.parent_id, served.parent_id) == (request.span_id, request.span_id)
        assert request.start <= first.start <= first.end <= served.start <= served.end
        assert request.attributes["tidegate.outcome"] == "completed"
        assert request.attributes["tidegate.attempts"] == 2
        assert request.resource["service.name"] == "edge"
        assert {
            "tidegate.failover",
            "tidegate.first_useful_event",
            "tidegate.commit",
        } <= request.events.keys()
        assert first.attributes["http.response.status_code"] == 500
        assert (first.failed, served.failed, request.failed) == (True, False, False)
        assert served.attributes["server.address"] == "127.0.0.1"
        assert served.attributes["gen_ai.usage.input_tokens"] == FRESH + CACHED
        assert served.attributes["gen_ai.usage.output_tokens"] == OUTPUT
        assert served.attributes["gen_ai.response.model"] == "up"
        assert served.attributes["gen_ai.response.id"]
        assert len(served.attributes["gen_ai.response.finish_reasons"]) == 1
        [at_a], [at_b] = played.at_a, played.at_b
        assert at_a.header("traceparent") == f"00-{TRACE}-{first.span_id}-01"
        assert at_b.header("traceparent") == f"00-{TRACE}-{served.span_id}-01"
        assert at_b.header("tracestate") == "a=1"
        row = await telling.gateway.row_of(played.reply.header("x-request-id"))
        assert row["trace_id"] == TRACE

    await together({side.name: moved(side) for side in SIDES})
    lines = [json.loads(line) for line in telling.gateway.log.splitlines() if line.startswith("{")]
    told = [line["trace_id"] for line in lines if line.get("message") == "request completed"]
    assert told.count(TRACE) >= len(SIDES)


async def test_what_became_of_a_request_is_in_its_spans(telling: Stage, collector: Collector) -> None:
    async def slow() -> None:
        script = CHAT.script()
        played = await telling.play(CHAT, stream(script.opening, Pause(1.4), script.deltas, script.closing))
        request, _ = await spans(collector, played.reply)
        opened, spoken = (request.events[f"tidegate.{name}"] for name in ("keepalive_commit", "commit"))
        assert request.start < opened.time_unix_nano < spoken.time_unix_nano < request.end
        assert request.parent_id == "", "a trace of its own"

    async def broken() -> None:
        script = RESPONSES.script()
        played = await telling.play(RESPONSES, stream(script.opening, script.deltas, CUT))
        request, attempt = await spans(collector, played.reply)
        assert (request.failed, attempt.failed) == (True, True)
        assert request.attributes["tidegate.outcome"] == "interrupted"
        assert attempt.attributes["error.type"] == "upstream"

    async def left() -> None:
        model = telling.model(MESSAGES)
        script = MESSAGES.script()
        telling.script(MESSAGES, model, [stream(script.opening, script.deltas, HOLD)])
        async with telling.gateway.open(MESSAGES, MESSAGES.request(model)) as reply:
            await reply.until(b"lo")
        request, attempt = await spans(collector, reply)
        assert request.attributes["tidegate.outcome"] == "client_closed"
        assert attempt.attributes["error.type"] == "abandoned"

    async def whole_and_converted() -> None:
        answer = json.dumps(MESSAGES.whole()).encode()
        played = await telling.play(CHAT, body(answer), channel=MESSAGES, stream=False)
        _, attempt = await spans(collector, played.reply)
        assert attempt.attributes["gen_ai.provider.name"] == "anthropic"
        assert attempt.attributes["gen_ai.response.id"] == MESSAGES.whole()["id"]
        assert "gen_ai.request.stream" not in attempt.attributes

    async def counted() -> None:
        model = telling.model(MESSAGES)
        telling.script(MESSAGES, model, [body(b'{"input_tokens":4711}')])
        asked = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
        reply = await telling.gateway.call(MESSAGES, asked, target="/v1/messages/count_tokens")
        request, attempt = await spans(collector, reply)
        assert request.name == "POST /v1/messages/count_tokens"
        assert attempt.name.startswith("count_tokens ")
        assert telling.upstream.only("msgs-A", model).header("traceparent") is not None

    async def refused() -> None:
        reply = await telling.gateway.call(CHAT, CHAT.request("nobody-serves-this"), extra=[CALLER])
        [request] = await spans(collector, reply)
        assert (request.trace_id, request.attributes["error.type"]) == (TRACE, "model_not_found")

    await together(
        {
            "slow": slow(),
            "broken": broken(),
            "left": left(),
            "whole": whole_and_converted(),
            "count": counted(),
            "refused": refused(),
        }
    )


async def test_nothing_that_anybody_said_and_no_secret_reaches_the_collector(
    telling: Stage, collector: Collector
) -> None:
    replies = []
    for side in SIDES:
        messages = {"input" if side is RESPONSES else "messages": [{"role": "user", "content": PROMPT}]}
        played = await telling.play(side, stream(side.script(pieces=ANSWER).all), members=messages)
        error = json.dumps(side.error_body(f"bad {PROMPT}", "invalid_request_error")).encode()
        refused = await telling.play(side, body(error, 400), members=messages)
        replies += [played.reply, refused.reply]
    for reply in replies:
        await spans(collector, reply)
    sent = collector.bytes
    assert b"tidegate.outcome" in sent
    for secret in (PROMPT, *ANSWER, *settings.ENVIRONMENT.values()):
        assert secret.encode() not in sent
    assert CREDENTIAL.encode() in sent, "as a header, where it belongs"


async def test_upstreams_are_told_nothing_unless_it_is_configured(
    tmp_path: Path, upstream: ScriptedUpstream, collector: Collector, start: Start
) -> None:
    stage = Stage(start(traced(tmp_path, upstream, collector, sample=0.0)), upstream)
    played = await stage.play(CHAT, stream(CHAT.script().all), extra=[CALLER, ("tracestate", "a=1")])
    assert [at.values("traceparent") + at.values("tracestate") for at in played.at_a] == [[]]
    request, _ = await spans(collector, played.reply)
    assert request.parent_id == SPAN, "the caller has it recorded"
    alone = await stage.play(CHAT, stream(CHAT.script().all), extra=[("traceparent", f"{CALLER[1]}-x")])
    row = await stage.gateway.row_of(alone.reply.header("x-request-id"))
    assert row["trace_id"] not in (None, TRACE)
    stage.gateway.stop()  # what waited has been sent then
    told = {span.attributes.get("tidegate.request.id") for span in collector.spans}
    assert played.reply.header("x-request-id") in told
    assert alone.reply.header("x-request-id") not in told


async def test_a_collector_that_is_away_costs_one_line_of_the_log(
    tmp_path: Path, upstream: ScriptedUpstream, start: Start
) -> None:
    gone = Collector()
    stage = Stage(start(traced(tmp_path, upstream, gone)), upstream)
    first = await stage.play(CHAT, stream(CHAT.script().all))
    assert await spans(gone, first.reply)
    gone.close()
    for _ in range(3):
        played = await stage.play(CHAT, stream(CHAT.script().all))
        assert played.text == "Hello"
    began = time.monotonic()
    stage.gateway.stop()
    assert time.monotonic() - began < 14
    assert stage.gateway.process.returncode == 0
    assert stage.gateway.log.count("spans cannot be sent") <= 1


def hidden(folder: Path) -> dict[str, str]:
    """An environment in which OpenTelemetry is not installed."""
    shim = folder / "shim"
    shim.mkdir()
    (shim / "sitecustomize.py").write_text(
        "import sys\n"
        "class Nowhere:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'opentelemetry':\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Nowhere())\n"
    )
    return {"PYTHONPATH": f"{shim}:{environment()['PYTHONPATH']}"}


async def test_without_the_extra_all_else_works_and_it_is_told_how_to_get_it(
    tmp_path: Path, upstream: ScriptedUpstream, collector: Collector
) -> None:
    bare = hidden(tmp_path)
    gateway = Gateway(settings.standard(free_port(), str(tmp_path), upstream.base), tmp_path, more=bare)
    try:
        played = await Stage(gateway.wait_ready(), upstream).play(CHAT, stream(CHAT.script().all))
        assert played.text == "Hello"
        assert (await played.row())["trace_id"] is None
    finally:
        gateway.stop()
    gateway.write_config(traced(tmp_path, upstream, collector))
    for command in (("check-config",), ("serve", "--config")):
        await asyncio.to_thread(check_refusal, (*command, str(gateway.config_path)), bare)


def check_refusal(command: tuple[str, ...], bare: dict[str, str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "tidegate", *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment() | bare,
    )
    assert ended.returncode == 2
    assert "tracing.endpoint" in ended.stderr
    assert "pip install 'tidegate[tracing]'" in ended.stderr
    assert "Traceback" not in ended.stderr
