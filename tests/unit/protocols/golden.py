"""Compares a stream or an answer with a recorded one by the rules of the recordings' README."""

import re
from collections.abc import Callable
from typing import Any

from tests.harness import sse

MODEL = "MODEL_ID"
TIME = 1111111111
_PLACEHOLDER = re.compile(r"\{\{([a-z]+)_(\w+)\}\}")
_PREFIXES = {
    "resp": "resp_",
    "msg": "msg_",
    "rs": "rs_",
    "fc": "fc_",
    "chatcmpl": "chatcmpl-",
    "req": "req_",
    "carrier": "tgr1.",
}


class Difference(AssertionError):
    """What differs, and where."""


class Comparison:
    """One file against another: a placeholder is the same value wherever it stands."""

    def __init__(self) -> None:
        self._bound: dict[str, str] = {}

    def same(self, expected: Any, got: Any, path: str = "$") -> None:
        if isinstance(expected, dict) and isinstance(got, dict):
            left, right = without_nulls(expected), without_nulls(got)
            _check(left.keys() == right.keys(), f"{path}: {sorted(left)} and {sorted(right)}")
            for name in left:
                self.same(left[name], right[name], f"{path}.{name}")
        elif isinstance(expected, list) and isinstance(got, list):
            _check(len(expected) == len(got), f"{path}: {expected} and {got}")
            for index, (one, other) in enumerate(zip(expected, got, strict=True)):
                self.same(one, other, f"{path}[{index}]")
        elif expected == TIME and not isinstance(expected, bool):
            _check(isinstance(got, int), f"{path}: {got!r} is no time")
        elif isinstance(expected, str) and (found := _PLACEHOLDER.fullmatch(expected)):
            self._bind(expected, found.group(1), got, path)
        else:
            _check(expected == got, f"{path}: {expected!r} and {got!r}")

    def _bind(self, placeholder: str, kind: str, got: Any, path: str) -> None:
        _check(isinstance(got, str) and got.startswith(_PREFIXES[kind]), f"{path}: {got!r} is no {kind}")
        if placeholder not in self._bound:
            _check(got not in self._bound.values(), f"{path}: {got!r} stands for two things")
        _check(self._bound.setdefault(placeholder, got) == got, f"{path}: {placeholder} changes to {got!r}")


def without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {name: member for name, member in value.items() if member is not None}


def same_stream(expected: bytes, got: bytes) -> None:
    """The same events in the same order; the usage of `message_start` may be estimated."""
    left, right = sse.read(expected).events, sse.read(got).events
    comparison = Comparison()
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        _check(one.name == other.name, f"event {number}: {one.name} and {other.name}")
        if "[DONE]" in (one.data, other.data):
            _check(one.data == other.data, f"event {number}: {one.data} and {other.data}")
            continue
        comparison.same(_comparable(one.json), _comparable(other.json), f"event {number} ({one.name})")
    _check(len(left) == len(right), f"{len(left)} events and {len(right)}: {[each.data for each in right]}")


def _comparable(read: Callable[[], Any]) -> Any:
    value = read()
    if value.get("type") == "message_start":
        value["message"].pop("usage")
    return value


def _check(holds: bool, difference: str) -> None:
    if not holds:
        raise Difference(difference)
