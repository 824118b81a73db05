"""Tool calls and searches as output items."""

import json

import pytest
from openai.types.responses import ResponseCustomToolCall, ResponseFunctionToolCall, ResponseFunctionWebSearch
from tests.unit.protocols.encoding import payloads

from tidegate.core.events import CallDelta, CallKind
from tidegate.protocols.client_calls import ClientCall
from tidegate.protocols.responses.call_items import CallItem, search
from tidegate.protocols.responses.numbered import Events, Place

FUNCTION, CUSTOM = CallKind.FUNCTION, CallKind.CUSTOM


def item(kind: CallKind, arrives: CallKind, namespace: str | None = None) -> CallItem:
    return CallItem(Events(), Place("fc_1", 0), ClientCall("call_1", "f", namespace, kind, arrives))


@pytest.mark.parametrize(
    ("kind", "arrives", "piece", "told"),
    [
        (FUNCTION, FUNCTION, '{"a":1}', '{"a":1}'),
        (FUNCTION, FUNCTION, "", "{}"),
        (FUNCTION, CUSTOM, "ls", '{"input":"ls"}'),
        (CUSTOM, CUSTOM, "ls", "ls"),
        (CUSTOM, FUNCTION, '{"input":"ls"}', "ls"),
        (CUSTOM, FUNCTION, "", ""),
    ],
)
def test_a_call_is_told_in_its_declared_form(
    kind: CallKind, arrives: CallKind, piece: str, told: str
) -> None:
    call = item(kind, arrives)
    stream = call.opened() + call.grown(CallDelta(piece))
    written, final = call.closed("completed", None)
    values = payloads(stream + written)
    member = "arguments" if kind is FUNCTION else "input"
    assert "".join(each["delta"] for each in values if each["type"].endswith(".delta")) == told
    assert values[-2][member] == told
    assert values[-1]["item"] == json.loads(final)
    shape = ResponseFunctionToolCall if kind is FUNCTION else ResponseCustomToolCall
    shape.model_validate(values[-1]["item"])


def test_a_namespace_is_told_if_there_is_one() -> None:
    assert json.loads(item(FUNCTION, FUNCTION, "files").so_far())["namespace"] == "files"
    assert "namespace" not in json.loads(item(FUNCTION, FUNCTION).so_far())


def test_a_search_is_whole_at_once() -> None:
    for query in (None, "weather"):
        written, final = search(Events(), Place("ws_1", 0), query)
        values = payloads(written)
        assert [each["sequence_number"] for each in values] == [0, 1, 2, 3, 4]
        ResponseFunctionWebSearch.model_validate(values[0]["item"])
        ResponseFunctionWebSearch.model_validate(json.loads(final))
        assert json.loads(final)["action"].get("query") == query
