"""Messages and reasoning as output items."""

import json

from tests.unit.protocols.encoding import payloads

from tidegate.core.events import Cited, ReasoningDelta, ReasoningForm, TextDelta
from tidegate.protocols.responses.items import MessageItem, ReasoningItem
from tidegate.protocols.responses.numbered import Events, Place


def test_a_message_ends_with_the_sum_of_its_deltas() -> None:
    item = MessageItem(Events(), Place("msg_1", 0))
    stream = item.opened() + item.grown(TextDelta("a")) + item.grown(TextDelta("b"))
    assert json.loads(item.so_far())["content"][0]["text"] == "ab"
    written, final = item.closed("completed", None)
    told = payloads(stream + written)
    assert [each["type"] for each in told[-3:]] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
    ]
    assert told[-1]["item"] == json.loads(final)
    assert told[-3]["text"] == "ab"


def test_a_refusal_has_neither_log_probabilities_nor_citations() -> None:
    item = MessageItem(Events(), Place("msg_1", 0), refusal=True)
    told = payloads(item.opened() + item.grown(TextDelta("a", ({"token": "a", "logprob": -1},))))
    assert told[1]["part"] == {"type": "refusal", "refusal": ""}
    assert "logprobs" not in told[2]


def test_a_broken_message_tells_the_citations_so_far() -> None:
    item = MessageItem(Events(), Place("msg_1", 0))
    item.grown(TextDelta("abc"))
    item.cite(Cited("https://example.org/", "t"))
    [annotation] = json.loads(item.so_far())["content"][0]["annotations"]
    assert (annotation["start_index"], annotation["end_index"]) == (0, 3)


def test_reasoning_without_words_is_an_item_with_a_carrier() -> None:
    for summarized in (True, False):
        item = ReasoningItem(Events(), Place("rs_1", 0), summarized=summarized)
        written, final = item.closed("completed", "tgr1.x")
        assert len(payloads(item.opened() + written)) == 2
        assert json.loads(final) == {
            "id": "rs_1",
            "type": "reasoning",
            "status": "completed",
            "summary": [],
            "encrypted_content": "tgr1.x",
        }


def test_broken_reasoning_tells_its_parts_so_far() -> None:
    item = ReasoningItem(Events(), Place("rs_1", 0), summarized=True)
    for part, text in enumerate(("a", "b")):
        item.grown(ReasoningDelta(text, ReasoningForm.SUMMARY, part))
    told = json.loads(item.so_far())
    assert told["status"] == "incomplete"
    assert [part["text"] for part in told["summary"]] == ["a", "b"]
