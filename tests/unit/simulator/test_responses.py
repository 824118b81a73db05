import json
from typing import Any

import pytest

from tidegate.core.protocol import Protocol

from .reading import asked, body, events, tools

MODELS = [
    "sim",
    "sim;reasoning=4",
    "sim;reasoning=4;raw_reasoning",
    "sim;web_search=2",
    "sim;tools=2;text=a b",
    "sim;refusal",
    "sim;ping",
    "sim;words=0",
    "sim;finish=content_filter",
]
LIFECYCLE = ("response.created", "response.in_progress", "keepalive")


def told(model: str, **members: Any) -> list[Any]:
    if "tools" in model:
        members["tools"] = tools(Protocol.RESPONSES, "f", "g")
    found = events(body(asked(Protocol.RESPONSES, model, **members)))
    assert all(name == data["type"] for name, data in found)
    values = [data for _, data in found]
    assert [event["sequence_number"] for event in values] == list(range(len(values)))
    return values


def whole(model: str, **members: Any) -> Any:
    if "tools" in model:
        members["tools"] = tools(Protocol.RESPONSES, "f", "g")
    return json.loads(body(asked(Protocol.RESPONSES, model, stream=False, **members)))


def items(found: list[Any]) -> list[Any]:
    """The items as they were when done, with the order of events checked on the way."""
    assert [event["type"] for event in found[:2]] == ["response.created", "response.in_progress"]
    done: list[Any] = []
    open_item: Any = None
    said = ""
    for event in found[2:-1]:
        kind = event["type"]
        if kind in LIFECYCLE:
            continue
        assert event["output_index"] == len(done)
        if kind == "response.output_item.added":
            assert open_item is None
            open_item, said = event["item"], ""
        elif kind == "response.output_item.done":
            for member in ("id", "type", "call_id"):
                assert open_item.get(member) == event["item"].get(member)
            done.append(event["item"])
            open_item = None
        else:
            assert event["item_id"] == open_item["id"]
            said = _checked(event, said)
    assert open_item is None
    return done


def _checked(event: Any, said: str) -> str:
    if event["type"].endswith(".delta"):
        return said + str(event["delta"])
    finals = [event[key] for key in ("text", "refusal", "arguments", "input") if key in event]
    if event["type"].endswith(".done") and finals:
        assert finals == [said]
    return said


def without_ids(value: Any) -> Any:
    text = json.dumps(value)
    for stem in {entry["id"].split("_")[1][:20] for entry in value}:
        text = text.replace(stem, "ID")
    return json.loads(text)


@pytest.mark.parametrize("model", MODELS)
def test_items_come_one_after_the_other_and_are_those_of_the_end(model: str) -> None:
    found, answer = told(model), whole(model)
    end = found[-1]["response"]
    assert items(found) == end["output"]
    assert without_ids(end["output"]) == without_ids(answer["output"])
    assert found[-1]["type"] == f"response.{end['status']}"
    assert len({event["response"]["id"] for event in found if "response" in event}) == 1
    assert end["usage"]["output_tokens"] == answer["usage"]["output_tokens"]


def test_a_cut_by_the_limit_is_told_by_response_and_item() -> None:
    end = told("sim;words=40", max_output_tokens=16)[-1]
    assert end["type"] == "response.incomplete"
    assert end["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    assert [item["status"] for item in end["response"]["output"]] == ["incomplete"]


def test_custom_tools_and_namespaces_come_back_in_their_own_form() -> None:
    space = {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}
    item = {"type": "additional_tools", "role": "developer", "tools": [space]}
    found = told("sim", input=[item, {"role": "user", "content": "x"}])
    (call,) = items(found)
    assert (call["type"], call["name"], call["namespace"]) == ("custom_tool_call", "exec", "functions")
    assert call["input"] == 'text("hello")'
    assert call["call_id"].startswith("call_")
    assert any(event["type"] == "response.custom_tool_call_input.delta" for event in found)


def test_hidden_reasoning_has_only_its_carrier() -> None:
    thought, _ = items(told("sim", reasoning={"effort": "low"}))
    assert (thought["summary"], thought["encrypted_content"][:4]) == ([], "sim_")


def test_the_response_repeats_the_request() -> None:
    found = told("sim", temperature=0.25, metadata={"a": "b"})
    for event in (found[0], found[-1]):
        assert (event["response"]["temperature"], event["response"]["metadata"]) == (0.25, {"a": "b"})
    assert found[0]["response"]["usage"] is None


@pytest.mark.parametrize("after", [0, 2])
def test_a_failed_response_holds_what_was_said(after: int) -> None:
    end = told(f"sim;error=rate_limit;error_after={after};text=a b c")[-1]
    assert (end["type"], end["response"]["status"]) == ("response.failed", "failed")
    assert end["response"]["error"]["code"] == "rate_limit_exceeded"
    (item,) = end["response"]["output"]
    assert item["status"] == "incomplete"
    assert "".join(part["text"] for part in item["content"]) == ("a b " if after else "")


def test_a_failed_call_holds_the_arguments_so_far() -> None:
    end = told("sim;tools=1;error=server;error_after=2")[-1]
    assert end["response"]["output"][0]["arguments"] == '{"city":'


@pytest.mark.parametrize("form", ["flat", "nested"])
def test_the_other_forms_of_an_error(form: str) -> None:
    end = told(f"sim;error=server;error_form={form}")[-1]
    assert end["type"] == "error"
    assert ("error" in end, "code" in end) == (form == "nested", form == "flat")
