"""What the dashboard shows, row by row."""

from tests.dashboard.widgets import (
    GREEN,
    RED,
    YELLOW,
    Sized,
    heatmap,
    lines,
    ranking,
    stat,
    table,
    up_and_down,
)

_AT = 'instance=~"$instance"'
_OF = f'{_AT}, model=~"$model", protocol=~"$protocol"'
_MODEL = f'{_AT}, model=~"$model"'
_CHANNEL = f'{_AT}, channel=~"$channel"'
_KINDS = "upstream|timeout|overloaded|channel_auth|no_channel|interrupted|accounting|internal"
_OURS = f'{_OF}, failure_kind=~"{_KINDS}"'
"""Failures of upstreams and of the gateway, not of callers."""
_FAILED = f'{_OF}, failure_kind!="none"'
_CACHED = f'{_MODEL}, class="cache_read"'
_PROMPT = f'{_MODEL}, class!="output"'
_FAILING = f'{_CHANNEL}, outcome="failed"'


def _rate(metric: str, where: str, by: str = "") -> str:
    grouped = f" by ({by})" if by else ""
    return f"sum{grouped} (rate({metric}{{{where}}}[$__rate_interval]))"


def _quantile(share: float, metric: str, where: str, by: str = "le") -> str:
    return f"histogram_quantile({share}, {_rate(f'{metric}_bucket', where, by)})"


def _day(metric: str, where: str, by: str = "") -> str:
    grouped = f" by ({by})" if by else ""
    return f"sum{grouped} (increase({metric}{{{where}}}[24h]))"


GLANCE: tuple[Sized, ...] = (
    stat("Requests", _rate("tidegate_requests_total", _OF), "reqps"),
    stat(
        "Served well",
        f"1 - ({_rate('tidegate_requests_total', _OURS)} or vector(0))"
        f" / {_rate('tidegate_requests_total', _OF)}",
        "percentunit",
        words="Requests that neither an upstream nor the gateway failed.",
        steps=((RED, None), (YELLOW, 0.95), (GREEN, 0.99)),
        decimals=2,
    ),
    stat(
        "First token, p95",
        _quantile(0.95, "tidegate_first_token_seconds", _OF),
        "s",
        steps=((GREEN, None), (YELLOW, 10), (RED, 30)),
    ),
    stat("Open requests", f"sum(tidegate_open_requests{{{_AT}}})"),
    stat("Charged, 24 h", _day("tidegate_cost_usd_total", _MODEL), "currencyUSD"),
    stat("Tokens, 24 h", _day("tidegate_tokens_total", _MODEL)),
    stat(
        "Channels at rest",
        f"count(count by (channel) (tidegate_channel_cooling{{{_CHANNEL}}})) or vector(0)",
        words="Channels that are left alone with a model after failures.",
        steps=((GREEN, None), (YELLOW, 1)),
    ),
    stat(
        "Database",
        f"min(tidegate_database_up{{{_AT}}})",
        steps=((RED, None), (GREEN, 1)),
        mappings=({"type": "value", "options": {"0": {"text": "away"}, "1": {"text": "up"}}},),
    ),
    stat(
        "Rows lost, 24 h",
        _day("tidegate_rows_lost_total", _AT),
        words="Rows that could be kept neither in the database nor on the disk.",
        steps=((GREEN, None), (RED, 1)),
    ),
    stat("Held", f"sum(tidegate_held_usd{{{_AT}}})", "currencyUSD", words="Money that open requests hold."),
    stat("Workers", f"sum(tidegate_workers{{{_AT}}})"),
    stat(
        "Up for",
        f"time() - min(tidegate_start_time_seconds{{{_AT}}})",
        "s",
        words="Since the oldest worker started.",
    ),
)

TRAFFIC: tuple[Sized, ...] = (
    lines(
        "Requests by outcome",
        (_rate("tidegate_requests_total", _OF, "outcome"), "{{outcome}}"),
        unit="reqps",
        stacked=True,
    ),
    lines(
        "Requests by model",
        (f"topk(10, {_rate('tidegate_requests_total', _OF, 'model')})", "{{model}}"),
        unit="reqps",
        stacked=True,
    ),
    lines(
        "Requests by protocol",
        (_rate("tidegate_requests_total", _OF, "protocol"), "{{protocol}}"),
        unit="reqps",
        width=8,
    ),
    lines(
        "Open",
        (f"sum(tidegate_open_requests{{{_AT}}})", "requests"),
        (f"sum(tidegate_open_streams{{{_AT}}})", "streams"),
        width=8,
    ),
    lines(
        "Clients that left",
        (_rate("tidegate_client_disconnects_total", _AT, "sent"), "{{sent}} sent"),
        unit="reqps",
        words="They stopped waiting: before anything was sent to them, or in the midst of an answer.",
        width=8,
    ),
)

