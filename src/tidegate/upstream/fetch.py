"""A whole answer at once, for calls that need no stream."""

import asyncio
from collections.abc import Mapping

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.exchange.ports import Call, Upstream, UpstreamRequest
from tidegate.routing.catalog import Channel
from tidegate.upstream import failures


async def fetch(
    upstream: Upstream, channel: Channel, request: UpstreamRequest, *, limit: int, patience: float
) -> tuple[int, Mapping[str, str], bytes]:
    """Status, headers (names in lower case) and body.

    `limit` is in bytes of the body, `patience` in seconds for all of it, 0 for none.
    Raises TidegateError; the call is cancelled then, as it is when the caller is.
    """
    collector = _Collector(limit)
    call = upstream.open(channel, request, collector)
    collector.call = call
    try:
        async with asyncio.timeout(patience or None):
            return await collector.answer
    except TimeoutError as error:
        late = Failure(kind=Kind.TIMEOUT, message="the upstream did not answer in time")
        raise TidegateError(late) from error
    finally:
        call.cancel()


class _Collector:
    """A sink that keeps everything, up to a limit."""

    def __init__(self, limit: int) -> None:
        self.answer: asyncio.Future[tuple[int, Mapping[str, str], bytes]]
        self.answer = asyncio.get_running_loop().create_future()
        self.call: Call | None = None
        self._limit = limit
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._body = bytearray()

    def on_connected(self) -> None:
        pass

    def on_head(self, status: int, headers: Mapping[str, str]) -> None:
        self._status = status
        self._headers = headers

    def on_body(self, data: bytes) -> None:
        self._body += data
        if len(self._body) > self._limit:
            if self.call is not None:
                self.call.cancel()
            self.on_failure(failures.malformed(f"the answer is larger than {self._limit} bytes"))

    def on_end(self) -> None:
        if not self.answer.done():
            self.answer.set_result((self._status, self._headers, bytes(self._body)))

    def on_failure(self, failure: Failure) -> None:
        if not self.answer.done():
            self.answer.set_exception(TidegateError(failure))
