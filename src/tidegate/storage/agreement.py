"""Notices when the nodes that share a database have different config files."""

import json
import logging

from sqlalchemy import Connection, select

from tidegate.storage.owners import Owner, seconds_now
from tidegate.storage.schema import owners

log = logging.getLogger("tidegate.storage")

DIGESTED_WITH = "server.secret"
"""Where this differs nothing else can be compared: the digests are made with it."""

_LIVING = 20
"""Seconds since which a process that lives has been seen."""


class Agreement:
    """Compares this process's config file with those of all others, by digests of their sections."""

    def __init__(self, owner: Owner, *, aloud: bool) -> None:
        """`aloud`: tell of it in the log. One of the workers of a node is enough."""
        self._owner = owner
        self._aloud = aloud
        self._before: dict[str, tuple[str, ...]] = {}
        self._told: tuple[str, ...] = ()
        self.differing: tuple[str, ...] = ()
        """Sections of the config file that are not as another node has them."""

    def look(self, connection: Connection) -> None:
        """Compare; a difference counts when it is still there at the next look.

        Else the workers that one signal makes read their file again would differ for a moment.
        """
        query = select(owners.c.id, owners.c.host, owners.c.pid, owners.c.config).where(
            owners.c.id != self._owner.id, owners.c.seen_at > seconds_now() - _LIVING
        )
        found: dict[str, tuple[str, ...]] = {}
        places: dict[tuple[str, ...], str] = {}
        for identifier, host, pid, config in connection.execute(query):
            found[identifier] = parts = differences(self._owner.config, config)
            if parts and self._before.get(identifier) == parts:
                places[parts] = f"{host} (process {pid})"
        self._before = found
        self.differing = tuple(sorted({part for parts in places for part in parts}))
        self._tell(places)

    def _tell(self, places: dict[tuple[str, ...], str]) -> None:
        if not self._aloud or self.differing == self._told:
            return
        if self.differing:
            log.warning(
                "the config file of another node is not as this one's: %s; a request gets what the node has"
                " that it reaches",
                "; ".join(f"{place} differs in {', '.join(parts)}" for parts, place in places.items()),
            )
        else:
            log.warning("the config files of all nodes are the same again")
        self._told = self.differing


def differences(mine: str | None, other: str | None) -> tuple[str, ...]:
    """The sections in which two nodes differ; none where one does not tell."""
    here, there = _sections(mine), _sections(other)
    if here is None or there is None:
        return ()
    parts = tuple(sorted(name for name in here.keys() & there.keys() if here[name] != there[name]))
    return (DIGESTED_WITH,) if DIGESTED_WITH in parts else parts


def _sections(text: str | None) -> dict[str, str] | None:
    try:
        read = json.loads(text or "null")
    except ValueError:
        return None
    return read if isinstance(read, dict) else None
