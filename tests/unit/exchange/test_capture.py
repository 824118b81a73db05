"""Whose content is noted, how much of it, and that the client's answer is the same with and without."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.unit.exchange.said import ASK, DONE, HELLO, ROLE, STOP, STREAM, USAGE, refuses, says
from tests.unit.exchange.scene import KEY, Scene, channel

from tidegate.core.protocol import Protocol
from tidegate.exchange.capture import OVERHANG, Content, is_chosen

WATCHED = structs.replace(KEY, capture=1.0)


class FakeContents:
    """Remembers what is to be kept, and has as much room as a test says."""

    def __init__(self, limit: int = 1_000, room: int = 1_000_000) -> None:
        self.limit = limit
        self.room = room
        self.kept: list[Content] = []
        self.refused = 0

    def has_room(self, size: int) -> bool:
        if size > self.room:
            return False
        self.room -= size
        return True

    def take(self, content: Content, room: int) -> None:
        self.room += room
        self.kept.append(content)

    def refuse(self) -> None:
        self.refused += 1


def scene(contents: FakeContents, key: Any = WATCHED, **members: Any) -> Scene:
    made = Scene(key=key, **members)
    made.exchange._contents = contents
    return made


async def test_body_and_stream_are_noted_as_the_client_sent_and_saw_them() -> None:
    contents, plain = FakeContents(), Scene()
    watched = scene(contents)
    await watched.play(STREAM, says(ROLE, HELLO, STOP, USAGE, DONE))
    await plain.play(STREAM, says(ROLE, HELLO, STOP, USAGE, DONE))
    [content] = contents.kept
    assert content.id == "req_1"
    assert content.captured_at == 1e9 + watched.clock.now
    assert b'"one two three"' in content.request.start
    assert content.request.length == len(content.request.start)
    assert content.answer.start == watched.pipe.written == plain.pipe.written
    assert content.answer.length == len(watched.pipe.written)
    assert contents.room == 1_000_000


async def test_a_whole_answer_an_error_and_a_count_are_noted_too() -> None:
    contents = FakeContents()
    for body, play, protocol, counts in (
        (ASK, refuses(400), Protocol.CHAT, False),
        (b"no json", None, Protocol.CHAT, False),
        (ASK, lambda call: call.answer(200, b'{"input_tokens":12}'), Protocol.MESSAGES, True),
    ):
        played = Scene(channel(protocol=protocol), key=WATCHED)
        played.exchange._contents = contents
        if play is not None:
            played.upstream.plays.append(play)
        await played.start(body, protocol, counts=counts)
        await played.over()
        assert contents.kept[-1].answer.start == played.pipe.written
    assert [content.request.start[:7] for content in contents.kept] == [b'{"model', b"no json", b'{"model']


async def test_what_was_sent_until_the_client_left_is_noted() -> None:
    contents = FakeContents()
    left = scene(contents)
    left.upstream.plays.append(says(ROLE, HELLO, end=False))
    await left.start(STREAM)
    await left.leave()
    assert contents.kept[0].answer.start == left.pipe.written != b""


async def test_each_direction_is_noted_up_to_its_limit() -> None:
    contents = FakeContents(limit=10)
    played = scene(contents)
    long = {**STREAM, "x": "y" * 10_000}
    await played.play(long, says(ROLE, *[HELLO] * 100, STOP, DONE))
    [content] = contents.kept
    for part in (content.request, content.answer):
        assert len(part.start) == 10 + OVERHANG < part.length
    assert content.answer.length == len(played.pipe.written)


async def test_without_room_requests_are_served_all_the_same() -> None:
    contents = FakeContents(room=10)
    played = scene(contents)
    await played.play(STREAM, says(ROLE, HELLO, STOP, DONE))
    assert (contents.kept, contents.refused, contents.room) == ([], 1, 10)
    assert HELLO in played.pipe.written


async def test_an_answer_for_which_the_room_runs_out_is_noted_up_to_there() -> None:
    contents = FakeContents(room=200)
    played = scene(contents)
    await played.play(STREAM, says(ROLE, *[HELLO] * 9, STOP, DONE))
    [content] = contents.kept
    assert len(content.answer.start) < content.answer.length == len(played.pipe.written)
    assert played.pipe.written.startswith(content.answer.start)
    assert contents.room == 200


async def test_nothing_is_noted_of_a_key_that_does_not_say_so() -> None:
    contents = FakeContents()
    played = scene(contents, KEY)
    await played.play(STREAM, says(ROLE, HELLO, STOP, DONE))
    assert (contents.kept, contents.refused) == ([], 0)


async def test_a_key_may_say_so_where_nothing_can_be_kept() -> None:
    played = Scene(key=WATCHED)
    await played.play(STREAM, says(ROLE, HELLO, STOP, DONE))
    assert HELLO in played.pipe.written


@given(st.text(st.characters(codec="ascii"), max_size=40), st.floats(0, 1), st.floats(0, 1))
def test_who_is_chosen_for_a_share_is_chosen_for_every_larger_one(name: str, a: float, b: float) -> None:
    smaller, larger = sorted((a, b))
    assert is_chosen(name, smaller) <= is_chosen(name, larger)
    assert is_chosen(name, a) == is_chosen(name, a)
    assert is_chosen(name, 1)
    assert not is_chosen(name, 0)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.5, 0.9])
def test_the_share_is_kept_to(share: float) -> None:
    """Ids rise, as the gateway's own do."""
    chosen = sum(is_chosen(f"req_{number:027x}", share) for number in range(20_000))
    assert abs(chosen / 20_000 - share) < 0.02
