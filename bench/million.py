"""A million requests in the database: how long each page of the console waits for the admin API."""

import http.client
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from bench.databases import servers
from bench.gateway import ADMIN
from bench.history import ACCOUNTS, DAYS, KEYS, RARE_CHANNEL, RARE_KEY, RARE_MODEL, fill, utc
from bench.process import NotStarted, Process, free_port
from tidegate.storage.database import Database, DatabaseUnusable
from tidegate.storage.figure_keeper import PAUSE, FigureKeeper
from tidegate.storage.uncounted import known

ROWS = 1_000_000
GOAL_MS = 300.0
_TRIES = 60
_TIMES = 12
"""How often each question is asked, each time a little different: an overview is shared for a second."""
_ROOT = Path(__file__).parent.parent
_HOUR, _DAY = 3_600, 86_400
_SECRET = "benchmark-secret-0123456789-0123456789-abcdef"
_GROUPS = (None, "model", "channel", "key", "account", "protocol")

Ask = Callable[[int], str]
"""The path of a question, for its nth time."""


class Waits(Struct, frozen=True):
    """Milliseconds until the answer was there whole."""

    p50: float
    p95: float
    worst: float


def run(folder: Path, core: int, load_core: int, rows: int = ROWS) -> Mapping[str, Mapping[str, Waits]]:
    """By database and question. A PostgreSQL that is not installed is left out."""
    found = {"SQLite": _measured(f"sqlite:///{folder}/million.db", folder, core, rows)}
    try:
        with servers(load_core) as running:
            found["PostgreSQL"] = _measured(running.database_url, folder, core, rows)
    except NotStarted as reason:
        print(f"    PostgreSQL: {reason}", file=sys.stderr)
    return found


def report(found: Mapping[str, Mapping[str, Waits]]) -> str:
    """A table of milliseconds."""
    kinds = list(found)
    lines = [
        "| question | " + " | ".join(f"{kind} p50 / p95 / max, ms" for kind in kinds) + " |",
        "| --- " * (len(kinds) + 1) + "|",
    ]
    for question in found[kinds[0]]:
        waits = [found[kind][question] for kind in kinds]
        cells = [f"{one.p50:.0f} / {one.p95:.0f} / {one.worst:.0f}" for one in waits]
        lines.append(f"| {question} | " + " | ".join(cells) + " |")
    slow = [
        f"{kind}: {question}"
        for kind, questions in found.items()
        for question, waits in questions.items()
        if waits.p95 > GOAL_MS
    ]
    verdict = f"NOT REACHED by {', '.join(slow)}" if slow else "reached"
    return "\n".join([*lines, "", f"Every question's p95 below {GOAL_MS:.0f} ms: {verdict}"])


def _measured(url: str, folder: Path, core: int, rows: int) -> dict[str, Waits]:
    now = time.time()
    _wait_ready(url)
    _timed(f"{rows} rows written", lambda: fill(url, rows, now))
    _timed("rows added up", lambda: _count(url))
    with ExitStack() as stack:
        port = _start(url, folder, core, stack)
        some = _ids(port)
        return {name: _waits(port, ask) for name, ask in _questions(now, some)}


def _wait_ready(url: str) -> None:
    """A server listens before it answers."""
    database = Database(url)
    for _ in range(_TRIES):
        with suppress(DatabaseUnusable):
            database.prepare()
            break
        time.sleep(0.5)
    database.close()


def _timed(what: str, work: Callable[[], None]) -> None:
    began = time.monotonic()
    work()
    print(f"    {what} in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def _count(url: str) -> None:
    """What a gateway does in the background, without its pauses, and as if the first minute were over."""
    database = Database(url)
    keeper = FigureKeeper(database, lambda: time.time() + 61)
    while keeper.work() <= PAUSE or _is_left(database):
        pass
    keeper.close()
    database.close()


def _is_left(database: Database) -> bool:
    with database.connect_reader() as connection:
        return bool(known(connection).progress.backlog)


def _start(url: str, folder: Path, core: int, stack: ExitStack) -> int:
    port, config, log = free_port(), folder / "million.toml", folder / "million.log"
    lines = ["[server]", f"port = {port}", f'secret = "{_SECRET}"', "[database]", f'url = "{url}"']
    lines += ["[admin]", f'token = "{ADMIN}"']
    lines += ["[[channels]]", 'name = "nowhere"', 'protocol = "chat"', 'base_url = "http://127.0.0.1:9/v1"']
    lines += ['api_key = "sk-upstream"', 'models = ["sonnet"]']
    for account in ACCOUNTS:
        lines += ["[[accounts]]", f'name = "{account}"', 'balance = "1000"']
    for name, account in KEYS:
        lines += [
            "[[keys]]",
            f'name = "{name}"',
            f'account = "{account}"',
            f'key = "sk-tg-{name}-0123456789"',
        ]
    config.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "tidegate", "serve", "--config", str(config)]
    gateway = Process(command, core, log, {"PYTHONPATH": str(_ROOT / "src")})
    stack.callback(gateway.end)
    gateway.wait_until(lambda: b"listening on" in log.read_bytes(), 60)
    return port


