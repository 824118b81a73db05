"""Which channels are tried in which order, with the reason for each."""

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.routing.breaker import Cooling, Health, MayProbe, Probed, Ready
from tidegate.routing.catalog import Candidate, Channel, Duty

_ACTIVE = Duty.ACTIVE
_DRAINS = "draining: it takes only what can go nowhere else"


class Attempt(Struct, frozen=True):
    """A channel to try, and why it stands where it stands."""

    candidate: Candidate
    why: str


class Skipped(Struct, frozen=True):
    """A channel that is left out. `until` is when it may be tried again, None where no time is known."""

    candidate: Candidate
    why: str
    until: float | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """What to try, in order, and what is left out."""

    attempts: tuple[Attempt, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def available_at(self) -> float | None:
        """The earliest time at which a skipped channel may be tried again, None where none is known."""
        return min((skip.until for skip in self.skipped if skip.until is not None), default=None)


def order(
    candidates: Iterable[Candidate],
    health: Health,
    now: float,
    draw: Callable[[], float],
    *,
    prefer_group: str | None = None,
    only_group: str | None = None,
    prefer_protocol: Protocol | None = None,
) -> Plan:
    """Higher priorities first, by weighted chance among equals; `draw` gives numbers from 0 to below 1.

    Channels of `prefer_group` come before all others, whatever their priority. With `only_group` no channel
    of another group is tried: what the request builds on exists only there. Of one priority those come first
    that speak `prefer_protocol`: what needs no conversion loses nothing. A channel that drains is tried only
    for what is bound to its group, if no other of that group can take it.
    """
    usable: list[Attempt] = []
    skipped: list[Skipped] = []
    given, bound_to = tuple(candidates), only_group or prefer_group
    on_duty = _on_duty(given, bound_to, skipped)
    for candidate in on_duty:
        match _judge(candidate, health, now, only_group):
            case Attempt() as attempt:
                usable.append(attempt)
            case Skipped() as skip:
                skipped.append(skip)
    if on_duty is not given:
        usable = _last_resorts(usable, bound_to, skipped)
    if len(usable) < 2 and prefer_group is None:
        return Plan(attempts=tuple(usable), skipped=tuple(skipped))
    ordered: list[Attempt] = []
    for tier in _tiers(usable, prefer_group, prefer_protocol):
        ordered.extend(_shuffled(tier, draw))
    return Plan(attempts=tuple(ordered), skipped=tuple(skipped))


def _on_duty(
    candidates: tuple[Candidate, ...], bound_to: str | None, skipped: list[Skipped]
) -> tuple[Candidate, ...]:
    """Those that the operator lets take this request, which may be bound to a group."""
    for candidate in candidates:
        if candidate.channel.duty is not _ACTIVE:
            break
    else:
        return candidates
    kept: list[Candidate] = []
    for candidate in candidates:
        match candidate.channel.duty:
            case Duty.ACTIVE:
                kept.append(candidate)
            case Duty.PAUSED:
                skipped.append(Skipped(candidate, "paused by the operator"))
            case Duty.DRAINING if _group(candidate.channel) == bound_to:
                kept.append(candidate)
            case Duty.DRAINING:
                skipped.append(Skipped(candidate, _DRAINS))
    return tuple(kept)


def _last_resorts(usable: list[Attempt], bound_to: str | None, skipped: list[Skipped]) -> list[Attempt]:
    """Draining channels only where no other of the group that the request is bound to can take it."""
    draining = [one for one in usable if one.candidate.channel.duty is Duty.DRAINING]
    others = [one for one in usable if one.candidate.channel.duty is not Duty.DRAINING]
    if not any(_group(one.candidate.channel) == bound_to for one in others):
        return usable
    skipped += [Skipped(one.candidate, _DRAINS) for one in draining]
    return others


def _judge(candidate: Candidate, health: Health, now: float, only_group: str | None) -> Attempt | Skipped:
    channel = candidate.channel
    if only_group is not None and _group(channel) != only_group:
        return Skipped(candidate, f"the request builds on what only group {only_group} holds")
    place = f"priority {channel.priority}, weight {channel.weight}"
    match health.standing(channel.name, candidate.upstream_model, now):
        case Ready():
            return Attempt(candidate, place)
        case MayProbe(why):
            return Attempt(candidate, f"{place}, as the probe after a rest because {why}")
        case Probed(why):
            return Skipped(candidate, f"another request probes it after a rest because {why}")
        case Cooling(until, why):
            return Skipped(candidate, f"left alone because {why}", until)


def _tiers(
    attempts: Sequence[Attempt], prefer_group: str | None, prefer_protocol: Protocol | None
) -> Iterable[list[Attempt]]:
    tiers: dict[tuple[bool, int, bool], list[Attempt]] = {}
    for attempt in attempts:
        channel = attempt.candidate.channel
        preferred = prefer_group is not None and _group(channel) == prefer_group
        native = prefer_protocol is not None and channel.protocol is prefer_protocol
        why = f"{attempt.why}, preferred for group {prefer_group}" if preferred else attempt.why
        why = f"{why}, of the caller's protocol" if native else why
        tiers.setdefault((preferred, channel.priority, native), []).append(Attempt(attempt.candidate, why))
    return (tiers[rank] for rank in sorted(tiers, reverse=True))


def _shuffled(tier: list[Attempt], draw: Callable[[], float]) -> Iterable[Attempt]:
    """Each next one by chance in proportion to its weight among those that are left."""
    left = list(tier)
    while len(left) > 1:
        point = draw() * sum(attempt.candidate.channel.weight for attempt in left)
        yield left.pop(_index_at(left, point))
    yield from left


def _index_at(left: Sequence[Attempt], point: float) -> int:
    for index, attempt in enumerate(left):
        point -= attempt.candidate.channel.weight
        if point < 0:
            return index
    return len(left) - 1  # rounding put the point at the very end


def _group(channel: Channel) -> str:
    return channel.group or channel.name
