"""Counts what finished requests tell, for a few microseconds each."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from tidegate.core.failure import Kind
from tidegate.exchange.ports import AttemptRecord, RequestRecord
from tidegate.observe import figures
from tidegate.observe.counts import NONE, Cell, Counts, Series
from tidegate.routing.catalog import Catalog

UNKNOWN = "unknown"
"""The label of models that no channel serves: callers can make up any name."""

_CLOSED_UNSENT = 499
_LONGEST_NAME = 256
_MOST_NAMES = 4_096


class ModelLabels:
    """The configured name or pattern that stands for a caller's model name."""

    def __init__(self, catalog: Callable[[], Catalog]) -> None:
        """`catalog` gives the one in force."""
        self._newest = catalog
        self._catalog: Catalog | None = None
        self._known: dict[str | None, str] = {}

    def of(self, model: str | None) -> str:
        """The label; a name that the caller chose never is one by itself."""
        catalog = self._newest()
        if catalog is not self._catalog or len(self._known) > _MOST_NAMES:
            self._catalog, self._known = catalog, {None: NONE}
        label = self._known.get(model)
        if label is None:
            label = UNKNOWN if model is None or not catalog.known(model) else catalog.model(model).name
            if model is not None and len(model) <= _LONGEST_NAME:
                self._known[model] = label
        return label


class _Lane(Struct, frozen=True):
    """The cells that every request of one protocol and model adds to."""

    duration: Cell
    first_token: Cell
    input: Cell
    cache_read: Cell
    cache_write: Cell
    output: Cell
    cost: Cell


class Traffic:
    """The figures of finished requests in one process."""

    def __init__(self, labels: ModelLabels, earlier: Counts) -> None:
        """`earlier` is what this process goes on from."""
        self._labels = labels
        self._requests = Series(figures.REQUESTS)
        self._attempts = Series(figures.ATTEMPTS)
        self._failovers = Series(figures.FAILOVERS)
        self._tokens = Series(figures.TOKENS)
        self._cost = Series(figures.COST)
        self._upstream_cost = Series(figures.UPSTREAM_COST)
        self._first_token = Series(figures.FIRST_TOKEN)
        self._duration = Series(figures.DURATION)
        self._disconnects = Series(figures.DISCONNECTS)
        self._lanes: dict[tuple[str, str], _Lane] = {}
        self.series = (
            *(self._requests, self._attempts, self._failovers, self._tokens, self._cost),
            *(self._upstream_cost, self._first_token, self._duration, self._disconnects),
        )
        for one in self.series:
            one.begin_with(earlier)
        for sent in ("nothing", "something"):
            self._disconnects.cell((sent,))

    def ended(self, record: RequestRecord, kind: Kind | None) -> None:
        """A request has ended; `kind` is why it failed, if it did."""
        model = self._labels.of(record.model)
        why = NONE if kind is None else kind.value
        labels = (record.protocol, model, record.channel or NONE, record.outcome, why)
        self._requests.cell(labels)[0] += 1
        lane = self._lanes.get(labels[:2]) or self._lane(record.protocol, model)
        duration = int(record.duration_ms * 1000)
        lane.duration[0] += duration
        lane.duration[bisect_left(self._duration.limits, duration) + 1] += 1
        if record.first_token_ms is not None:
            first = int(record.first_token_ms * 1000)
            lane.first_token[0] += first
            lane.first_token[bisect_left(self._first_token.limits, first) + 1] += 1
        lane.input[0] += record.input_tokens
        lane.output[0] += record.output_tokens
        if record.cache_read_tokens or record.cache_write_tokens:
            lane.cache_read[0] += record.cache_read_tokens
            lane.cache_write[0] += record.cache_write_tokens
        if record.cost:
            lane.cost[0] += record.cost
        if record.outcome == "client_closed":
            self._disconnects.add(("nothing" if record.status == _CLOSED_UNSENT else "something",))
        self._add_attempts(record.attempts)

    def _add_attempts(self, attempts: Sequence[AttemptRecord]) -> None:
        for attempt in attempts:
            labels = (attempt.channel, attempt.outcome, attempt.failure_kind or NONE)
            self._attempts.cell(labels)[0] += 1
            if attempt.upstream_cost:
                self._upstream_cost.add((attempt.channel,), attempt.upstream_cost)
        if len(attempts) > 1:
            for left, taken in pairwise(attempts):
                if left.channel != taken.channel:
                    self._failovers.add((left.channel,))

    def _lane(self, protocol: str, model: str) -> _Lane:
        if len(self._lanes) > _MOST_NAMES:
            self._lanes.clear()
        self._lanes[protocol, model] = lane = _Lane(
            duration=self._duration.cell((protocol, model)),
            first_token=self._first_token.cell((protocol, model)),
            input=self._tokens.cell((model, "input")),
            cache_read=self._tokens.cell((model, "cache_read")),
            cache_write=self._tokens.cell((model, "cache_write")),
            output=self._tokens.cell((model, "output")),
            cost=self._cost.cell((model,)),
        )
        return lane
