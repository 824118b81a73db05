"""A month of requests as a gateway of some size has them, quickly written into a database."""

import json
import math
import random
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
from msgspec import Struct

from tidegate.storage import rows
from tidegate.storage.booking import POSTINGS
from tidegate.storage.database import Database
from tidegate.storage.migrate import bring_up_to_date

DAYS = 30
_DAY = 86_400
ACCOUNTS = tuple(f"customer-{number:02}" for number in range(12))
KEYS = tuple((f"key-{number:02}", ACCOUNTS[number % len(ACCOUNTS)]) for number in range(60))
RARE_KEY = "key-59"
RARE_MODEL = "trial"
RARE_CHANNEL = "spare"
_MODELS = (
    ("sonnet", "messages", ("anthropic-a", "anthropic-b"), 30),
    ("haiku", "messages", ("anthropic-a", "anthropic-b"), 25),
    ("opus", "messages", ("anthropic-a",), 5),
    ("gpt-large", "responses", ("openai-a", "openai-b"), 12),
    ("gpt-small", "chat", ("openai-a", "openai-b"), 15),
    ("open-weights", "chat", ("own-machines",), 8),
    ("coder", "chat", ("own-machines", "openai-b"), 5),
    (RARE_MODEL, "chat", ("own-machines",), 0.005),
)
_MAIN = 0.95
_ENDINGS = (
    ("completed", 200, 95.0),
    ("incomplete", 200, 1.2),
    ("failed", 502, 1.0),
    ("failed", 429, 0.6),
    ("client_closed", 200, 1.0),
    ("interrupted", 200, 0.15),
    ("rejected", 401, 0.8),
    ("rejected", 429, 0.2),
    ("rejected", 418, 0.005),
)


class Row(Struct, frozen=True):
    """The values of a request's row, and of the posting that it left; None: it cost nothing."""

    request: tuple[object, ...]
    posting: tuple[object, ...] | None


def history(count: int, now: float, seed: int = 1) -> Iterator[Row]:
    """So many rows over the last DAYS before `now` (Unix seconds), in the order of their ends."""
    chance = random.Random(seed)
    weights = [1 / (number + 1) for number in range(len(KEYS))]
    weights[-1] = 0.0003
    owners = chance.choices(range(len(KEYS)), weights, k=count)
    models = chance.choices(_MODELS, [model[3] for model in _MODELS], k=count)
    endings = chance.choices(_ENDINGS, [ending[2] for ending in _ENDINGS], k=count)
    for number, at in enumerate(_times(count, now, chance)):
        owner = owners[number]
        # Most keys have one model that they use nearly always.
        model = models[owner * 7] if chance.random() < _MAIN else models[number]
        if models[number][0] == RARE_MODEL:
            model = models[number]
        yield _row(number, at, KEYS[owner], model, endings[number], chance)


