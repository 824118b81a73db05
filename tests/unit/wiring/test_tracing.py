"""Traces are made as the config says, or not at all."""

from collections.abc import Iterator

import pytest
from tests.harness.collector import Collector
from tests.unit.exchange.scene import channel
from tests.unit.observe.test_spans import traced

from tidegate.config.settings import Tracing as Settings
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.observe.spans import Peer
from tidegate.routing.catalog import Catalog
from tidegate.wiring.tracing import Tracing


@pytest.fixture
def collector() -> Iterator[Collector]:
    running = Collector()
    yield running
    running.close()


def catalog() -> Catalog:
    """Channel `a` is at a.example.com."""
    return Catalog([channel("a", Protocol.MESSAGES)])


async def test_without_an_endpoint_nothing_is_traced() -> None:
    tracing = Tracing(Settings(sample=0.5), catalog)
    assert (tracing.rules, tracing.tracer) == (None, None)
    await tracing.close()


async def test_what_is_configured_reaches_the_collector(collector: Collector) -> None:
    settings = Settings(
        endpoint=f"{collector.url}/v1/traces",
        headers={"x-key": Secret("collector-secret")},
        service_name="edge",
        sample=0.25,
        propagate=True,
    )
    tracing = Tracing(settings, catalog)
    assert tracing.rules is not None
    assert tracing.tracer is not None
    assert (tracing.rules.share, tracing.rules.propagates) == (0.25, True)
    tracing.tracer.take(traced())
    await tracing.close()
    [(_, headers, _)] = collector.requests
    assert headers["x-key"] == "collector-secret"
    spans = {span.attributes.get("tidegate.channel"): span for span in collector.spans}
    assert spans["a"].attributes["server.address"] == "a.example.com"
    assert spans["a"].resource["service.name"] == "edge"
    assert "server.address" not in spans["b"].attributes, "no such channel any more"


def test_a_channel_is_found_by_its_name_while_it_is_there() -> None:
    tracing = Tracing(Settings(), catalog)
    assert tracing._peer("a") == Peer(Protocol.MESSAGES, "a.example.com", 443)
    assert tracing._peer("gone") is None
