"""Spans reach the collector, and one that is away costs nobody anything."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from tests.harness.collector import Collector
from tests.unit.observe.test_spans import peers, traced

from tidegate.core.trace_context import begin
from tidegate.exchange.traced import Traced
from tidegate.observe.tracing import BATCH, Destination, Tracer, is_installed
from tidegate.protocols.base import Imprint


def request(number: int) -> Traced:
    one = traced(begin(f"req_{number}", {}, 1.0))
    return replace(one, record=replace(one.record, id=f"req_{number}"))


def tracer(url: str, **settings: float) -> Tracer:
    to = Destination(url=f"{url}/v1/traces", headers={"x-team": "search"}, service_name="edge")
    return Tracer(to, peers, lambda text: text, **{"window": 0.01, **settings})  # type: ignore[arg-type]


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def collector() -> Iterator[Collector]:
    running = Collector()
    yield running
    running.close()


def test_spans_arrive_with_all_that_they_have(collector: Collector) -> None:
    running = tracer(collector.url)
    one = replace(request(1), opened_ms=5.0)
    running.take(one)
    server, first, served = collector.of_request("req_1")
    assert server.is_server
    assert not first.is_server
    assert {span.trace_id for span in (server, first, served)} == {one.trace.trace_id}
    assert (server.span_id, server.parent_id) == (one.trace.span_id, "")
    assert first.attributes["gen_ai.request.model"] == "up-a"
    assert served.attributes["gen_ai.response.finish_reasons"] == ["stop"]
    assert (server.failed, first.failed) == (False, True)
    assert server.events["tidegate.keepalive_commit"].time_unix_nano == server.start + 5_000_000
    assert server.event_attributes["tidegate.failover"]["tidegate.to"] == "b"
    assert server.resource["service.name"] == "edge"
    path, headers, _ = collector.requests[0]
    assert (path, headers["x-team"]) == ("/v1/traces", "search")
    running.close(5.0)
    assert running.dropped == 0


@pytest.mark.parametrize("odd", ["\ud800", "nul \0", "\x1b[31m", "é王\U0001f30a", "x" * 10_000])
def test_whatever_a_caller_writes_can_be_sent(collector: Collector, odd: str) -> None:
    running = tracer(collector.url)
    one = request(1)
    attempts = tuple(replace(attempt, upstream_model=odd) for attempt in one.record.attempts)
    record = replace(one.record, model=odd, user_agent=odd, finish_reason=odd, attempts=attempts)
    running.take(replace(one, record=record, imprint=Imprint(odd, odd)))
    assert len(collector.of_request("req_1")) == 3
    running.close(5.0)
    assert running.dropped == 0


def test_many_are_sent_in_few_requests_and_the_last_at_the_end(collector: Collector) -> None:
    running = tracer(collector.url, window=60)
    for number in range(2 * BATCH + 1):
        running.take(request(number))
    running.close(20.0)
    assert len(collector.spans) == 3 * (2 * BATCH + 1)
    assert len(collector.requests) < 10
    assert running.dropped == 0


@pytest.mark.parametrize("status", [400, 503])
def test_a_collector_that_does_not_take_them_is_told_once(
    collector: Collector, status: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate.observe.tracing.PATIENCE", 0.05)
    collector.status = status
    running = tracer(collector.url)
    for number in range(3):
        running.take(request(number))
        until(lambda number=number: running.dropped == number + 1)  # type: ignore[misc]
    collector.status = 200
    running.take(request(9))
    collector.of_request("req_9")
    until(lambda: "takes spans again" in caplog.text)
    assert caplog.text.count("spans cannot be sent") == 1
    assert len(caplog.records) == 2, "the library says nothing by itself"
    running.close(5.0)


def test_an_end_does_not_wait_for_a_collector_that_is_away(
    caplog: pytest.LogCaptureFixture,
) -> None:
    gone = Collector()
    gone.close()
    running = tracer(gone.url)
    running.take(request(1))
    began = time.monotonic()
    running.close(0.3)
    assert time.monotonic() - began < 5
    assert not running._thread.is_alive()
    assert "req_1" not in caplog.text


def test_what_finds_no_room_is_dropped_and_counted(
    collector: Collector, caplog: pytest.LogCaptureFixture
) -> None:
    running = tracer(collector.url, window=60, bound=2)
    for number in range(5):
        running.take(request(number))
    assert running.dropped == 3
    assert caplog.text.count("spans are dropped") == 1
    running.close(10.0)
    assert len(collector.spans) == 6


def test_a_fault_costs_one_batch(collector: Collector, caplog: pytest.LogCaptureFixture) -> None:
    running = tracer(collector.url)
    running.take(replace(request(1), trace=None))  # what cannot be
    until(lambda: running.dropped == 1)
    until(lambda: "unexpected error" in caplog.text)
    running.take(request(2))
    collector.of_request("req_2")
    running.close(5.0)


def test_the_packages_are_looked_for_without_loading_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_installed()
    monkeypatch.setattr("tidegate.observe.tracing.PACKAGES", ("no_such_package.inside",))
    assert not is_installed()


def test_taking_is_quick_while_the_thread_works(collector: Collector) -> None:
    running = tracer(collector.url)
    one = request(1)
    began = time.perf_counter()
    for _ in range(1_000):
        running.take(one)
    assert time.perf_counter() - began < 30
    running.close(20.0)
    assert threading.active_count() < 100
