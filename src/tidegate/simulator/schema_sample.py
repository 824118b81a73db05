"""A value that fits a JSON schema, always the same one for the same schema."""

import math
import re
from collections.abc import Callable
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

_MAX_DEPTH = 24
_FORMATS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "PT1S",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
# Property names for which a real program would do harm, or fail, with just any text.
_HINTS = {
    "cmd": "pwd",
    "command": "pwd",
    "path": "README.md",
    "file_path": "README.md",
    "filename": "README.md",
    "url": "https://example.com/",
    "email": "someone@example.com",
    "city": "Paris",
    "location": "Paris",
}
_PATTERN_CANDIDATES = (
    "text",
    "a",
    "A",
    "0",
    "01",
    "1.0.0",
    "2026-01-01",
    "00:00",
    "abc-123",
    "ABC",
    "+10000000000",
)
_MERGED = ("properties", "$defs", "definitions")


def sample(schema: object, *, name: str = "") -> Any:
    """A value for `schema`: required properties only, the first choice wherever there is one.

    Not looked at: `not`, `if`, `dependentSchemas`, and patterns beyond a few common ones. A schema that
    refers to itself without end gives null at the depth where it is given up.
    """
    return _Sampler(schema).value(schema, name, 0, 0)


class _Sampler:
    """Holds the root, against which references are resolved."""

    def __init__(self, root: object) -> None:
        self._root = root

    def value(self, schema: object, name: str, nth: int, depth: int) -> Any:
        """`nth` tells elements of one array apart, where they must differ."""
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return None if isinstance(schema, dict) else "text"
        if "$ref" in schema:
            return self.value(self._referred(schema), name, nth, depth + 1)
        if "allOf" in schema:
            return self.value(_merged(schema), name, nth, depth + 1)
        fixed = _fixed(schema, nth)
        if fixed is not None:
            return fixed[0]
        for key in ("anyOf", "oneOf"):
            if options := schema.get(key):
                rest = {k: v for k, v in schema.items() if k != key}
                return self.value(_both(rest, _first_that_says_something(options)), name, nth, depth + 1)
        return self._typed(schema, name, nth, depth)

    def _typed(self, schema: Schema, name: str, nth: int, depth: int) -> Any:
        match _type_of(schema):
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, name, depth)
            case "integer" | "number" as kind:
                return _number(schema, nth, whole=kind == "integer")
            case "boolean":
                return nth % 2 == 1
            case "null":
                return None
            case _:  # a string, or a type that no draft knows
                return _string(schema, name, nth)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        properties = _mapping(schema.get("properties"))
        required = schema.get("required")
        names = [key for key in required if isinstance(key, str)] if isinstance(required, list) else []
        wanted = _whole(schema.get("minProperties"), 0)
        names += [key for key in properties if key not in names][: max(0, wanted - len(names))]
        built = {key: self.value(properties.get(key, {}), key, 0, depth + 1) for key in dict.fromkeys(names)}
        for extra in range(wanted - len(built)):
            built[f"key{extra}"] = self.value(schema.get("additionalProperties", {}), "", extra, depth + 1)
        return built

    def _array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        first = schema.get("prefixItems")
        fixed = first if isinstance(first, list) else []
        low, high = _whole(schema.get("minItems"), 0), _whole(schema.get("maxItems"), 1 << 30)
        count = min(max(low, len(fixed), 1), high)
        items = [fixed[i] if i < len(fixed) else schema.get("items", {}) for i in range(count)]
        distinct = schema.get("uniqueItems") is True
        values = [self.value(item, name, i if distinct else 0, depth + 1) for i, item in enumerate(items)]
        # Where the recursion was given up there is nothing to put into a list that may be empty.
        return [] if low == 0 and not fixed and values == [None] and depth >= _MAX_DEPTH else values

    def _referred(self, schema: Schema) -> object:
        target: object = self._root
        for step in str(schema["$ref"]).removeprefix("#").strip("/").split("/"):
            key = step.replace("~1", "/").replace("~0", "~")
            if key:
                target = target.get(key, {}) if isinstance(target, dict) else {}
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return _both(rest, target) if isinstance(target, dict) else target


