"""Reads YAML of bounded size into plain values, numbers exactly as they are written."""

import re
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

MOST_CHARACTERS = 1 << 20
MOST_NODES = 100_000
"""Counted as if every alias were written out."""

Value: TypeAlias = "bool | int | Decimal | str | list[Value] | dict[str, Value] | None"

_NAMED = re.compile(r"(alias|handle) '[^']*'")
"""A name out of the text: what looks like an alias may be a password that begins with a star."""
_TAG = "tag:yaml.org,2002:"
_TRUE = frozenset({"yes", "true", "on"})


class BadYaml(Exception):
    """A text that is no YAML, or more than is read; the message never repeats what stands there."""


def read_yaml(text: str) -> Value:
    """The one document in `text`. Raises BadYaml."""
    if len(text) > MOST_CHARACTERS:
        raise BadYaml(f"it is longer than {MOST_CHARACTERS} characters")
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is None:
            return None
        if _size(root, {}) > MOST_NODES:
            raise BadYaml(f"it holds more than {MOST_NODES} values, aliases written out")
        return _value(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        problem = _NAMED.sub(r"\1", str(error.problem or error.context))
        raise BadYaml(f"{where}no YAML ({problem})") from None
    except yaml.YAMLError as error:
        raise BadYaml(f"no YAML ({type(error).__name__})") from None
    except RecursionError:
        raise BadYaml("it is nested too deeply") from None


def _size(node: Node, known: dict[int, int]) -> int:
    """How many values a node is with all aliases written out; one that holds itself is refused."""
    found = known.get(id(node))
    if found == 0:
        raise BadYaml(f"line {node.start_mark.line + 1}: an alias stands inside what it stands for")
    if found is not None:
        return found
    known[id(node)] = 0
    inner = 1 + sum(min(_size(child, known), MOST_NODES) for child in _children(node))
    known[id(node)] = inner
    return inner


def _children(node: Node) -> list[Node]:
    match node:
        case SequenceNode(value=items):
            return list(items)
        case MappingNode(value=pairs):
            return [each for pair in pairs for each in pair]
        case _:  # a scalar
            return []


def _value(node: Node) -> Value:
    tag = node.tag.removeprefix(_TAG)
    match node:
        case SequenceNode(value=items) if tag == "seq":
            return [_value(item) for item in items]
        case MappingNode() if tag == "map":
            return _mapping(node)
        case ScalarNode(value=written):
            return _scalar(tag, written, node)
        case _:  # what has a tag of its own
            raise _tagged(node)


def _mapping(node: MappingNode) -> dict[str, Value]:
    read: dict[str, Value] = {}
    merged: dict[str, Value] = {}
    for key, inner in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode):
            raise BadYaml(f"line {line}: a name that is no text")
        if key.tag == f"{_TAG}merge":
            for one in inner.value if isinstance(inner, SequenceNode) else [inner]:
                if not isinstance(one, MappingNode):
                    raise BadYaml(f"line {line}: << takes names with values")
                merged = {**_mapping(one), **merged}
        elif key.value in read:
            raise BadYaml(f"line {line}: the name {key.value[:50]!r} stands there twice")
        else:
            read[key.value] = _value(inner)
    return {**merged, **read}


def _scalar(tag: str, written: str, node: Node) -> Value:
    match tag:
        case "null":
            return None
        case "bool":
            return written.lower() in _TRUE
        case "int":
            return _whole(written)
        case "float":
            return _fraction(written)
        case "str" | "timestamp" | "value":
            return written
        case _:  # a tag of one's own, or one that would run code
            raise _tagged(node)


def _tagged(node: Node) -> BadYaml:
    return BadYaml(f"line {node.start_mark.line + 1}: a tag that is not read here")


def _whole(written: str) -> int | str:
    plain = written.replace("_", "")
    try:
        return int(plain) if plain.lstrip("+-").isdigit() else int(plain, 0)
    except ValueError:  # hours and minutes, say
        return written


def _fraction(written: str) -> Decimal | str:
    try:
        read = Decimal(written.replace("_", ""))
    except InvalidOperation:
        return written
    return read if read.is_finite() else written
