"""Adds the deltas of one choice up to its message."""

from tidegate.protocols.loose import listing, mapping, mappings, text
from tidegate.protocols.whole_answers import argument_text

Object = dict[str, object]

_SAID_ONCE = frozenset({"role", "type", "id", "index", "format", "expires_at"})
_OUTSIDE = frozenset({"index", "delta", "message", "logprobs", "finish_reason"})


class Choice:
    """One choice as far as it has been told, also by servers that break the rules (see `ToolCalls`)."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._message: Object = {"role": "assistant", "content": None, "refusal": None}
        self._texts: dict[str, list[str]] = {}
        self._calls = ToolCalls()
        self._logprobs: Object | None = None
        self._others: Object = {}

    def add(self, choice: Object) -> None:
        """Take an entry of a chunk's `choices`; a whole `message` in a delta's place is one large delta."""
        delta = mapping(choice.get("delta") or choice.get("message"))
        for call in mappings(delta.get("tool_calls")):
            self._calls.add(call)
        for name, value in delta.items():
            if name != "tool_calls":
                self._add_member(name, value)
        logprobs = choice.get("logprobs")
        if isinstance(logprobs, dict):
            self._logprobs = {} if self._logprobs is None else self._logprobs
            merge(self._logprobs, logprobs)
        reason = choice.get("finish_reason")
        if isinstance(reason, str):
            # Some servers write "" in every chunk, others for a finish: it yields to any real reason.
            self.finish_reason = reason or self.finish_reason or reason
        merge(self._others, {name: value for name, value in choice.items() if name not in _OUTSIDE})

    def whole(self, index: int) -> Object:
        """The choice of a whole answer."""
        for name in list(self._texts):
            self._settle(name)
        message = dict(self._message)
        if calls := self._calls.whole():
            message["tool_calls"] = calls
        told = {"logprobs": self._logprobs, "finish_reason": self.finish_reason or "stop"}
        return {"index": index, "message": message, **told, **self._others}

    def _add_member(self, name: str, value: object) -> None:
        """Texts come in many small pieces, which are joined once; everything else is merged as it comes."""
        if isinstance(value, str) and name not in _SAID_ONCE:
            self._texts.setdefault(name, []).append(value)
        elif value is not None or name not in self._texts:
            self._settle(name)
            merge(self._message, {name: value})

    def _settle(self, name: str) -> None:
        merge(self._message, {name: "".join(pieces)} if (pieces := self._texts.pop(name, None)) else {})


class ToolCalls:
    """The calls of one message, dense and in order of appearance.

    A fragment belongs to the call of its index. Without an index it belongs to the call of its id, or without
    an id to the last one. A new id with a name is a new call, also where a server gives every call index 0.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def add(self, fragment: Object) -> None:
        """Take one fragment of `delta.tool_calls`."""
        index = fragment.get("index")
        index = index if isinstance(index, int) else None
        call = self._find(fragment, index)
        if call is None:
            call = _Call()
            self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        call.add(fragment)

    def whole(self) -> list[Object]:
        """The calls of a whole answer."""
        return [call.whole() for call in self._calls]

    def _find(self, fragment: Object, index: int | None) -> "_Call | None":
        identifier = text(fragment.get("id"))
        same_id = next((call for call in self._calls if identifier and call.id == identifier), None)
        if same_id is not None:
            return same_id
        if index is not None:
            found = self._by_index.get(index)
        else:
            found = self._calls[-1] if self._calls and identifier is None else None
        if found is not None and identifier and found.id and _name(fragment):
            return None
        return found


class _Call:
    """One tool call. Id, type and name count once, however often they come; arguments grow."""

    def __init__(self) -> None:
        self.id: str | None = None
        self._type: str | None = None
        self._kind: str | None = None
        self._name: str | None = None
        self._arguments: list[str] = []
        self._called: Object = {}
        self._others: Object = {}

    def add(self, fragment: Object) -> None:
        kind, member = ("custom", "input") if "custom" in fragment else ("function", "arguments")
        told = mapping(fragment.get(kind))
        self._kind = self._kind or kind
        self.id = self.id or text(fragment.get("id"))
        self._type = self._type or text(fragment.get("type"))
        self._name = self._name or text(told.get("name"))
        self._arguments.append(argument_text(told.get(member)))
        merge(self._called, {name: value for name, value in told.items() if name not in ("name", member)})
        said = ("index", "id", "type", kind)
        merge(self._others, {name: value for name, value in fragment.items() if name not in said})

    def whole(self) -> Object:
        kind = self._kind or "function"
        member = "input" if kind == "custom" else "arguments"
        called = {"name": self._name or "", member: "".join(self._arguments), **self._called}
        identity: Object = {} if self.id is None else {"id": self.id}
        return {**identity, "type": self._type or kind, kind: called, **self._others}


def merge(into: Object, delta: Object) -> None:
    """Add a delta as the SDKs do: strings grow, lists grow (by `index` where it is told), objects merge."""
    for name, value in delta.items():
        before = into.get(name)
        if value is None:
            into.setdefault(name, None)
        elif isinstance(before, list) or isinstance(value, list):
            into[name] = _grown(_as_parts(before), _as_parts(value))
        elif isinstance(before, str) and isinstance(value, str) and name not in _SAID_ONCE:
            into[name] = before + value
        elif isinstance(value, dict):
            inner = dict(before) if isinstance(before, dict) else {}
            merge(inner, value)
            into[name] = inner
        else:
            into[name] = value


def _as_parts(value: object) -> list[object]:
    """A list; a text that stands where other deltas have lists is a text part of one."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}] if value else []
    return listing(value)


def _grown(before: list[object], entries: list[object]) -> list[object]:
    grown = list(before)
    places = {place: at for at, entry in enumerate(grown) if (place := _place(entry)) is not None}
    for entry in entries:
        place = _place(entry)
        at = None if place is None else places.get(place)
        if at is None:
            grown.append(entry)
        else:
            same = dict(mapping(grown[at]))
            merge(same, mapping(entry))
            grown[at] = same
    return grown


def _place(entry: object) -> int | None:
    """The `index` by which deltas of one entry are told from those of the next."""
    index = mapping(entry).get("index")
    return index if isinstance(index, int) else None


def _name(fragment: Object) -> str | None:
    called = mapping(fragment.get("function") or fragment.get("custom"))
    return text(called.get("name"))
