"""Tells whether a JSON schema leaves nothing open, as `strict` of the OpenAI protocols demands."""

from typing import Any

_VALUES = frozenset({"enum", "const", "default", "examples", "required"})
"""Members that hold values of the described thing, not schemas."""

_BY_NAME = frozenset({"properties", "$defs", "definitions", "patternProperties"})
"""Members that hold schemas under names of the author's choice."""


def is_strict(schema: object) -> bool:
    """Every object in it allows no other properties and requires all that it lists (conversion.md §6)."""
    pending = [schema]
    while pending:
        match pending.pop():
            case dict() as node:
                if _is_object(node) and not _is_closed(node):
                    return False
                for name, value in node.items():
                    if name in _BY_NAME and isinstance(value, dict):
                        pending.extend(value.values())
                    elif name not in _VALUES:
                        pending.append(value)
            case list() as nodes:
                pending.extend(nodes)
            case _:  # words and numbers leave nothing open
                pass
    return True


def _is_object(node: dict[str, Any]) -> bool:
    type_ = node.get("type")
    return type_ == "object" or "properties" in node or (isinstance(type_, list) and "object" in type_)


def _is_closed(node: dict[str, Any]) -> bool:
    properties, required = node.get("properties"), node.get("required")
    names = set(properties) if isinstance(properties, dict) else set()
    told = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    return node.get("additionalProperties") is False and names <= told
