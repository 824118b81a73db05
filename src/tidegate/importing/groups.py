"""Gives deployments the further names that aliases and fallbacks call them by."""

from collections.abc import Iterator

from msgspec import structs

from tidegate.importing import reasons
from tidegate.importing.deployments import Deployment
from tidegate.importing.members import Members
from tidegate.importing.notes import Notes
from tidegate.importing.yaml_text import Value

_FOR_ALL = "default_fallbacks"
_BELOW_NAMES = 10_000
_STEP = 1000
"""Between the priorities of a model's own deployments and of each fallback."""


def in_order(deployments: list[Deployment], notes: Notes) -> list[Deployment]:
    """Their priorities: a lower order is a higher one, none comes last, a pattern after what it covers."""
    told: dict[str, list[int]] = {}
    for one in deployments:
        if one.order is not None:
            told.setdefault(one.public, []).append(one.order)
    names = frozenset(one.public for one in deployments)
    found = []
    for one in deployments:
        priority = -_BELOW_NAMES * _depth(one.public, names)
        if priority:
            notes.change(one.path, "is also tried where the models with names of their own have failed")
        if one.public in told:
            priority -= max(told[one.public]) + 1 if one.order is None else one.order
        found.append(structs.replace(one, priority=priority))
    return found


def _depth(public: str, names: frozenset[str]) -> int:
    """How many patterns and names are nested in a pattern."""
    if not public.endswith("*"):
        return 0
    inner = (name for name in names if name != public and name.startswith(public[:-1]))
    return max((1 + _depth(name, names) for name in inner), default=0)


def with_aliases(deployments: list[Deployment], router: Members, notes: Notes) -> list[Deployment]:
    """`model_group_alias`: another name for the same deployments."""
    aliases = router.inner("model_group_alias")
    found = list(deployments)
    for alias in aliases.names():
        value = aliases.take(alias)
        if isinstance(value, dict):
            if value.get("hidden"):
                notes.change(aliases.at(alias), "is shown in the list of models, as every name is")
            value = value.get("model")
        named = [one for one in deployments if one.public == value]
        if not named:
            notes.leave(aliases.at(alias), "names no model that could be carried")
            continue
        if alias != value and any(one.public == alias for one in found):
            notes.change(aliases.at(alias), "goes before the model of the same name, which is left out")
            found = [one for one in found if one.public != alias]
        found += [structs.replace(one, public=alias) for one in named if not one.public.endswith("*")]
    return found


def with_fallbacks(
    deployments: list[Deployment], sources: tuple[Members, ...], notes: Notes
) -> list[Deployment]:
    """`fallbacks`: another model's deployments, tried when a model's own have failed."""
    found = list(deployments)
    seen: set[str] = set()
    for path, public, models in _chains(deployments, sources, notes):
        if public in seen:
            if not path.endswith(_FOR_ALL):
                notes.leave(path, f"{public[:60]!r} has a list of fallbacks already: the first counts")
            continue
        seen.add(public)
        whose = "a model" if path.endswith(_FOR_ALL) else repr(public[:60])
        lowest = min(one.priority for one in deployments if one.public == public)
        for place, model in enumerate(models, 1):
            named = [one for one in deployments if one.public == model]
            if not named or model == public:
                notes.leave(path, f"the fallback number {place} of {whose} could not be carried")
                continue
            below = lowest - place * _STEP - max(one.priority for one in named)
            found += [
                structs.replace(
                    one,
                    public=public,
                    priority=one.priority + below,
                    pricing=None,
                    first_event_timeout=None,
                    idle_timeout=None,
                )
                for one in named
            ]
            notes.change(path, f"calls of {whose} cost what that model costs, whoever serves them")
    return found


def _chains(
    deployments: list[Deployment], sources: tuple[Members, ...], notes: Notes
) -> Iterator[tuple[str, str, list[str]]]:
    """Each model with its fallbacks; those of one model before those of all."""
    served = list(dict.fromkeys(one.public for one in deployments if not one.public.endswith("*")))
    general: list[tuple[str, list[str]]] = []
    for path, public, models in _told(sources, notes):
        if public == "*":
            general.append((path, models))
        elif public in served:
            yield path, public, models
        else:
            notes.leave(path, f"{public[:60]!r} is no model that could be carried")
    for path in (
        {path for path, _ in general} if len(served) < len({one.public for one in deployments}) else ()
    ):
        notes.leave(path, "a name that a pattern stands for has no fallbacks here")
    for path, models in general:
        yield from ((path, public, models) for public in served if public not in models)


def _told(sources: tuple[Members, ...], notes: Notes) -> Iterator[tuple[str, str, list[str]]]:
    """Where it stands, a model's name or "*" for all, and its fallbacks."""
    for members in sources:
        for path, value in members.items("fallbacks"):
            if not isinstance(value, dict):
                notes.leave(path, "should be a model's name with a list of others")
                continue
            for public, models in value.items():
                told = models if isinstance(models, list) else [models]
                yield path, public, [name for one in told for name in _named(path, one, notes)]
    for members in sources:
        listed = members.items(_FOR_ALL)
        if listed:
            yield members.at(_FOR_ALL), "*", [name for at in listed for name in _named(*at, notes)]


def _named(path: str, fallback: Value, notes: Notes) -> Iterator[str]:
    """The model that a fallback names; one with parameters of its own is a mapping."""
    name = fallback.get("model") if isinstance(fallback, dict) else fallback
    if not isinstance(name, str):
        notes.leave(path, "holds a fallback that is no name of a model")
        return
    if isinstance(fallback, dict) and len(fallback) > 1:
        notes.leave(path, f"the parameters of the fallback {name[:60]!r}: {reasons.REQUESTS}")
    yield name
