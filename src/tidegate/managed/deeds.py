"""Says what a change of the stored catalog changed, for the audit log, without any secret."""

from collections.abc import Mapping

from tidegate.admin.ports import Settings
from tidegate.core.query_secrets import without_query_secrets
from tidegate.managed.definitions import parsed
from tidegate.routing.catalog import Duty
from tidegate.storage.audit import SET, Deed
from tidegate.storage.catalog import Definition, Kind, Removed

SEALED = ("api_key", "headers")
"""Settings that are stored sealed, and never told."""

_DUTIES = {Duty.PAUSED: "pause", Duty.DRAINING: "drain", Duty.ACTIVE: "resume"}


def created(kind: Kind, name: str, settings: Settings) -> Deed:
    """One was added with these settings."""
    given = {key: value for key, value in settings.items() if key != "name" and value is not None}
    return Deed(action="create", kind=kind.value, name=name, changes=_pairs({}, _open(given)))


def changed(kind: Kind, name: str, before: Definition, after: Definition, given: Settings) -> Deed | None:
    """One was changed; None where nothing is different."""
    changes = _pairs(parsed(before.text), parsed(after.text))
    sealed = {key: given[key] for key in SEALED if kind is Kind.CHANNELS and key in given}
    changes |= {key: (SET if before.sealed else None, SET if sealed[key] else None) for key in sealed}
    return Deed(action="change", kind=kind.value, name=name, changes=changes) if changes else None


def removed(kind: Kind, name: str, what: Removed) -> Deed:
    """One was deleted, with all that went with it."""
    settings = dict(parsed(what.definition.text))
    if what.definition.sealed:
        settings |= dict.fromkeys(SEALED[:1], SET)
    if what.keys:
        settings["keys"] = list(what.keys)
    return Deed(action="delete", kind=kind.value, name=name, changes=_pairs(settings, {}))


def duty_set(channel: str, duty: Duty, before: Duty) -> Deed | None:
    """A channel was paused, left to drain or resumed; None where that was so already."""
    if duty is before:
        return None
    changes = {"state": (before.value, duty.value)}
    return Deed(action=_DUTIES[duty], kind=Kind.CHANNELS.value, name=channel, changes=changes)


def _open(settings: Settings) -> dict[str, object]:
    return {key: SET if key in SEALED and value else value for key, value in settings.items()}


def _told(key: str, value: object) -> object:
    return without_query_secrets(value, SET) if key == "base_url" and isinstance(value, str) else value


def _pairs(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, tuple[object, object]]:
    return {
        key: (_told(key, before.get(key)), _told(key, after.get(key)))
        for key in {**before, **after}
        if before.get(key) != after.get(key)
    }