def _ids(port: int) -> list[str]:
    """Ids of requests of some days ago."""
    page = _get(port, f"requests?limit={_TIMES}&until={utc(time.time() - 9 * _DAY)}")
    return [row["id"] for row in msgspec.json.decode(page)["data"]]


def _questions(now: float, ids: Sequence[str]) -> Iterator[tuple[str, Ask]]:
    for label, seconds in (("1 h", _HOUR), ("24 h", _DAY), ("7 d", 7 * _DAY), ("30 d", DAYS * _DAY)):
        for group in _GROUPS:
            yield f"overview, {label}, by {group or 'nothing'}", _overview(now, seconds, group_by=group)
    chosen = {"model": "sonnet", "channel": "openai-a", "key": "key-03", "account": ACCOUNTS[0]}
    for name, value in chosen.items():
        yield f"overview, 30 d, one {name}", _overview(now, DAYS * _DAY, **{name: value})
    yield "requests, newest", lambda time: f"requests?limit={50 + time}"
    for name, filters in _filters(now):
        yield f"requests, {name}", _rows(**filters)
    yield "requests, a page half a million rows deep", lambda time: f"requests?before={ids[time]}&limit={50}"
    yield "requests, whole id", lambda time: f"requests?id={ids[time]}"
    yield "requests, 8 digits of an id", lambda time: f"requests?id={ids[time][4:12]}"
    yield "requests, 4 digits of an id", lambda time: f"requests?id={ids[time][4:8]}&limit={50 + time}"
    yield "one request", lambda time: f"requests/{ids[time]}"
    yield "ledger, one account", lambda time: f"ledger?account={ACCOUNTS[0]}&limit={50 + time}"
    for name in ("keys", "accounts", "ledger", "audit"):
        yield name, partial(_list, name)
    yield "health", lambda _: "health"


def _list(name: str, time: int) -> str:
    return f"{name}?limit={100 + time}"


def _filters(now: float) -> Iterator[tuple[str, Mapping[str, object]]]:
    ago = {"since": utc(now - 10 * _DAY), "until": utc(now - 9 * _DAY)}
    yield "a model", {"model": "sonnet"}
    yield "a rare model", {"model": RARE_MODEL}
    yield "a model that is not there", {"model": "none"}
    yield "a channel", {"channel": "openai-a"}
    yield "a channel that served none", {"channel": RARE_CHANNEL}
    yield "a key", {"key": "key-03"}
    yield "a rare key", {"key": RARE_KEY}
    yield "an account", {"account": ACCOUNTS[3]}
    yield "failed", {"outcome": "failed"}
    yield "interrupted", {"outcome": "interrupted"}
    yield "a protocol", {"protocol": "responses"}
    yield "no streams", {"stream": "false"}
    yield "status 429", {"status": 429}
    yield "a rare status", {"status": 418}
    yield "a day", ago
    yield "failed on a day", {"outcome": "failed", **ago}
    yield "a model on a day", {"model": "gpt-small", **ago}
    weeks = {"since": utc(now - 25 * _DAY), "until": utc(now - 5 * _DAY)}
    yield "a rare model in 20 days", {"model": RARE_MODEL, **weeks}
    yield "interrupted of a key", {"key": "key-00", "outcome": "interrupted"}
    yield "a rare model of an account", {"account": ACCOUNTS[0], "model": RARE_MODEL}


def _overview(now: float, seconds: int, **more: object) -> Ask:
    def ask(time: int) -> str:
        step = max(60, seconds // 150) * time
        given = {"since": utc(now - seconds - step), "until": utc(now - step), **more}
        return "overview?" + urlencode({name: value for name, value in given.items() if value is not None})

    return ask


def _rows(**filters: object) -> Ask:
    return lambda time: "requests?" + urlencode({"limit": 50 + time, **filters})


def _waits(port: int, ask: Ask) -> Waits:
    _get(port, ask(0))
    waits = []
    for time_ in range(_TIMES):
        began = time.perf_counter()
        _get(port, ask(time_))
        waits.append((time.perf_counter() - began) * 1_000)
    return Waits(statistics.median(waits), sorted(waits)[int(0.95 * (_TIMES - 1))], max(waits))


def _get(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", f"/admin/v1/{path}", headers={"authorization": f"Bearer {ADMIN}"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != http.client.OK:
        raise RuntimeError(f"{path}: {answer.status} {body[:200]!r}")
    return body
