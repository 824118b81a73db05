from tidegate.simulator.ask import (
    digest_of,
    first_unanswered,
    object_at,
    objects,
    text_of,
    texts,
    tokens_in,
    whole_number,
)


def test_a_digest_stands_for_body_and_salt() -> None:
    assert digest_of(b"a") == digest_of(b"a")
    assert len({digest_of(b"a"), digest_of(b"b"), digest_of(b"a", "1"), digest_of(b"a", "2")}) == 4
    assert len(digest_of(b"a")) == 20


def test_tokens_follow_the_size_of_the_prompt() -> None:
    assert tokens_in("abcdef", None) == 1 + 2
    assert tokens_in(["x" * 4000]) > 1000


def test_readers_take_what_they_find_and_invent_nothing() -> None:
    assert objects([{}, 1, {"a": 1}]) == [{}, {"a": 1}]
    assert objects("no list") == []
    assert object_at({"a": {"b": 1}}, "a") == {"b": 1}
    assert object_at({"a": 1}, "a") == object_at(None, "a") == {}
    assert text_of("a") == text_of([{"type": "text", "text": "a"}, {"type": "image"}]) == "a"
    assert texts("a") == ("a",)
    assert texts(["a", 1]) == ("a",)
    assert texts(None) == ()
    assert (whole_number(3), whole_number(True), whole_number("3")) == (3, None, None)


def test_the_first_call_without_a_result() -> None:
    assert first_unanswered(["a", "b"], {"a"}) == "b"
    assert first_unanswered(["a"], {"a"}) is None
