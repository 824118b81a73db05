"""What the story of a request needs from the world."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from tidegate.core.failure import Failure
from tidegate.ledger.entries import Answer, Budget, Item
from tidegate.routing.catalog import Channel
from tidegate.routing.quota import Scope, Verdict

Headers = list[tuple[str, str]]
"""Header names in lower case, in the order they came."""


class UpstreamRequest(Struct, frozen=True):
    """What goes up on a channel: `path` is appended to the base URL's path; the body is whole.

    `headers` come on top of the channel's own, its credential and the framing, which the adapter adds.
    """

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Sink(Protocol):
    """Where an upstream call pushes what it hears. Exactly one of `on_end`, `on_failure` comes last.

    After `Call.cancel` or `Call.finish` nothing more is pushed.
    """

    def on_connected(self) -> None:
        """A fresh connection stands, TLS included; not told where a pooled one was free."""

    def on_head(self, status: int, headers: Mapping[str, str]) -> None:
        """The final status line and headers (1xx are skipped); names in lower case, the last value wins."""

    def on_body(self, data: bytes) -> None:
        """Some bytes of the body, decoded from any content encoding, never empty."""

    def on_end(self) -> None:
        """The body is whole: chunked end, content length reached, or closed in order where close delimits."""

    def on_failure(self, failure: Failure) -> None:
        """The call broke: no connection, TLS, time-out of the connect phase, reset, cut body, bad HTTP."""


class Call(Protocol):
    """One request on its way. All methods may be called at any time and more than once."""

    def cancel(self) -> None:
        """Stop at once: the connection is closed, so the upstream sees it within a second."""

    def finish(self) -> None:
        """Enough was read: if the body ends within 100 ms the connection is kept for reuse, else closed."""

    def pause(self) -> None:
        """The client is slow: stop reading from the upstream's socket."""

    def resume(self) -> None:
        """Read again."""


class ClientPipe(Protocol):
    """The caller's connection, from the answer's first byte to its last. Nothing blocks: a slow client makes
    the pipe pause the attached call, so what is buffered here stays bounded.
    """

    @property
    def paused(self) -> bool:
        """Whether the client is behind and the upstream is held."""

    @property
    def given_up(self) -> bool:
        """Whether the client is gone because it accepted no byte for too long."""

    def warn(self, warnings: str | None) -> None:
        """The value of `x-tidegate-warnings` as far as known; takes effect until the head has been sent."""

    def add_headers(self, headers: Headers) -> None:
        """Headers for the answer, whatever it will be; they take effect until the head has been sent."""

    def attach(self, call: "Call | None") -> None:
        """The call that is paused and resumed as the client falls behind and catches up."""

    def write(self, data: bytes) -> None:
        """Whole events or comments of a stream; the first write sends status 200 and the headers with it."""

    def finish(self, data: bytes) -> None:
        """The last bytes of a stream, and its end."""

    def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole JSON answer instead of a stream."""


class Upstream(Protocol):
    """Opens calls on channels."""

    def open(self, channel: Channel, request: UpstreamRequest, sink: Sink) -> Call:
        """Start a call and return at once; what happens is pushed to `sink`, never before this returns."""


class AttemptRecord(Struct, frozen=True, kw_only=True):
    """One try on one channel, as the row tells it. Times are Unix seconds, durations milliseconds."""

    channel: str
    upstream_model: str
    status: int | None
    outcome: str
    """served | failed | abandoned | repaired"""
    error: str | None
    started_at: float
    duration_ms: float
    upstream_cost: int | None = None
    """The channel's own cost in nano-USD; None where the channel has no price or nothing was accepted."""
    reason: str | None = None
    """Why this channel and why now; None in rows of earlier versions."""
    failure_kind: str | None = None
    """The name of the failure's kind; None where nothing failed."""
    connected_ms: float | None = None
    """From the attempt's start until a fresh connection stood; None: a pooled one was used, or none stood."""
    first_byte_ms: float | None = None
    """From the attempt's start until the head of the answer came."""
    first_event_ms: float | None = None
    """From the attempt's start until the first useful event of a stream came."""


