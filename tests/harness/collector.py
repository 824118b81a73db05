"""A collector for OTLP/HTTP in the tests' own process, which can be away."""

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class SeenSpan:
    """A span as a collector reads it."""

    def __init__(self, span: Any, resource: Any) -> None:
        self.name: str = span.name
        self.kind: int = span.kind
        self.trace_id: str = span.trace_id.hex()
        self.span_id: str = span.span_id.hex()
        self.parent_id: str = span.parent_span_id.hex()
        self.state: str = span.trace_state
        self.start: int = span.start_time_unix_nano
        self.end: int = span.end_time_unix_nano
        self.failed: bool = span.status.code == 2
        self.attributes = {one.key: _value(one.value) for one in span.attributes}
        self.resource = {one.key: _value(one.value) for one in resource.attributes}
        self.events = {event.name: event for event in span.events}
        self.event_attributes = {
            event.name: {one.key: _value(one.value) for one in event.attributes} for event in span.events
        }

    @property
    def is_server(self) -> bool:
        return self.kind == 2


class Collector:
    """Keeps what it is sent."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200
        seen = self

        class Door(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen.requests.append((self.path, headers, body))
                self.send_response(seen.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Door)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def bytes(self) -> bytes:
        """All that was sent, headers too."""
        return b"\n".join(repr(headers).encode() + body for _, headers, body in list(self.requests))

    @property
    def spans(self) -> list[SeenSpan]:
        found: list[SeenSpan] = []
        for _, _, body in list(self.requests):
            for of_resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for of_scope in of_resource.scope_spans:
                    found += [SeenSpan(span, of_resource.resource) for span in of_scope.spans]
        return found

    def of_request(self, request_id: str | None, within: float = 15.0) -> list[SeenSpan]:
        """The spans of a request, its own first, once they have come. Blocks."""

        def wanted() -> list[SeenSpan]:
            spans = self.spans
            own = [span for span in spans if span.attributes.get("tidegate.request.id") == request_id]
            assert len(own) < 2
            return own + [span for span in spans if own and span.parent_id == own[0].span_id]

        return _awaited(wanted, within)


def _awaited(wanted: Callable[[], list[SeenSpan]], within: float) -> list[SeenSpan]:
    deadline = time.monotonic() + within
    while not (found := wanted()):
        assert time.monotonic() < deadline, "no spans came"
        time.sleep(0.02)
    return found


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)
