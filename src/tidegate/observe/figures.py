"""Every figure that /metrics shows: its name, its labels and what it means."""

from enum import Enum

from msgspec import Struct

from tidegate.engine.gaps import BOUNDS as GAP_BOUNDS


class Kind(Enum):
    """What kind of figure it is, and what the figures of all workers come to."""

    COUNTER = "counter"
    """Their sum, which never goes down, though a worker dies and another takes its place."""
    HISTOGRAM = "histogram"
    """As a counter, for each class."""
    SUM = "sum"
    """A gauge of which each living worker has a part."""
    LEAST = "least"
    """A gauge that is as low as with the worst of them."""
    MOST = "most"
    """A gauge that is as high as with any of them."""


class Figure(Struct, frozen=True, kw_only=True):
    """One figure. What is counted is whole numbers; `unit` of them make one of what is shown."""

    name: str
    words: str
    kind: Kind
    labels: tuple[str, ...] = ()
    unit: int = 1
    bounds: tuple[float, ...] = ()
    """Of a histogram: the upper bounds of its classes, as they are shown."""


MICROSECONDS = 1_000_000
NANO_USD = 1_000_000_000

_FIRST_TOKEN = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 30.0, 60.0, 120.0)
_DURATION = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
_LAG = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

REQUESTS = Figure(
    name="tidegate_requests_total",
    words="Requests that have ended.",
    kind=Kind.COUNTER,
    labels=("protocol", "model", "channel", "outcome", "failure_kind"),
)
ATTEMPTS = Figure(
    name="tidegate_attempts_total",
    words="Tries of requests on channels.",
    kind=Kind.COUNTER,
    labels=("channel", "outcome", "failure_kind"),
)
FAILOVERS = Figure(
    name="tidegate_failovers_total",
    words="Requests that left a channel, which had failed, for another.",
    kind=Kind.COUNTER,
    labels=("channel",),
)
TOKENS = Figure(
    name="tidegate_tokens_total",
    words="Tokens of requests that have ended; the four classes never overlap.",
    kind=Kind.COUNTER,
    labels=("model", "class"),
)
COST = Figure(
    name="tidegate_cost_usd_total",
    words="What accounts were charged, in US dollars.",
    kind=Kind.COUNTER,
    labels=("model",),
    unit=NANO_USD,
)
UPSTREAM_COST = Figure(
    name="tidegate_upstream_cost_usd_total",
    words="What channels with a price cost the operator, in US dollars.",
    kind=Kind.COUNTER,
    labels=("channel",),
    unit=NANO_USD,
)
FIRST_TOKEN = Figure(
    name="tidegate_first_token_seconds",
    words="From a request's arrival to the first useful event of its stream.",
    kind=Kind.HISTOGRAM,
    labels=("protocol", "model"),
    unit=MICROSECONDS,
    bounds=_FIRST_TOKEN,
)
DURATION = Figure(
    name="tidegate_request_duration_seconds",
    words="From a request's arrival to the last byte of its answer.",
    kind=Kind.HISTOGRAM,
    labels=("protocol", "model"),
    unit=MICROSECONDS,
    bounds=_DURATION,
)
GAPS = Figure(
    name="tidegate_event_gap_seconds",
    words="Silences of upstreams between two useful events of a stream.",
    kind=Kind.HISTOGRAM,
    labels=("protocol",),
    unit=MICROSECONDS,
    bounds=GAP_BOUNDS,
)
DISCONNECTS = Figure(
    name="tidegate_client_disconnects_total",
    words="Requests whose client left: before anything was sent to it, or after.",
    kind=Kind.COUNTER,
    labels=("sent",),
)
REFUSALS = Figure(
    name="tidegate_limit_refusals_total",
    words="Requests that a limit turned away, by what was too much and by whose limit it was.",
    kind=Kind.COUNTER,
    labels=("limit", "owner"),
)
KEEPALIVES = Figure(
    name="tidegate_keepalives_total", words="Comments written into silent streams.", kind=Kind.COUNTER
)
OPENED = Figure(
    name="tidegate_keepalive_commits_total",
    words="Streams whose status 200 went out with a comment, before anything useful had come.",
    kind=Kind.COUNTER,
)
COOLDOWNS = Figure(
    name="tidegate_cooldowns_total",
    words="Times that a channel was left alone with one of its models, by what was found out here.",
    kind=Kind.COUNTER,
    labels=("channel",),
)
COOLING = Figure(
    name="tidegate_channel_cooling",
    words="1 while a channel is left alone with a model of its upstream; absent while it is not.",
    kind=Kind.MOST,
    labels=("channel", "upstream_model"),
)
CHANNEL_OPEN = Figure(
    name="tidegate_channel_open_requests",
    words="Requests that are being tried on a channel; absent while there is none.",
    kind=Kind.SUM,
    labels=("channel",),
)
DATABASE_UP = Figure(
    name="tidegate_database_up",
    words="1 if the database can be written, by every worker.",
    kind=Kind.LEAST,
)
REDIS_UP = Figure(
    name="tidegate_redis_up",
    words="1 if Redis is in use, by every worker. Absent without Redis.",
    kind=Kind.LEAST,
)
SPOOL = Figure(
    name="tidegate_spool_rows", words="Rows and holds that wait on the disk for the database.", kind=Kind.SUM
)
QUEUE = Figure(
    name="tidegate_journal_queue", words="Rows and holds that wait in memory for the database.", kind=Kind.SUM
)
LOST = Figure(
    name="tidegate_rows_lost_total", words="Rows of requests that could not be kept.", kind=Kind.COUNTER
)
CONTENTS_LOST = Figure(
    name="tidegate_contents_dropped_total",
    words="Contents of requests that were to be kept and could not be.",
    kind=Kind.COUNTER,
)
SPANS_LOST = Figure(
    name="tidegate_spans_dropped_total",
    words="Requests whose spans did not reach the collector. Absent where nothing is traced.",
    kind=Kind.COUNTER,
)
OPEN_REQUESTS = Figure(name="tidegate_open_requests", words="Requests that are being served.", kind=Kind.SUM)
OPEN_STREAMS = Figure(
    name="tidegate_open_streams", words="Those of them that are streams, from their admission.", kind=Kind.SUM
)
HOLDS = Figure(name="tidegate_holds", words="Open requests that hold money.", kind=Kind.SUM)
HELD = Figure(name="tidegate_held_usd", words="What they hold, in US dollars.", kind=Kind.SUM, unit=NANO_USD)
CONNECTIONS = Figure(
    name="tidegate_upstream_connections",
    words="Connections to upstreams that stand: busy with a request, or idle in the pool.",
    kind=Kind.SUM,
    labels=("state",),
)
WORKERS = Figure(name="tidegate_workers", words="Worker processes that serve.", kind=Kind.SUM)
DEATHS = Figure(
    name="tidegate_worker_deaths_total",
    words="Worker processes that died and were replaced.",
    kind=Kind.COUNTER,
)
BUILD = Figure(
    name="tidegate_build_info",
    words="1, with the version of Tidegate and of Python as labels.",
    kind=Kind.MOST,
    labels=("version", "python"),
)
STARTED = Figure(
    name="tidegate_start_time_seconds",
    words="When the oldest worker started, in Unix seconds.",
    kind=Kind.LEAST,
)
CPU = Figure(
    name="tidegate_process_cpu_seconds_total",
    words="Processor time of all workers.",
    kind=Kind.COUNTER,
    unit=MICROSECONDS,
)
MEMORY = Figure(
    name="tidegate_process_resident_memory_bytes",
    words="Resident memory of all workers; pages that they share are counted once for each.",
    kind=Kind.SUM,
)
OPEN_FILES = Figure(
    name="tidegate_process_open_fds", words="Open files and sockets of all workers.", kind=Kind.SUM
)
MOST_FILES = Figure(
    name="tidegate_process_max_fds", words="How many they may have open together.", kind=Kind.SUM
)
LAG = Figure(
    name="tidegate_event_loop_lag_seconds",
    words="How much too late a timer of each worker fired, measured twice a second.",
    kind=Kind.HISTOGRAM,
    unit=MICROSECONDS,
    bounds=_LAG,
)
OVERFLOWS = Figure(
    name="tidegate_metrics_overflow_total",
    words="More than 0: a figure has so many labels that further ones are counted as `other`.",
    kind=Kind.COUNTER,
    labels=("metric",),
)

FIGURES = (
    *(REQUESTS, ATTEMPTS, FAILOVERS, TOKENS, COST, UPSTREAM_COST, FIRST_TOKEN, DURATION, GAPS),
    *(DISCONNECTS, REFUSALS, KEEPALIVES, OPENED, OPEN_REQUESTS, OPEN_STREAMS),
    *(CHANNEL_OPEN, COOLING, COOLDOWNS, CONNECTIONS, HOLDS, HELD),
    *(DATABASE_UP, REDIS_UP, SPOOL, QUEUE, LOST, CONTENTS_LOST, SPANS_LOST),
    *(WORKERS, DEATHS, BUILD, STARTED, CPU, MEMORY, OPEN_FILES, MOST_FILES, LAG, OVERFLOWS),
)
"""In the order of the page."""
