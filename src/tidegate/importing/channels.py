"""Puts deployments together into channels, and what is told of models into models."""

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import TypeAlias

from msgspec import Struct

from tidegate.importing.addresses import Address
from tidegate.importing.deployments import Deployment
from tidegate.importing.notes import Notes
from tidegate.importing.toml_text import Plain

Table: TypeAlias = dict[str, Plain]
_MOST_WEIGHT = 1_000_000
_FRACTIONS = 1000
_SHOWN = 60
_FEW = 5


class _Place(Struct, frozen=True):
    """What deployments must have in common to be one channel."""

    address: Address
    headers: tuple[tuple[str, str], ...]
    priority: int
    weight: int

    @property
    def account(self) -> tuple[object, ...]:
        """What deployments of one upstream account have in common."""
        return self.address, self.headers


def channel_tables(deployments: Iterable[Deployment], notes: Notes) -> list[Table]:
    """A channel for each upstream account, and more of them where weight, priority or names demand it."""
    told = list(deployments)
    weights = _weights(told, notes)
    channels: list[tuple[_Place, dict[str, str]]] = []
    for deployment, weight in zip(told, weights, strict=True):
        place = _Place(deployment.address, deployment.headers, deployment.priority, weight)
        _put(channels, place, deployment, notes)
    names = _names([place for place, _ in channels])
    groups = _groups([place for place, _ in channels], names)
    return [
        _table(name, place, models, group)
        for name, (place, models), group in zip(names, channels, groups, strict=True)
    ]


def _put(
    channels: list[tuple[_Place, dict[str, str]]], place: _Place, deployment: Deployment, notes: Notes
) -> None:
    for known, models in channels:
        if known == place:
            asked = models.get(deployment.public)
            if asked is None:
                models[deployment.public] = deployment.upstream
                return
            if asked == deployment.upstream:
                notes.change(deployment.path, "is the same as one before it, so it is one channel")
                return
    channels.append((place, {deployment.public: deployment.upstream}))


def _weights(deployments: list[Deployment], notes: Notes) -> list[int]:
    """Whole numbers in the proportions that are told; where a model has one deployment they say nothing."""
    groups: dict[tuple[str, int], list[Deployment]] = {}
    for one in deployments:
        groups.setdefault((one.public, one.priority), []).append(one)
    scaled: dict[int, int] = {}
    for group in groups.values():
        told = _telling(group)
        if len(group) == 1 or told is None:
            scaled |= {id(one): 1 for one in group}
            continue
        if None in told:
            silent = group[told.index(None)]
            notes.change(silent.path, "has no weight, though others of its model do: it gets 1")
        scaled |= {id(one): weight for one, weight in zip(group, _scaled(told), strict=True)}
    return [scaled[id(one)] for one in deployments]


def _telling(group: list[Deployment]) -> list[Decimal | None] | None:
    """The first of weight, rpm and tpm that any of them has."""
    columns = (list(column) for column in zip(*(one.weights for one in group), strict=True))
    return next((column for column in columns if any(column)), None)


def _scaled(told: list[Decimal | None]) -> list[int]:
    values = [Decimal(1) if value is None else value for value in told]
    if any(value != int(value) for value in values):
        values = [value * _FRACTIONS for value in values]
    whole = [max(1, int(value)) for value in values]
    divisor = math.gcd(*whole)
    largest = max(whole) // divisor
    if largest > _MOST_WEIGHT:
        return [max(1, one // divisor * _MOST_WEIGHT // largest) for one in whole]
    return [one // divisor for one in whole]


def _names(places: list[_Place]) -> list[str]:
    """The provider's name, numbered where there are several."""
    seen: dict[str, int] = {}
    names = []
    for place in places:
        stem = place.address.provider.replace("_", "-")
        seen[stem] = number = seen.get(stem, 0) + 1
        names.append(stem if number == 1 else f"{stem}-{number}")
    return names


def _groups(places: list[_Place], names: list[str]) -> list[str | None]:
    """Channels of one account keep each other's reasoning and stored responses; None where one is alone."""
    firsts: dict[tuple[object, ...], str] = {}
    counts: dict[tuple[object, ...], int] = {}
    for place, name in zip(places, names, strict=True):
        firsts.setdefault(place.account, name)
        counts[place.account] = counts.get(place.account, 0) + 1
    return [firsts[place.account] if counts[place.account] > 1 else None for place in places]


def _table(name: str, place: _Place, models: dict[str, str], group: str | None) -> Table:
    table: Table = {
        "name": name,
        "protocol": place.address.protocol.value,
        "base_url": place.address.base_url,
    }
    if place.address.api_key:
        table["api_key"] = place.address.api_key
    table["models"] = list(models) if all(a == b for a, b in models.items()) else models
    if place.priority:
        table["priority"] = place.priority
    if place.weight != 1:
        table["weight"] = place.weight
    if place.headers:
        table["headers"] = dict(place.headers)
    if group is not None and group != name:
        table["group"] = group
    return table


def model_tables(deployments: Iterable[Deployment], notes: Notes) -> list[Table]:
    """What is set for each public name; where its deployments differ, the first that tells counts."""
    groups: dict[str, list[Deployment]] = {}
    for one in deployments:
        groups.setdefault(one.public, []).append(one)
    tables = []
    for public, group in groups.items():
        table: Table = {"name": public}
        for name in ("first_event_timeout", "idle_timeout", "max_output_tokens"):
            told = [value for one in group if (value := getattr(one, name)) is not None]
            if told:
                table[name] = duration(told[0]) if isinstance(told[0], Decimal) else told[0]
                _differing(public, name, told, group, notes)
        prices = [one.pricing for one in group if one.pricing is not None]
        if prices:
            table |= prices[0].settings()
            _differing(public, "cost", [price.settings() for price in prices], group, notes)
        if len(table) > 1:
            tables.append(table)
    priced = {table["name"] for table in tables if "price" in table}
    _free([public for public in groups if public not in priced], notes)
    return tables


def _free(models: list[str], notes: Notes) -> None:
    """LiteLLM knows prices that no config tells."""
    if models:
        shown = ", ".join(repr(name[:_SHOWN]) for name in models[:_FEW])
        more = f" and {len(models) - _FEW} more" if len(models) > _FEW else ""
        notes.leave(
            "(LiteLLM's own list of prices)", f"{shown}{more} cost nothing until [[models]] has a price"
        )


def _differing(public: str, what: str, told: list[object], group: list[Deployment], notes: Notes) -> None:
    if any(one != told[0] for one in told):
        message = (
            f"the deployments of {public[:_SHOWN]!r} differ in {what.replace('_', ' ')}: the first counts"
        )
        notes.change(group[0].path, message)


def duration(seconds: Decimal) -> str:
    """Seconds as a config has them."""
    milliseconds = int(seconds * 1000)
    return f"{milliseconds // 1000}s" if milliseconds % 1000 == 0 else f"{milliseconds}ms"
