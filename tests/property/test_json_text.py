"""Members are found whatever the values and the spacing, and edits touch nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.json_text import DuplicateMemberError, JsonError, Span, elements, load, members, replaced

space = st.text(" \t\r\n", max_size=3)
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=8), values, max_size=6)


def spelled(value: object, data: st.DataObject) -> str:
    """`value` as JSON text with arbitrary spacing, escaped or not."""

    def gap() -> str:
        return data.draw(space)

    match value:
        case dict():
            pairs = [(text_of(name, data), spelled(member, data)) for name, member in value.items()]
            return "{" + ",".join(f"{gap()}{name}{gap()}:{gap()}{text}{gap()}" for name, text in pairs) + "}"
        case list():
            return "[" + ",".join(gap() + spelled(member, data) + gap() for member in value) + "]"
        case str():
            return text_of(value, data)
        case _:
            return json.dumps(value)


def text_of(value: str, data: st.DataObject) -> str:
    return json.dumps(value, ensure_ascii=data.draw(st.booleans()))


@given(objects, st.data())
def test_members_are_found_in_any_spacing(value: dict[str, object], data: st.DataObject) -> None:
    text = (data.draw(space) + spelled(value, data) + data.draw(space)).encode()
    spans = members(text)
    assert list(spans) == list(value)
    assert {name: load(text, span) for name, span in spans.items()} == value
    assert {name: json.loads(text[start:end]) for name, (start, end) in spans.items()} == value


@given(st.lists(values, max_size=6), st.data())
def test_elements_are_found_in_any_spacing(value: list[object], data: st.DataObject) -> None:
    before = data.draw(space)
    text = (before + spelled(value, data) + data.draw(space)).encode()
    spans = elements(text, (0, len(text)))
    assert [json.loads(text[start:end]) for start, end in spans] == value


@given(objects.filter(bool), st.data())
def test_a_member_twice_is_always_seen(value: dict[str, object], data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(list(value)))
    again = {name: data.draw(values | st.just(value[name]))}
    parts = [spelled(value, data)[1:-1], spelled(again, data)[1:-1]]
    if data.draw(st.booleans()):
        parts.reverse()
    text = ("{" + ",".join(parts) + "}").encode()
    with pytest.raises(DuplicateMemberError) as caught:
        members(text)
    assert caught.value.member == name


@given(objects.filter(bool), values, st.data())
def test_an_edit_changes_only_its_member(value: dict[str, object], new: object, data: st.DataObject) -> None:
    text = spelled(value, data).encode()
    name = data.draw(st.sampled_from(list(value)))
    start, end = members(text)[name]
    edited = replaced(text, [(start, end, json.dumps(new).encode())])
    assert json.loads(edited) == {**value, name: new}
    assert edited.startswith(text[:start])
    assert edited.endswith(text[end:])


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:\\ud8c019 aNI-.e', max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    found = members_or_error(text)
    if isinstance(found, JsonError):
        assert found.message.endswith(".")
    else:
        assert len(found) == len(json.loads(text))
        for span in found.values():
            load(text, span)


def members_or_error(text: bytes) -> dict[str, Span] | JsonError:
    try:
        return members(text)
    except JsonError as error:
        return error


@given(st.text(alphabet=st.characters(categories=["Cs", "Ll"]), max_size=8), st.integers(0, 99))
def test_lone_surrogates_do_not_move_what_follows(odd: str, number: int) -> None:
    text = json.dumps({"odd": odd, "number": number}).encode()
    spans = members(text)
    assert load(text, spans["number"]) == number
    assert text[slice(*spans["odd"])] == json.dumps(odd).encode()
    found = load(text, spans["odd"])
    whole = odd.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    assert found == whole
