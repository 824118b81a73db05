"""Looks into the books after a run: that they add up, and that each request was charged, once."""

import os
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import msgspec
from msgspec import Struct

from bench.dialects import INPUT_TOKENS

OPENING = Decimal("1000000.00")
INPUT, OUTPUT = Decimal("3.00"), Decimal("15.00")
"""Prices in USD per million tokens."""
_MILLION = Decimal(1_000_000)
_SECONDS = 60


class _Account(Struct, frozen=True):
    name: str
    balance: Decimal
    held: Decimal


def cost(events: int) -> Decimal:
    """Of one answer with so many events, in USD."""
    return (INPUT_TOKENS * INPUT + events * OUTPUT) / _MILLION


def audit(config: Path, source: Path, due: Decimal) -> str:
    """One sentence on the books of a gateway that is idle; `due` is what its callers owe, in USD."""
    verdict = _tidegate(config, source, "ledger", "verify").strip() or "`tidegate ledger verify` says nothing"
    try:
        accounts = msgspec.json.Decoder(_Account).decode_lines(
            _tidegate(config, source, "accounts", "list", "--json")
        )
    except msgspec.MsgspecError as error:
        return f"{verdict}; the account cannot be read: {error}"
    [account] = [one for one in accounts if one.name == "bench"] or [_Account("bench", OPENING, Decimal(0))]
    charged = OPENING - account.balance
    if charged != due:
        return f"{verdict}; BUT ${charged} was charged for requests that cost ${due}"
    if account.held:
        return f"{verdict}; BUT ${account.held} is still held"
    return f"{verdict}, and each request was charged once (${charged})"


def _tidegate(config: Path, source: Path, *command: str) -> str:
    argv: Sequence[str] = (sys.executable, "-m", "tidegate", *command, "--config", str(config))
    done = subprocess.run(
        argv,
        cwd=config.parent,
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return (
        done.stdout if done.returncode == 0 else f"`tidegate {' '.join(command)}`: {done.stdout}{done.stderr}"
    )
