"""Numbered events of a Responses stream."""

from tests.unit.protocols.encoding import payloads

from tidegate.protocols.responses.numbered import Delta, Events, Place, closed, opened


def test_numbers_run_from_zero_over_every_kind_of_event() -> None:
    events, place = Events(), Place("msg_1", 0)
    delta = Delta(events, "response.output_text.delta", place.members(content_index=0), b',"logprobs":[]')
    stream = opened(events, place, {"id": "msg_1"}) + delta.event("a") + delta.event('"\n')
    stream += events.raw("response.x", b'"y":1')
    done, item = closed(events, place, {"id": "msg_1"}, b"")
    told = payloads(stream + done)
    assert [each["sequence_number"] for each in told] == [0, 1, 2, 3, 4]
    assert told[2] == {
        "type": "response.output_text.delta",
        "sequence_number": 2,
        "item_id": "msg_1",
        "output_index": 0,
        "content_index": 0,
        "delta": '"\n',
        "logprobs": [],
    }
    assert item == b'{"id":"msg_1"}'
    assert told[4]["item"] == {"id": "msg_1"}


def test_every_event_is_named_after_its_type() -> None:
    assert Events().event("response.x", {"y": 1}) == (
        b'event: response.x\ndata: {"type":"response.x","sequence_number":0,"y":1}\n\n'
    )
