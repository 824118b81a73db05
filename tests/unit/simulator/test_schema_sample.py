import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.simulator.schema_sample import sample


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 6}, "textxx"),
        ({"type": "string", "maxLength": 2}, "te"),
        ({"type": "string", "format": "date"}, "2026-01-01"),
        ({"type": "string", "pattern": "^[0-9]+$"}, "0"),
        ({"type": "string", "pattern": "(?P<broken"}, "text"),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 7}, 7),
        ({"type": "integer", "exclusiveMinimum": 7}, 8),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "multipleOf": 5, "minimum": 6}, 10),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, 0.25),
        ({"type": "number", "maximum": 0.5}, 0),
        ({"type": "boolean"}, False),
        ({"type": "null"}, None),
        ({"const": None}, None),
        ({"const": 3}, 3),
        ({"enum": ["b", "a"]}, "b"),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "string", "default": "here"}, "here"),
        ({"type": "string", "examples": ["like this"]}, "like this"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}]}, {"a": 1}),
        ({"allOf": [{"type": "object"}, {"properties": {"a": {"const": 1}}, "required": ["a"]}]}, {"a": 1}),
        ({"properties": {"a": {}}, "required": ["a"]}, {"a": "text"}),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, {}),
        ({"type": "object", "minProperties": 2, "properties": {"a": {"const": 1}}}, {"a": 1, "key0": "text"}),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": True}, [1, 2, 3]),
        ({"type": "array", "maxItems": 0}, []),
        ({"type": "array", "prefixItems": [{"const": 1}, {"const": 2}]}, [1, 2]),
        ({}, "text"),
        (True, "text"),
    ],
)
def test_the_value_fits(schema: object, value: object) -> None:
    assert sample(schema) == value


def test_references_are_followed_and_escapes_read() -> None:
    schema = {
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/a~1place", "description": "where to"}},
        "required": ["to"],
        "$defs": {"a/place": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
    }
    assert sample(schema) == {"to": {"x": 1}}


def test_a_tree_that_refers_to_itself_ends() -> None:
    node: dict[str, Any] = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["children"],
    }
    assert "children" in sample(node)


def test_a_reference_to_nowhere_is_anything() -> None:
    assert sample({"$ref": "#/$defs/gone"}) == "text"


def test_a_command_is_one_that_does_no_harm() -> None:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    assert sample(schema) == {"command": "pwd"}


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    texts = st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": st.integers(0, 9)})
    numbers = st.builds(
        lambda kind, low, room, exclusive: {
            "type": kind,
            "exclusiveMinimum" if exclusive else "minimum": low,
            "maximum": low + room,
        },
        st.sampled_from(["integer", "number"]),
        st.integers(-50, 50),
        st.integers(1, 9),
        st.booleans(),
    )
    choices = st.builds(lambda values: {"enum": values}, st.lists(st.integers(), min_size=1, unique=True))
    leaves = st.one_of(texts, numbers, choices, st.just({"type": "boolean"}), st.just({"type": "null"}))
    return st.recursive(leaves, _larger, max_leaves=12)


def _larger(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    objects = st.dictionaries(st.sampled_from("abcd"), inner).map(
        lambda properties: {
            "type": "object",
            "properties": properties,
            "required": list(properties)[::2],
            "additionalProperties": False,
        }
    )
    arrays = st.builds(
        lambda items, low: {"type": "array", "items": items, "minItems": low}, inner, st.integers(0, 3)
    )
    unions = st.lists(inner, min_size=1, max_size=3).map(lambda options: {"anyOf": options})
    return st.one_of(objects, arrays, unions)


def fits(value: object, schema: dict[str, Any]) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    if "anyOf" in schema:
        return any(fits(value, option) for option in schema["anyOf"])
    match schema["type"]:
        case "object":
            known = schema["properties"]
            assert isinstance(value, dict)
            return set(schema["required"]) <= set(value) <= set(known) and all(
                fits(inner, known[key]) for key, inner in value.items()
            )
        case "array":
            assert isinstance(value, list)
            return len(value) >= schema["minItems"] and all(fits(item, schema["items"]) for item in value)
        case "integer" | "number" as kind:
            if isinstance(value, bool) or not isinstance(value, int if kind == "integer" else (int, float)):
                return False
            least, above = schema.get("minimum", value), schema.get("exclusiveMinimum", value - 1)
            return bool(least <= value <= schema["maximum"] and value > above)
        case "string":
            return isinstance(value, str) and len(value) >= schema.get("minLength", 0)
        case "boolean":
            return isinstance(value, bool)
        case _:
            return value is None


@settings(max_examples=200, deadline=None)
@given(schemas())
def test_any_schema_of_the_usual_kind_is_fitted(schema: dict[str, Any]) -> None:
    assert fits(sample(schema), schema)
    assert sample(schema) == sample(schema)


def test_a_common_pattern_is_matched() -> None:
    for pattern in (r"^\d{4}-\d{2}-\d{2}$", r"^\d+\.\d+\.\d+$", r"^[a-z]+-\d+$", r"^[A-Z]$"):
        assert re.search(pattern, sample({"type": "string", "pattern": pattern}))
