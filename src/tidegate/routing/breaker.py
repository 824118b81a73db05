"""The health of each channel with each upstream model: when it is left alone, and who may try it again."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct

LONGEST_RETRY_AFTER = 300.0
"""Seconds; an upstream that asks for more is tried again after this."""
MOST_PAIRS = 4096
"""Upstream model names can be the callers' own, so what is remembered is bounded."""
_LONGEST_NAME = 256

Pair: TypeAlias = tuple[str, str]


class Rules(Struct, frozen=True, kw_only=True):
    """When a channel is left alone. `cooldown` is in seconds; zero means that failures never lead to one."""

    failures_before_cooldown: int = 3
    cooldown: float = 30.0


class Turn(Struct, frozen=True):
    """The right to make one attempt, from `Health.begin`; handed back with what came of it, once."""

    channel: str
    upstream_model: str
    number: int


class Ready(Struct, frozen=True):
    """May be tried by anyone."""


class MayProbe(Struct, frozen=True):
    """The cooldown is over: one request may find out whether the channel works again."""

    why: str


class Probed(Struct, frozen=True):
    """One request is finding that out right now."""

    why: str


class Cooling(Struct, frozen=True):
    """Left alone until a time."""

    until: float
    why: str


Standing: TypeAlias = Ready | MayProbe | Probed | Cooling


class Rested(Struct, frozen=True):
    """A pair is left alone until a time: what this process found out `at` a time, for others."""

    channel: str
    upstream_model: str
    at: float
    until: float
    why: str


class Woke(Struct, frozen=True):
    """A pair works again: what this process found out by a probe that began `at` a time, for others."""

    channel: str
    upstream_model: str
    at: float


Change: TypeAlias = Rested | Woke


class _Count(Struct, frozen=True):
    failures: int
    why: str


class _Open(Struct, frozen=True):
    since: float
    until: float
    why: str


class _HalfOpen(Struct, frozen=True):
    since: float
    probe: int
    why: str


