"""Whether a schema leaves something open."""

from typing import Any

import pytest

from tidegate.protocols.strict_schemas import is_strict

CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        (CLOSED, True),
        ({**CLOSED, "additionalProperties": True}, False),
        ({**CLOSED, "required": []}, False),
        ({name: value for name, value in CLOSED.items() if name != "required"}, False),
        ({**CLOSED, "type": ["object", "null"], "required": []}, False),
        ({"type": "array", "items": CLOSED}, True),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({"anyOf": [CLOSED, {"properties": {"b": {}}}]}, False),
        ({**CLOSED, "$defs": {"type": {"type": "object"}}}, False),
        ({**CLOSED, "properties": {"a": {"enum": [{"type": "object"}]}}}, True),
        ({**CLOSED, "properties": {"a": {"const": {"type": "object"}}}}, True),
        ({"type": "string"}, True),
        (None, True),
        ({**CLOSED, "required": "a"}, False),
        ({**CLOSED, "properties": 7}, True),
    ],
)
def test_every_object_must_be_closed_and_complete(schema: Any, strict: bool) -> None:
    assert is_strict(schema) is strict


def test_a_deep_schema_costs_no_recursion() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5000):
        schema = {"type": "array", "items": schema}
    assert not is_strict(schema)
