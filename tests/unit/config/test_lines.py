import tomllib

from tidegate.config.lines import key_lines
from tidegate.config.problems import KeyPath

TEXT = '''# a comment with = and [brackets]
title = "a # b"
[server]
host = "x"   # port = 1
"odd key".inner = 'y'

[[channels]]
name = """
two " lines ""\\"
= [not a key]"""
models = { "a.b" = "c", d = ["e",
  "f", # ]
  { g = 1 } ] }
[channels.price]
input = 1979-05-27 07:32:00
[[channels]]
name = \'\'\'it's\'\'\'
[[channels.rows]]
x = 1
[[channels.rows]]
x = [[1], [
 2]]
last = -1.5e3'''


def test_every_key_has_its_line() -> None:
    lines = key_lines(TEXT)
    expected: dict[KeyPath, int] = {
        ("title",): 2,
        ("server",): 3,
        ("server", "host"): 4,
        ("server", "odd key", "inner"): 5,
        ("channels",): 7,
        ("channels", 0): 7,
        ("channels", 0, "name"): 8,
        ("channels", 0, "models"): 11,
        ("channels", 0, "models", "a.b"): 11,
        ("channels", 0, "models", "d", 1): 12,
        ("channels", 0, "models", "d", 2, "g"): 13,
        ("channels", 0, "price"): 14,
        ("channels", 0, "price", "input"): 15,
        ("channels", 1): 16,
        ("channels", 1, "rows", 1): 20,
        ("channels", 1, "rows", 1, "x", 1, 0): 22,
        ("channels", 1, "rows", 1, "last"): 23,
    }
    assert {path: lines.get(path) for path in expected} == expected
    assert set(paths((), tomllib.loads(TEXT))) <= set(lines)


def test_a_document_nested_too_deep_has_no_lines() -> None:
    assert key_lines("x = " + "[" * 100_000 + "]" * 100_000) == {}


def paths(start: KeyPath, value: object) -> list[KeyPath]:
    """Every path of a parsed document."""
    inner: list[tuple[str | int, object]] = []
    match value:
        case dict():
            inner = list(value.items())
        case list():
            inner = list(enumerate(value))
        case _:
            pass
    found = [start] if start else []
    for name, member in inner:
        found += paths((*start, name), member)
    return found