def _fixed(schema: Schema, nth: int) -> tuple[Any] | None:
    """The value that the schema itself spells out, in a tuple, since it may be null."""
    if "const" in schema:
        return (schema["const"],)
    if options := schema.get("enum"):
        return (options[nth % len(options)],)
    if "default" in schema and schema["default"] is not None and nth == 0:
        return (schema["default"],)
    if nth == 0 and (examples := schema.get("examples")) and isinstance(examples, list):
        return (examples[0],)
    return None


def _type_of(schema: Schema) -> str:
    told = schema.get("type")
    if isinstance(told, list):
        return next((str(kind) for kind in told if kind != "null"), "null")
    if isinstance(told, str):
        return told
    if "properties" in schema or "required" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    return "number" if "minimum" in schema or "maximum" in schema else "string"


def _string(schema: Schema, name: str, nth: int) -> str:
    text = _FORMATS.get(str(schema.get("format"))) or _HINTS.get(name.lower(), "text")
    if isinstance(pattern := schema.get("pattern"), str):
        text = _matching(pattern, (text, *_PATTERN_CANDIDATES))
    if nth:
        text += str(nth)
    low, high = _whole(schema.get("minLength"), 0), _whole(schema.get("maxLength"), 1 << 30)
    return (text + "x" * (low - len(text)))[:high]


def _matching(pattern: str, candidates: tuple[str, ...]) -> str:
    try:
        fits: Callable[[str], object] = re.compile(pattern).search
    except re.error:  # another dialect of patterns: nothing to go by
        return candidates[0]
    return next((text for text in candidates if fits(text)), candidates[0])


def _number(schema: Schema, nth: int, *, whole: bool) -> float:
    """The first of the obvious numbers that fits: 1, 0, beside the bounds, between them."""
    step = _real(schema.get("multipleOf")) or 1.0
    bounds = [
        _real(schema.get(key)) for key in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
    ]
    told = [bound for bound in bounds if bound is not None]
    near = [value for bound in told for value in (bound, bound + step, bound - step)]
    middle = [sum(told) / len(told)] if told else []
    rounded = [math.ceil(value / step) * step for value in (1.0, *near, *middle)]
    exact = [] if whole else [*near, *middle]
    found = next((value for value in (1.0, 0.0, *rounded, *exact) if _fits(value, schema)), 1.0)
    further = found + nth * step
    value = further if _fits(further, schema) else found - nth * step
    return int(value) if whole or value.is_integer() else value


def _fits(value: float, schema: Schema) -> bool:
    step, least, above, most, below = (
        _real(schema.get(key))
        for key in ("multipleOf", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")
    )
    return (
        (not step or math.isclose(value / step, round(value / step), abs_tol=1e-9))
        and (least is None or value >= least)
        and (above is None or value > above)
        and (most is None or value <= most)
        and (below is None or value < below)
    )


def _merged(schema: Schema) -> Schema:
    merged = {key: value for key, value in schema.items() if key != "allOf"}
    for part in schema["allOf"]:
        merged = _both(merged, part) if isinstance(part, dict) else merged
    return merged


def _both(one: Schema, other: Schema) -> Schema:
    both = {**one, **other}
    for key in _MERGED:
        if key in one and key in other:
            both[key] = {**_mapping(one[key]), **_mapping(other[key])}
    if isinstance(one.get("required"), list) and isinstance(other.get("required"), list):
        both["required"] = [*one["required"], *other["required"]]
    return both


def _first_that_says_something(options: object) -> Schema:
    schemas = [option for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    return next((schema for schema in schemas if schema.get("type") != "null"), schemas[0] if schemas else {})


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _whole(value: object, otherwise: int) -> int:
    number = _real(value)
    return otherwise if number is None else int(number)


def _real(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
