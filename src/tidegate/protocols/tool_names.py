"""Gives every tool a name that an upstream takes, and knows the way back (conversion.md §5)."""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256

from msgspec import Struct

from tidegate.core.conversation import Tool, ToolKind
from tidegate.core.events import CallKind
from tidegate.core.failure import Failure
from tidegate.protocols.conversion import ToolName
from tidegate.protocols.losses import unsupported_value

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")
_DIGITS = 8
_Key = tuple[str | None, str]


class ToolNames(Struct, frozen=True):
    """The names of one request's tools. `back` is what `Written.names` wants: only what was changed."""

    limit: int
    upstream: Mapping[_Key, str]
    """(namespace, name) of every declared tool -> its name upstream."""
    lone: Mapping[str, str]
    """Bare name -> upstream name, where only one declared tool has that bare name."""
    back: Mapping[str, ToolName]

    def of(self, name: str, namespace: str | None = None) -> str:
        """The upstream name for a call in the history or a choice, declared or not."""
        declared = self.upstream.get((namespace, name))
        if declared is None and namespace is None:
            declared = self.lone.get(name)
        return upstream_name(name, namespace, self.limit) if declared is None else declared


def upstream_name(name: str, namespace: str | None, limit: int) -> str:
    """`<namespace>__<name>`; too long or with other characters: cut, cleaned, and told apart by its hash."""
    whole = name if namespace is None else f"{namespace}__{name}"
    if len(whole) <= limit and not _ILLEGAL.search(whole):
        return whole
    digest = sha256(whole.encode()).hexdigest()[:_DIGITS]
    kept = max(limit - _DIGITS - 1, 0)
    return (_ILLEGAL.sub("_", whole)[:kept] + "_" + digest)[-limit:]


def name_tools(tools: Iterable[Tool], limit: int, *, custom_as_function: bool) -> ToolNames | Failure:
    """Names for the tools that go up (hosted ones have none); two different tools with one name: Failure."""
    upstream: dict[_Key, str] = {}
    taken: dict[str, _Key] = {}
    bare: dict[str, set[str]] = {}
    back: dict[str, ToolName] = {}
    for tool in tools:
        if tool.kind is ToolKind.HOSTED:
            continue
        key = (tool.namespace, tool.name)
        name = upstream_name(tool.name, tool.namespace, limit)
        if taken.setdefault(name, key) != key:
            return unsupported_value(tool.path, f"`{tool.path}` would have the name of another tool.")
        upstream[key] = name
        bare.setdefault(tool.name, set()).add(name)
        custom = tool.kind is ToolKind.CUSTOM
        if name != tool.name or tool.namespace is not None or (custom and custom_as_function):
            kind = CallKind.CUSTOM if custom else CallKind.FUNCTION
            back[name] = ToolName(tool.name, kind, tool.namespace)
    lone = {name: found.pop() for name, found in bare.items() if len(found) == 1}
    return ToolNames(limit, upstream, lone, back)
