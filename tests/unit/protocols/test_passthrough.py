"""Parts are taken out of raw JSON with their commas, and nothing else moves."""

import json

import pytest

from tidegate.core.failure import Failure, Kind
from tidegate.core.json_text import elements, members, replaced
from tidegate.core.protocol import Protocol
from tidegate.protocols import passthrough
from tidegate.protocols.base import Asked


def asked(body: bytes) -> Asked:
    return Asked(protocol=Protocol.CHAT, body=body, members=members(body), model="m")


@pytest.mark.parametrize(
    ("doomed", "left"),
    [
        (set(), b"[ 1 , 2,3 ]"),
        ({0}, b"[ 2,3 ]"),
        ({1}, b"[ 1,3 ]"),
        ({2}, b"[ 1 , 2 ]"),
        ({0, 1}, b"[3 ]"),
        ({0, 2}, b"[ 2 ]"),
        ({1, 2}, b"[ 1 ]"),
        ({0, 1, 2}, b"[ ]"),
    ],
)
def test_elements_go_with_their_commas(doomed: set[int], left: bytes) -> None:
    text = b"[ 1 , 2,3 ]"
    spans = elements(text, (0, len(text)))
    assert replaced(text, passthrough.removals(text, 0, spans, doomed)) == left


@pytest.mark.parametrize(
    ("name", "left"),
    [
        ("a", b'{ "b,\\"" : {"x":1},\n"c":3 }'),
        ('b,"', b'{ "a": ",",\n"c":3 }'),
        ("c", b'{ "a": ",", "b,\\"" : {"x":1} }'),
        ("d", b'{ "a": ",", "b,\\"" : {"x":1},\n"c":3 }'),
    ],
)
def test_members_go_with_their_names_and_commas(name: str, left: bytes) -> None:
    request = asked(b'{ "a": ",", "b,\\"" : {"x":1},\n"c":3 }')
    assert passthrough.edited(request, passthrough.without_member(request, name)) == left


def test_the_only_member_leaves_an_empty_object() -> None:
    request = asked(b'{"a":1 }')
    assert passthrough.edited(request, passthrough.without_member(request, "a")) == b"{ }"


def test_the_model_is_replaced_in_place_or_not_at_all() -> None:
    request = asked(b'{"x":1, "model" : "m", "y":2}')
    other = passthrough.edited(request, passthrough.model_edits(request, 'up"é'))
    assert other == '{"x":1, "model" : "up\\"é", "y":2}'.encode()
    assert passthrough.edited(request, passthrough.model_edits(request, "m")) is request.body


def test_parts_may_be_edited_inside_or_taken_out_together() -> None:
    text = b'{"l":[{"drop":[1,2]},"gone",{"keep":1},"gone"]}'
    span = members(text)["l"]

    def edit(part: tuple[int, int]) -> "list[tuple[int, int, bytes]] | None":
        if text[slice(*part)] == b'"gone"':
            return None
        inner = passthrough.members_at(text, part).get("drop")
        return passthrough.without_elements(text, inner, lambda number: text[slice(*number)] == b"1")

    edits = passthrough.without_parts(text, span, edit)
    assert json.loads(replaced(text, edits)) == {"l": [{"drop": [2]}, {"keep": 1}]}


def test_what_is_no_container_has_no_parts() -> None:
    assert passthrough.members_at(b"[1]", (0, 3)) == {}
    assert passthrough.elements_at(b"{}", (0, 2)) == []
    assert passthrough.elements_at(b"{}", None) == []
    assert passthrough.without_elements(b"{}", (0, 2), lambda _: True) == []
    assert passthrough.without_parts(b"{}", None, lambda _: None) == []
    assert passthrough.dict_at(b"[1]", (0, 3)) == {}


@pytest.mark.parametrize("status", [400, 404, None])
def test_the_words_of_a_refusal_are_searchable(status: int | None) -> None:
    refusal = Failure(
        kind=Kind.INVALID_REQUEST,
        status=status,
        message="Invalid `signature` in 'Thinking' block",
        code="bad_thing",
        detail='{"raw":1}',
    )
    assert passthrough.refusal_words(refusal) == "bad_thing invalid signature in thinking block {raw:1}"


@pytest.mark.parametrize("status", [401, 413, 422, 429, 500])
def test_other_statuses_call_for_no_repair(status: int) -> None:
    assert (
        passthrough.refusal_words(Failure(kind=Kind.UPSTREAM, status=status, message="stream_options"))
        is None
    )