def _times(count: int, now: float, chance: random.Random) -> list[float]:
    """More by day than by night, fewer at weekends."""
    start = now - DAYS * _DAY
    hours = [
        (1.1 + math.sin((hour % 24 - 9) / 24 * 2 * math.pi)) * (0.4 if hour // 24 % 7 > 4 else 1.0)
        for hour in range(DAYS * 24)
    ]
    chosen = chance.choices(range(DAYS * 24), hours, k=count)
    return sorted(start + hour * 3_600 + chance.random() * 3_600 for hour in chosen)


def _row(
    number: int,
    at: float,
    key: tuple[str, str],
    model: tuple[str, str, tuple[str, ...], float],
    ending: tuple[str, int, float],
    chance: random.Random,
) -> Row:
    outcome, status, _ = ending
    name, protocol, channels, _ = model
    spoken = outcome in ("completed", "incomplete", "client_closed", "interrupted")
    channel = channels[0] if chance.random() < 0.8 else channels[-1]
    first = min(chance.lognormvariate(6.3, 0.7), 200_000.0) if spoken else None
    tokens = int(chance.lognormvariate(7, 1.2)), int(chance.lognormvariate(5.5, 1)) if spoken else 0
    tried = [] if outcome == "rejected" else [_attempt(channel, name, at, spoken=spoken)]
    if spoken and chance.random() < 0.02:
        tried.insert(
            0, _attempt(RARE_CHANNEL if chance.random() < 0.01 else channels[0], name, at, spoken=False)
        )
    cost = tokens[0] * 3_000 + tokens[1] * 15_000 if spoken else 0
    created_at = round(at * 1_000_000)
    identifier = f"req_{created_at // 1000:011x}{chance.getrandbits(40):010x}{number & 0xFFFFFF:06x}"
    known = status != 401
    wrong = (None, None, None) if spoken else ("api_error", "upstream_failed", "The upstream failed.")
    values = {
        "id": identifier,
        "created_at": created_at,
        "key": key[0] if known else None,
        "account": key[1] if known else None,
        "protocol": protocol,
        "stream": chance.random() < 0.8,
        "model": name,
        "channel": channel if tried else None,
        "status": status,
        "outcome": outcome,
        "finish_reason": "stop" if spoken else None,
        "first_token_ms": first,
        "duration_ms": (first or 5.0) * 6,
        "input_tokens": tokens[0] if tried else 0,
        "cache_read_tokens": tokens[0] // 3 if tried else 0,
        "cache_write_tokens": 0,
        "output_tokens": tokens[1],
        "usage_source": "upstream" if spoken else "none",
        "error_type": wrong[0],
        "error_code": wrong[1],
        "error_message": wrong[2],
        "warnings": "[]",
        "attempts": f"[{','.join(tried)}]",
        "cost": cost,
        "items": "[]",
    }
    posting = (
        (identifier, "settle", key[1], key[0], "held", "income", cost, created_at, None) if cost else None
    )
    return Row(tuple(values.get(column) for column in rows.COLUMNS), posting)


def _attempt(channel: str, model: str, at: float, *, spoken: bool) -> str:
    return json.dumps(
        {
            "channel": channel,
            "upstream_model": f"{model}-2026",
            "status": 200 if spoken else 502,
            "outcome": "served" if spoken else "failed",
            "error": None if spoken else "the upstream failed",
            "started_at": at,
            "duration_ms": 1234.5,
            "upstream_cost": None,
        }
    )


def fill(url: str, count: int, now: float) -> None:
    """Make the tables if need be, and write the rows with their postings in one go."""
    database = Database(url)
    bring_up_to_date(database)
    if database.path is not None:
        _fill_file(str(database.path), history(count, now))
    else:
        _fill_server(url, history(count, now))
    database.close()


def _fill_file(path: str, found: Iterator[Row]) -> None:
    columns = ",".join(f'"{column}"' for column in rows.COLUMNS)
    marks = ",".join("?" * len(rows.COLUMNS))
    with sqlite3.connect(path) as driver:
        driver.execute("PRAGMA synchronous=OFF")
        postings: list[tuple[object, ...]] = []

        def requests() -> Iterator[tuple[object, ...]]:
            for row in found:
                if row.posting is not None:
                    postings.append(row.posting)
                yield row.request

        driver.executemany(f"INSERT INTO requests ({columns}) VALUES ({marks})", requests())
        names = ",".join(f'"{column}"' for column in POSTINGS)
        driver.executemany(f"INSERT INTO postings ({names}) VALUES (?,?,?,?,?,?,?,?,?)", postings)
    driver.close()


def _fill_server(url: str, found: Iterator[Row]) -> None:
    with psycopg.connect(url) as driver, driver.cursor() as cursor:
        postings: list[tuple[object, ...]] = []
        columns = ",".join(f'"{column}"' for column in rows.COLUMNS)
        with cursor.copy(f"COPY requests ({columns}) FROM STDIN") as copy:
            for row in found:
                copy.write_row(row.request)
                if row.posting is not None:
                    postings.append(row.posting)
        names = ",".join(f'"{column}"' for column in POSTINGS)
        with cursor.copy(f"COPY postings ({names}) FROM STDIN") as copy:
            for posting in postings:
                copy.write_row(posting)
        driver.commit()
        driver.autocommit = True
        cursor.execute("ANALYZE")  # as autovacuum does a minute later


def utc(at: float) -> str:
    """Unix seconds as the admin API reads them."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
