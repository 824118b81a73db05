import pytest
from tests.unit.doctor.streams import Edit, Events, drop, found, good, put

from tidegate.core.protocol import Protocol

RESPONSES = Protocol.RESPONSES
TEXT = [event["type"] for event in good(RESPONSES, "text")]
ADDED, DELTA = TEXT.index("response.content_part.added"), TEXT.index("response.output_text.delta")
TEXT_DONE, DONE = TEXT.index("response.output_text.done"), TEXT.index("response.content_part.done")


def numbered(edit: Edit) -> Edit:
    """As `edit`, with sequence numbers that count on."""

    def both(events: Events) -> None:
        edit(events)
        for number, event in enumerate(events):
            event["sequence_number"] = number

    return both


def twice(number: int) -> Edit:
    return numbered(lambda events: events.insert(number, dict(events[number])))


@pytest.mark.parametrize("case", ["text", "refusal", "reasoning-text", "reasoning-raw-text", "max-tokens"])
def test_parts_that_are_opened_filled_and_closed_have_no_finding(case: str) -> None:
    assert found(RESPONSES, case) == []


@pytest.mark.parametrize(
    ("edit", "rule"),
    [
        (numbered(drop(TEXT_DONE)), "responses-part"),
        (twice(TEXT_DONE), "responses-part"),
        (twice(DONE), "responses-part"),
        (put(ADDED, "part.type", "refusal"), "responses-part"),
        (put(ADDED, "part.type", ""), "responses-part"),
        (put(ADDED, "part.text", None), "responses-part"),
        (drop(ADDED, "part.annotations"), "responses-part"),
        (drop(DONE, "part.annotations"), "responses-part"),
        (put(DONE, "part.type", "refusal"), "responses-part"),
        (drop(DELTA, "item_id"), "responses-item"),
        (drop(DELTA, "content_index"), "responses-part"),
        (put(DELTA, "delta", {}), "responses-part"),
    ],
)
def test_what_is_wrong_with_a_part_is_named(edit: Edit, rule: str) -> None:
    assert rule in found(RESPONSES, "text", edit)
