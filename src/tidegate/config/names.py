"""Reads the names of channels, models, accounts and keys, and checks that what they refer to is there."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from tidegate.config.problems import KeyPath, shown
from tidegate.config.report import Report
from tidegate.config.settings import Account
from tidegate.config.table import Table
from tidegate.config.values import Parse, Wrong, text
from tidegate.routing.catalog import Channel
from tidegate.routing.names import narrower

DEFAULT_ACCOUNT = "default"
"""Keys without an account belong to this one, which is there without being declared."""

_LONGEST = 256


def name(raw: object) -> str | Wrong:
    """A name without control characters or spaces around it."""
    read = text(raw)
    if isinstance(read, Wrong):
        return read
    if read != read.strip():
        return Wrong("begins or ends with a space", "take the space away")
    return read if len(read) <= _LONGEST else Wrong("is too long", f"use at most {_LONGEST} characters")


def model_name(raw: object) -> str | Wrong:
    """A model's name, or a pattern whose only "*" stands at its end."""
    read = name(raw)
    if isinstance(read, str) and "*" in read[:-1]:
        return Wrong('has a "*" that is not at its end', 'write a prefix and one "*", like "gpt-*"')
    return read


def served_model(channels: Iterable[Channel], report: Report) -> Parse[str]:
    """Reads a model's name that a channel must serve; not checked while the channels themselves are wrong."""
    served = frozenset(public for channel in channels for public in channel.models)
    doubtful = report.has_error(lambda path: _hides_a_model(path, served))

    def parse(raw: object) -> str | Wrong:
        read = model_name(raw)
        if isinstance(read, Wrong) or doubtful or any(narrower(public, read) for public in served):
            return read
        near = get_close_matches(read, served, n=1)
        mend = f"did you mean {shown(near[0])}?" if near else "add it to the models of a channel"
        return Wrong(f"no channel serves {shown(read)}", mend)

    return parse


def _hides_a_model(path: KeyPath, served: frozenset[str]) -> bool:
    """Whether an error at `path` may be why a channel's model is not among the served."""
    if path[:1] != ("channels",) or path[2:3] not in ((), ("models",)):
        return False
    return not (len(path) > 3 and path[3] in served)


def known_account(accounts: Iterable[Account], report: Report) -> Parse[str]:
    """Reads the name of an account of the file, or of the one that is always there."""
    known = frozenset(account.name for account in accounts) | {DEFAULT_ACCOUNT}
    doubtful = report.has_error(lambda path: path[:1] == ("accounts",))

    def parse(raw: object) -> str | Wrong:
        read = name(raw)
        if isinstance(read, Wrong) or doubtful or read in known:
            return read
        near = get_close_matches(read, known, n=1)
        mend = f"did you mean {shown(near[0])}?" if near else "add it with [[accounts]]"
        return Wrong(f"there is no account {shown(read)}", mend)

    return parse


def named(table: Table, section: str, kind: str, parse: Parse[str]) -> Iterator[tuple[Table, str]]:
    """The tables of a section with their names; a name that came before is told, one that is bad is empty."""
    seen: dict[str, int | None] = {}
    for row in table.tables(section):
        read = row.need("name", parse, "", f"give each {kind} a name of its own")
        if read in seen:
            line = seen[read]
            where = "above" if line is None else f"on line {line}"
            row.error("name", f"is also the name of the {kind} {where}", "give it another name")
        elif read:
            seen[read] = row.report.line((*row.path, "name"))
        yield row, read