ERRORS: tuple[Sized, ...] = (
    lines(
        "Failed requests by kind",
        (
            _rate("tidegate_requests_total", f'{_OF}, failure_kind!="none"', "failure_kind"),
            "{{failure_kind}}",
        ),
        unit="reqps",
        stacked=True,
    ),
    lines(
        "Share of requests that upstreams and gateway failed, by model",
        (
            f"topk(10, {_rate('tidegate_requests_total', _OURS, 'model')}"
            f" / {_rate('tidegate_requests_total', _OF, 'model')})",
            "{{model}}",
        ),
        unit="percentunit",
        most=1,
    ),
    lines(
        "Turned away by a limit",
        (_rate("tidegate_limit_refusals_total", _AT, "limit, owner"), "{{limit}} of the {{owner}}"),
        unit="reqps",
    ),
    lines(
        "Broken off after output had begun",
        (_rate("tidegate_requests_total", f'{_OF}, outcome="interrupted"', "channel"), "{{channel}}"),
        unit="reqps",
    ),
)

LATENCY: tuple[Sized, ...] = (
    lines(
        "Time to the first token",
        *(
            (_quantile(share, "tidegate_first_token_seconds", _OF), f"p{share * 100:g}")
            for share in (0.5, 0.95, 0.99)
        ),
        unit="s",
    ),
    lines(
        "Time to the first token by model, p95",
        (f"topk(10, {_quantile(0.95, 'tidegate_first_token_seconds', _OF, 'le, model')})", "{{model}}"),
        unit="s",
    ),
    lines(
        "Whole requests",
        *(
            (_quantile(share, "tidegate_request_duration_seconds", _OF), f"p{share * 100:g}")
            for share in (0.5, 0.95, 0.99)
        ),
        unit="s",
    ),
    heatmap(
        "Silences between events",
        f"sum by (le) (increase(tidegate_event_gap_seconds_bucket"
        f'{{{_AT}, protocol=~"$protocol"}}[$__rate_interval]))',
        words="How long upstreams were silent between two events of a stream.",
    ),
    lines(
        "Silences between events, p99",
        (
            _quantile(0.99, "tidegate_event_gap_seconds", f'{_AT}, protocol=~"$protocol"', "le, protocol"),
            "{{protocol}}",
        ),
        unit="s",
    ),
    lines(
        "Keepalives",
        (_rate("tidegate_keepalives_total", _AT), "comments"),
        (_rate("tidegate_keepalive_commits_total", _AT), "streams that began with one"),
        unit="ops",
        words="Comments that are written while an upstream is silent.",
    ),
)

MONEY: tuple[Sized, ...] = (
    lines(
        "Tokens by class",
        (_rate("tidegate_tokens_total", _MODEL, "class"), "{{class}}"),
        unit="short",
        stacked=True,
        words="Tokens a second of requests that have ended.",
    ),
    lines(
        "Share of the prompt that came from a cache",
        (
            f"topk(10, {_rate('tidegate_tokens_total', _CACHED, 'model')}"
            f" / {_rate('tidegate_tokens_total', _PROMPT, 'model')})",
            "{{model}}",
        ),
        unit="percentunit",
        most=1,
    ),
    lines(
        "Charged an hour, by model",
        (f"3600 * topk(10, {_rate('tidegate_cost_usd_total', _MODEL, 'model')})", "{{model}}"),
        unit="currencyUSD",
        stacked=True,
    ),
    lines(
        "Paid to upstreams an hour, by channel",
        (f"3600 * topk(10, {_rate('tidegate_upstream_cost_usd_total', _CHANNEL, 'channel')})", "{{channel}}"),
        unit="currencyUSD",
        stacked=True,
        words="Only of channels that have a price.",
    ),
    ranking(
        "Charged in 24 h, by model",
        f"topk(10, {_day('tidegate_cost_usd_total', _MODEL, 'model')})",
        "{{model}}",
        "currencyUSD",
    ),
    lines(
        "Money that open requests hold",
        (f"sum(tidegate_held_usd{{{_AT}}})", "held"),
        (f"sum(tidegate_holds{{{_AT}}})", "requests"),
        unit="short",
    ),
)

