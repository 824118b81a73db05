"""Speaks OpenTelemetry: the only file that loads its packages, which are the extra `tracing`."""

import logging
from collections.abc import Mapping, Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, TraceFlags, TraceState
from opentelemetry.trace.status import Status, StatusCode

from tidegate import __version__
from tidegate.core.trace_context import Trace
from tidegate.observe.spans import Kind, Moment, Span

_SCOPE = InstrumentationScope("tidegate", __version__)
_UNSET, _ERROR = Status(StatusCode.UNSET), Status(StatusCode.ERROR)


class Collector:
    """One collector. `send` is for one thread, `close` for any."""

    def __init__(
        self, url: str, headers: Mapping[str, str], resource: Mapping[str, str], patience: float
    ) -> None:
        """`patience` is how many seconds a batch may take, tries included."""
        self._resource = Resource.create(dict(resource))
        self._heard = _quiet()
        self._exporter = OTLPSpanExporter(endpoint=url, headers=dict(headers), timeout=patience)
        self.closed = False

    @property
    def reason(self) -> str:
        """Why the last batch was not taken."""
        return self._heard.last

    def send(self, requests: Sequence[tuple[Trace, Sequence[Span]]]) -> bool:
        """Whether the collector has taken all spans of these requests."""
        spans = [self._readable(trace, span) for trace, made in requests for span in made]
        return self._exporter.export(spans) is SpanExportResult.SUCCESS

    def close(self) -> None:
        """Send nothing more, and break off what waits to be sent again."""
        if not self.closed:
            self.closed = True
            self._exporter.shutdown()  # type: ignore[no-untyped-call]

    def _readable(self, trace: Trace, span: Span) -> ReadableSpan:
        state = TraceState.from_header([trace.state]) if trace.state else TraceState()

        def context(span_id: str, *, remote: bool) -> SpanContext:
            return SpanContext(
                int(trace.trace_id, 16), int(span_id, 16), remote, TraceFlags(trace.flags), state
            )

        parent = span.parent_id
        return ReadableSpan(
            name=span.name,
            context=context(span.span_id, remote=False),
            parent=None if parent is None else context(parent, remote=span.remote_parent),
            resource=self._resource,
            attributes=span.attributes,
            events=[_event(moment) for moment in span.moments],
            kind=_kind(span.kind),
            status=_ERROR if span.failed else _UNSET,
            start_time=span.start,
            end_time=span.end,
            instrumentation_scope=_SCOPE,
        )


def _event(moment: Moment) -> Event:
    return Event(moment.name, moment.attributes, moment.at)


def _kind(kind: Kind) -> SpanKind:
    match kind:
        case Kind.SERVER:
            return SpanKind.SERVER
        case Kind.CLIENT:
            return SpanKind.CLIENT


class _Heard(logging.Handler):
    """Keeps what the library has to say last: it says it for each batch, and once is enough for a log."""

    def __init__(self) -> None:
        super().__init__()
        self.last = "the collector did not take them"

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()


def _quiet() -> _Heard:
    heard = _Heard()
    library = logging.getLogger("opentelemetry")
    library.handlers[:] = [heard]
    library.propagate = False
    return heard
