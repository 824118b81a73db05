"""Members of the right type are taken once; of the wrong one, refused by name."""

import json
from typing import Any

import pytest
from tests.unit.protocols.asking import asked

from tidegate.core.conversation import Given
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.client_members import Members, objects, read_members, text_at, text_if_any
from tidegate.protocols.losses import Losses

ALL: dict[str, Any] = {
    "text": "x",
    "number": 1.5,
    "whole": 10.0,
    "flag": True,
    "object": {"a": 1},
    "list": [1],
}


def test_members_are_taken_by_type_and_the_rest_stays() -> None:
    refusals = Losses()
    members = Members({**ALL, "left": 1, "nothing": None, "default": "d", "empty": []}, refusals)
    assert members.text("text") == Given("x", "text")
    assert members.number("number") == Given(1.5, "number")
    assert members.whole("whole") == Given(10, "whole")
    assert members.flag("flag") == Given(value=True, path="flag")
    inner = members.object("object")
    assert inner is not None
    assert list(inner.rest({})) == [Given(1, "object.a")]
    assert members.elements("list") == [1]
    assert list(members.rest({"default": "d"})) == [Given(1, "left")]
    assert refusals.failure is None


@pytest.mark.parametrize("name", ["text", "number", "whole", "flag", "object"])
def test_null_and_absent_are_nothing(name: str) -> None:
    refusals = Losses()
    for body in ({name: None}, {}):
        assert getattr(Members(body, refusals), name)(name) is None
    assert refusals.failure is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", 1),
        ("number", True),
        ("number", "1"),
        ("whole", 1.5),
        ("whole", float("inf")),
        ("flag", 1),
        ("object", []),
        ("elements", {}),
    ],
)
def test_another_type_is_refused_by_name(name: str, value: Any) -> None:
    refusals = Losses()
    assert getattr(Members({name: value}, refusals, "base"), name)(name) in (None, [])
    assert refusals.failure is not None
    assert (refusals.failure.kind, refusals.failure.param) == (Kind.INVALID_REQUEST, f"base.{name}")


def test_elements_that_are_no_objects_are_refused_by_place() -> None:
    refusals = Losses()
    assert list(objects([{"a": 1}, 7], "input", refusals)) == [("input[0]", {"a": 1})]
    assert refusals.failure is not None
    assert refusals.failure.param == "input[1]"


def test_texts_in_an_object() -> None:
    refusals = Losses()
    assert text_at({"a": "x"}, "a", "p", refusals) == "x"
    assert text_if_any({"a": None}, "a", "p", refusals) is None
    assert refusals.failure is None
    assert text_at({}, "a", "p", refusals) == ""
    assert refusals.failure is not None
    assert refusals.failure.param == "p.a"


def test_a_body_that_is_too_deep_is_a_refusal() -> None:
    body = b'{"model":"m","messages":' + b"[" * 2000 + b"]" * 2000 + b"}"
    found = read_members(Asked(protocol=Protocol.CHAT, body=body, members={}, model="m"), Losses())
    assert isinstance(found, Failure)
    assert found.kind is Kind.INVALID_REQUEST


def test_a_body_that_is_no_object_is_a_refusal() -> None:
    found = read_members(Asked(protocol=Protocol.CHAT, body=b"[]", members={}, model="m"), Losses())
    assert isinstance(found, Failure)


def test_the_whole_body_is_read() -> None:
    body = {"messages": [{"role": "user", "content": "hi"}]}
    found = read_members(asked(Protocol.CHAT, body), Losses())
    assert isinstance(found, Members)
    assert json.dumps(found.take("messages")) == json.dumps(body["messages"])