CHANNELS: tuple[Sized, ...] = (
    lines(
        "Attempts by channel",
        (_rate("tidegate_attempts_total", _CHANNEL, "channel"), "{{channel}}"),
        unit="reqps",
        stacked=True,
    ),
    lines(
        "Share of attempts that fail",
        (
            f"{_rate('tidegate_attempts_total', _FAILING, 'channel')}"
            f" / {_rate('tidegate_attempts_total', _CHANNEL, 'channel')}",
            "{{channel}}",
        ),
        unit="percentunit",
        most=1,
    ),
    lines(
        "Failed attempts by kind",
        (
            _rate("tidegate_attempts_total", f'{_CHANNEL}, failure_kind!="none"', "channel, failure_kind"),
            "{{channel}}: {{failure_kind}}",
        ),
        unit="reqps",
    ),
    lines(
        "Requests that moved on to another channel",
        (_rate("tidegate_failovers_total", _CHANNEL, "channel"), "away from {{channel}}"),
        unit="reqps",
    ),
    lines(
        "Open requests by channel",
        (f"sum by (channel) (tidegate_channel_open_requests{{{_CHANNEL}}})", "{{channel}}"),
    ),
    lines(
        "Times that a channel was left alone",
        (
            f"sum by (channel) (increase(tidegate_cooldowns_total{{{_CHANNEL}}}[$__rate_interval]))",
            "{{channel}}",
        ),
    ),
    table("At rest now", f"tidegate_channel_cooling{{{_CHANNEL}}}", hidden=("Value",)),
    lines(
        "Connections to upstreams",
        (f"sum by (state) (tidegate_upstream_connections{{{_AT}}})", "{{state}}"),
        stacked=True,
    ),
)

STORAGE: tuple[Sized, ...] = (
    up_and_down(
        "Database and Redis",
        (f"min(tidegate_database_up{{{_AT}}})", "database"),
        (f"min(tidegate_redis_up{{{_AT}}})", "Redis"),
    ),
    lines(
        "Waiting to be written",
        (f"sum(tidegate_journal_queue{{{_AT}}})", "in memory"),
        (f"sum(tidegate_spool_rows{{{_AT}}})", "on the disk"),
        (f"sum(increase(tidegate_rows_lost_total{{{_AT}}}[$__rate_interval]))", "lost"),
    ),
)

PROCESSES: tuple[Sized, ...] = (
    lines(
        "Processor",
        (_rate("tidegate_process_cpu_seconds_total", _AT, "instance"), "{{instance}}"),
        words="Cores in use by all workers of a node.",
        width=8,
    ),
    lines(
        "Memory",
        (f"sum by (instance) (tidegate_process_resident_memory_bytes{{{_AT}}})", "{{instance}}"),
        unit="bytes",
        width=8,
    ),
    lines(
        "Open files",
        (f"sum by (instance) (tidegate_process_open_fds{{{_AT}}})", "{{instance}}"),
        (f"sum by (instance) (tidegate_process_max_fds{{{_AT}}})", "{{instance}}: limit"),
        width=8,
    ),
    lines(
        "Lag of the event loop",
        (_quantile(0.5, "tidegate_event_loop_lag_seconds", _AT, "le, instance"), "{{instance}} p50"),
        (_quantile(0.99, "tidegate_event_loop_lag_seconds", _AT, "le, instance"), "{{instance}} p99"),
        unit="s",
        words="How late an event may reach a caller because the worker is busy.",
    ),
    table("Versions", f"tidegate_build_info{{{_AT}}}", hidden=("Value",), words="One line for each node."),
    lines(
        "Labels that found no room",
        (f"sum by (metric) (tidegate_metrics_overflow_total{{{_AT}}})", "{{metric}}"),
        words="Above 0: figures of that name count new models or channels as `other`.",
    ),
    lines(
        "Dropped",
        (f"sum(increase(tidegate_spans_dropped_total{{{_AT}}}[$__rate_interval]))", "traces"),
        (f"sum(increase(tidegate_contents_dropped_total{{{_AT}}}[$__rate_interval]))", "contents"),
        words="Requests whose spans no collector took, and contents that could not be kept.",
    ),
    lines(
        "Workers",
        (f"sum by (instance) (tidegate_workers{{{_AT}}})", "{{instance}}"),
        (
            f"sum by (instance) (increase(tidegate_worker_deaths_total{{{_AT}}}[$__rate_interval]))",
            "{{instance}}: died",
        ),
    ),
)

ROWS: tuple[tuple[str, tuple[Sized, ...]], ...] = (
    ("At a glance", GLANCE),
    ("Traffic", TRAFFIC),
    ("Errors", ERRORS),
    ("Latency", LATENCY),
    ("Tokens and money", MONEY),
    ("Channels", CHANNELS),
    ("Storage", STORAGE),
    ("Processes", PROCESSES),
)
