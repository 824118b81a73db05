"""Names that no upstream refuses, and the way back to the client's."""

import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.conversation import Tool, ToolKind
from tidegate.core.events import CallKind
from tidegate.core.failure import Failure, Kind
from tidegate.protocols.conversion import ToolName
from tidegate.protocols.tool_names import ToolNames, name_tools, upstream_name


def tool(name: str, kind: ToolKind = ToolKind.FUNCTION, namespace: str | None = None, place: int = 0) -> Tool:
    return Tool(kind=kind, path=f"tools[{place}]", name=name, namespace=namespace)


def named(*tools: Tool, limit: int = 64, custom_as_function: bool = True) -> ToolNames:
    names = name_tools(tools, limit, custom_as_function=custom_as_function)
    assert isinstance(names, ToolNames), names
    return names


def test_a_name_that_fits_stays() -> None:
    names = named(tool("lookup"))
    assert names.of("lookup") == "lookup"
    assert names.back == {}


def test_a_long_name_is_cut_and_told_apart_by_its_hash() -> None:
    long = "n" * 75
    assert upstream_name(long, None, 64) == "n" * 55 + "_" + sha256(long.encode()).hexdigest()[:8]


def test_long_names_with_one_start_stay_different() -> None:
    first, second = "n" * 70 + "first", "n" * 70 + "secnd"
    names = named(tool(first), tool(second))
    assert names.of(first) != names.of(second)
    assert names.back[names.of(second)] == ToolName(second)


def test_other_characters_are_replaced_and_the_hash_keeps_names_apart() -> None:
    assert upstream_name("a.b", None, 64) == "a_b_" + sha256(b"a.b").hexdigest()[:8]
    names = named(tool("a.b"), tool("a_b"), tool("a/b"))
    assert len({names.of("a.b"), names.of("a_b"), names.of("a/b")}) == 3


def test_a_namespace_stands_before_the_name_and_comes_back() -> None:
    names = named(tool("run", namespace="shell"))
    assert names.of("run", "shell") == "shell__run"
    assert names.back == {"shell__run": ToolName("run", CallKind.FUNCTION, "shell")}


def test_a_bare_name_finds_the_only_tool_of_that_name() -> None:
    names = named(tool("run", namespace="shell"))
    assert names.of("run") == "shell__run"
    two = named(tool("run", namespace="a"), tool("run", namespace="b"))
    assert two.of("run") == "run"


def test_a_call_of_an_undeclared_tool_has_the_name_that_it_would_have_had() -> None:
    assert named().of("x" * 80) == upstream_name("x" * 80, None, 64)
    assert named().of("run", "shell") == "shell__run"


@pytest.mark.parametrize("custom_as_function", [True, False])
def test_a_custom_tool_comes_back_as_one_where_it_went_as_a_function(custom_as_function: bool) -> None:
    names = named(tool("patch", ToolKind.CUSTOM), custom_as_function=custom_as_function)
    expected = {"patch": ToolName("patch", CallKind.CUSTOM)} if custom_as_function else {}
    assert names.back == expected


def test_hosted_tools_have_no_names() -> None:
    names = named(tool("", ToolKind.HOSTED), tool("", ToolKind.HOSTED))
    assert names.upstream == {}


def test_two_tools_with_one_name_are_refused() -> None:
    found = name_tools(
        [tool("shell__run"), tool("run", namespace="shell", place=1)], 64, custom_as_function=True
    )
    assert isinstance(found, Failure)
    assert (found.kind, found.param) == (Kind.UNSUPPORTED_VALUE, "tools[1]")


@given(st.text(max_size=200), st.none() | st.text(max_size=80), st.integers(1, 200))
def test_every_name_fits(name: str, namespace: str | None, limit: int) -> None:
    found = upstream_name(name, namespace, limit)
    assert len(found) <= limit
    assert re.fullmatch(r"[A-Za-z0-9_-]*", found)