class SkippedRecord(Struct, frozen=True, kw_only=True):
    """A channel that was left out, as the row tells it."""

    channel: str
    upstream_model: str
    why: str


class RequestRecord(Struct, frozen=True, kw_only=True):
    """One row of the journal, complete. Times are Unix seconds, durations milliseconds."""

    id: str
    created_at: float
    key: str | None
    account: str | None
    protocol: str
    stream: bool
    model: str | None
    channel: str | None
    status: int
    outcome: str
    """completed | incomplete | failed | interrupted | client_closed | rejected"""
    finish_reason: str | None
    first_token_ms: float | None
    duration_ms: float
    input_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    output_tokens: int
    usage_source: str
    """upstream | estimated | none"""
    error_type: str | None
    error_code: str | None
    error_message: str | None
    warnings: tuple[str, ...]
    attempts: tuple[AttemptRecord, ...]
    cost: int = 0
    """What the account pays, in nano-USD."""
    items: tuple[Item, ...] = ()
    """The lines that come to `cost`."""
    skipped: tuple[SkippedRecord, ...] = ()
    """Channels that were left out, at most 16."""
    user_agent: str | None = None
    """What the caller's program calls itself, cleaned and at most 200 characters."""
    trace_id: str | None = None
    """The trace that it belongs to, as 32 hex digits; None where nothing is traced."""


class Journal(Protocol):
    """Keeps the rows, and books what they cost."""

    def write(self, record: RequestRecord) -> None:
        """Take a finished request's row and return at once; it reaches the database with the next batch.

        In the same transaction its hold, if it has one, is freed and its cost is charged. A row whose id is
        there already changes nothing.
        """


class Intent(Struct, frozen=True, kw_only=True):
    """An admitted request before its first upstream call. Amounts are nano-USD."""

    record: RequestRecord
    """The row it leaves if the process dies before anything more is known: interrupted, nothing charged."""
    amount: int
    """The most that it can cost."""
    least: int
    """What must be covered at least; below `amount` where a smaller output limit can still be set."""
    prepaid: bool
    """Whether the account's balance must cover it."""
    budgets: tuple[Budget, ...] = ()


class Books(Protocol):
    """Holds money for requests that run. Idempotent by the request's id."""

    async def hold(self, intent: Intent) -> Answer:
        """Commit the intent with its hold, or say why not. Answers within a few seconds whatever happens.

        While the database is away a prepaid account or a budget gets Unavailable, any other is granted: its
        intent waits in the local spool.
        """

    def checkpoint(self, records: Sequence[RequestRecord]) -> None:
        """Note what open requests have used so far: the rows they leave if the process dies now."""


class Limits(Protocol):
    """Counts requests, tokens and open requests of keys and accounts, over all workers and nodes."""

    async def admit(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> Verdict:
        """Take one request with an estimate of its tokens into all scopes, or into none. Never fails."""

    def finish(self, request_id: str, scopes: Sequence[Scope], estimated: int, used: int) -> None:
        """The request has ended: its place is free, and `used` replaces the estimate. Returns at once."""


class Ownership(Protocol):
    """Remembers for 30 days which account and channel group a stored response and its items belong to."""

    def remember(self, ids: Iterable[str], account: str, group: str) -> None:
        """Note ids of an answer that an upstream may have stored; returns at once, visible at once here."""

    async def find(self, identifier: str, account: str) -> str | None:
        """The group that holds `identifier` if it is this account's, else None.

        Raises TidegateError where that cannot be found out.
        """


class Tokenizer(Protocol):
    """Counts tokens off the event loop."""

    async def count(self, texts: Iterable[str]) -> int:
        """An estimate of the tokens in `texts` together."""