class Health:
    """A small state machine for each (channel name, upstream model). Time is in seconds of any one clock.

    closed -> open after enough failures in a row, or at once when the upstream says when to come back;
    open -> half open when its time is over and a request begins; half open -> closed or open by what that
    request, the probe, finds. What other requests find out while a channel is not closed changes nothing,
    except that an upstream's own wish to be left alone always counts.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._counts: dict[Pair, _Count] = {}
        self._resting: dict[Pair, _Open | _HalfOpen] = {}
        self._changes: dict[Pair, Change] = {}
        self._turns = 0
        self._open: dict[str, int] = {}
        self._begun: dict[str, int] = {}

    def standing(self, channel: str, upstream_model: str, now: float) -> Standing:
        """Whether the pair may be tried at `now`."""
        match self._resting.get(_pair(channel, upstream_model)):
            case None:
                return Ready()
            case _Open(_, until, why):
                return Cooling(until, why) if now < until else MayProbe(why)
            case _HalfOpen(_, _, why):
                return Probed(why)

    def begin(self, channel: str, upstream_model: str, now: float) -> Turn | None:
        """Take a turn; None if the pair came to rest since the plan was made, or another request probes it.

        Each turn must end in exactly one of `succeeded`, `failed` and `released`.
        """
        self._turns += 1
        turn = Turn(channel, upstream_model, self._turns)
        match self.standing(channel, upstream_model, now):
            case Ready():
                pass
            case MayProbe(why):
                self._resting[_pair(channel, upstream_model)] = _HalfOpen(now, turn.number, why)
            case Probed() | Cooling():
                return None
        self._open[channel] = self._open.get(channel, 0) + 1
        return turn

    def open_turns(self) -> dict[str, int]:
        """How many attempts each channel has open in this process; without those that have none."""
        return self._open.copy()

    def rests_begun(self) -> dict[str, int]:
        """How often each channel was left alone with one of its models, by what was found out here."""
        return self._begun

    def cooling(self, now: float) -> Iterator[Pair]:
        """The pairs that are left alone at `now`."""
        for pair, state in self._resting.items():
            if isinstance(state, _Open) and now < state.until:
                yield pair

    def resting(self) -> dict[str, list[str]]:
        """The upstream models of each channel that are not simply ready."""
        found: dict[str, list[str]] = {}
        for channel, model in self._resting:
            found.setdefault(channel, []).append(model)
        return found

    def succeeded(self, turn: Turn) -> None:
        """Something useful came: failures in a row start from zero, a probe ends the rest."""
        self._end(turn)
        pair = _pair(turn.channel, turn.upstream_model)
        state = self._resting.get(pair)
        if isinstance(state, _HalfOpen) and state.probe == turn.number:
            del self._resting[pair]
            self._note(pair, Woke(*pair, state.since))
        self._counts.pop(pair, None)

    def failed(self, turn: Turn, now: float, why: str, retry_after: float | None = None) -> None:
        """The attempt failed by the channel's fault; `retry_after` is the upstream's own wish in seconds."""
        self._end(turn)
        pair = _pair(turn.channel, turn.upstream_model)
        asked = min(max(0.0, retry_after or 0.0), LONGEST_RETRY_AFTER)
        match self._resting.get(pair):
            case None:
                self._count(pair, now, why, asked)
            case _HalfOpen(_, probe, _) if probe == turn.number:
                rest = max(asked, self._rules.cooldown)
                self._rest(pair, now, rest, f"the probe failed: {why}")
            case _Open(_, until, _) if asked and now + asked > until:
                self._rest(pair, now, asked, _asked(why))
            case _HalfOpen() if asked:
                self._rest(pair, now, asked, _asked(why))
            case _Open() | _HalfOpen():
                pass  # already known to be in trouble

    def released(self, turn: Turn, now: float) -> None:
        """Nothing was learnt about the channel: the request's own fault, 409, 425, or the client left."""
        self._end(turn)
        if self._is_probe(turn):
            pair = _pair(turn.channel, turn.upstream_model)
            self._resting[pair] = _Open(now, now, self._resting[pair].why)

    def why(self, channel: str, upstream_model: str, now: float) -> str:
        """How the pair stands and why, in one sentence for the operator."""
        match self.standing(channel, upstream_model, now):
            case Ready():
                count = self._counts.get(_pair(channel, upstream_model))
                return f"in use; {_times(count.failures)}, last: {count.why}" if count else "in use"
            case MayProbe(why):
                return f"the next request may probe it; it was left alone because {why}"
            case Probed(why):
                return f"one request is probing it; it was left alone because {why}"
            case Cooling(until, why):
                return f"left alone for {until - now:.1f} s more because {why}"

    def changes(self) -> list[Change]:
        """What was found out here since the last call, of each pair the newest."""
        found, self._changes = list(self._changes.values()), {}
        return found

    def rest_remotely(self, rested: Rested, now: float) -> None:
        """Another process has found a pair in trouble. A probe of this one no longer decides anything."""
        pair = _pair(rested.channel, rested.upstream_model)
        match self._resting.get(pair):
            case _Open(_, until, _) if until >= rested.until:
                return
            case _Open() | _HalfOpen() | None:
                if rested.until > now:
                    self._leave_alone(pair, _Open(rested.at, rested.until, rested.why))

    def wake_remotely(self, woke: Woke) -> None:
        """Another process has found that a pair works again. What has been found since then counts more."""
        pair = _pair(woke.channel, woke.upstream_model)
        match self._resting.get(pair):
            case _Open(since, _, _) if since > woke.at:
                return
            case _Open() | _HalfOpen() | None:
                self._resting.pop(pair, None)
                self._counts.pop(pair, None)

    def adopt(self, rules: Rules, still_served: Callable[[str, str], bool]) -> None:
        """Take over the rules of a new config; forget pairs for which `still_served` says no."""
        self._rules = rules
        self._counts = {pair: count for pair, count in self._counts.items() if still_served(*pair)}
        self._resting = {pair: state for pair, state in self._resting.items() if still_served(*pair)}

    def _end(self, turn: Turn) -> None:
        left = self._open.get(turn.channel, 1) - 1
        if left:
            self._open[turn.channel] = left
        else:
            self._open.pop(turn.channel, None)

    def _count(self, pair: Pair, now: float, why: str, asked: float) -> None:
        known = self._counts.pop(pair, None)
        failures = known.failures + 1 if known else 1
        if self._rules.cooldown and failures >= self._rules.failures_before_cooldown:
            rest = max(asked, self._rules.cooldown)
            self._rest(pair, now, rest, f"of {_times(failures)}, last: {why}")
        elif asked:
            self._rest(pair, now, asked, _asked(why))
        else:
            _make_room(self._counts)
            self._counts[pair] = _Count(failures, why)

    def _rest(self, pair: Pair, now: float, seconds: float, why: str) -> None:
        self._leave_alone(pair, _Open(now, now + seconds, why))
        self._begun[pair[0]] = self._begun.get(pair[0], 0) + 1
        self._note(pair, Rested(*pair, now, now + seconds, why))

    def _leave_alone(self, pair: Pair, rest: _Open) -> None:
        if pair not in self._resting:
            _make_room(self._resting)
        self._resting[pair] = rest

    def _note(self, pair: Pair, change: Change) -> None:
        self._changes.pop(pair, None)
        _make_room(self._changes)
        self._changes[pair] = change

    def _is_probe(self, turn: Turn) -> bool:
        match self._resting.get(_pair(turn.channel, turn.upstream_model)):
            case _HalfOpen(_, probe, _):
                return probe == turn.number
            case _Open() | None:
                return False


def _pair(channel: str, upstream_model: str) -> Pair:
    return channel, upstream_model[:_LONGEST_NAME]


def _make_room(known: dict[Pair, Any]) -> None:
    """Forget what has not changed for longest when one more would be too many."""
    if len(known) >= MOST_PAIRS:
        del known[next(iter(known))]


def _asked(why: str) -> str:
    return f"the upstream asked for it: {why}"


def _times(failures: int) -> str:
    return f"{failures} failure{'' if failures == 1 else 's'} in a row"
