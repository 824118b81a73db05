"""Results, inputs and strings of a history on OpenAI upstreams."""

import pytest
from tests.unit.protocols.asking import told

from tidegate.core.conversation import Call, Image, Result, Role, Text, Turn
from tidegate.core.events import CallKind
from tidegate.protocols.losses import Losses
from tidegate.protocols.openai_history import FirstResults, call_input, failed_content, is_lone_string

IMAGE = Image(path="p.content[0]", url="https://h.test/a")


@pytest.mark.parametrize(
    ("kind", "said", "wanted", "text"),
    [
        (CallKind.FUNCTION, '{"a":1}', CallKind.FUNCTION, '{"a":1}'),
        (CallKind.FUNCTION, "", CallKind.FUNCTION, "{}"),
        (CallKind.FUNCTION, "not json", CallKind.FUNCTION, "not json"),
        (CallKind.CUSTOM, 'say "x"', CallKind.FUNCTION, '{"input":"say \\"x\\""}'),
        (CallKind.CUSTOM, "x", CallKind.CUSTOM, "x"),
        (CallKind.FUNCTION, '{"input":"x"}', CallKind.CUSTOM, "x"),
    ],
)
def test_inputs(kind: CallKind, said: str, wanted: CallKind, text: str) -> None:
    assert call_input(Call(id="c", name="n", input=said, path="p", kind=kind), wanted) == text


def failed(content: "str | tuple[Text | Image, ...]") -> Result:
    return Result(call_id="c", content=content, path="p", is_error=True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("boom", "Error: boom"),
        ("Error: boom", "Error: boom"),
        ("", "Error"),
        ((), "Error"),
    ],
)
def test_a_failed_call_says_so(content: "str | tuple[Text, ...]", said: str) -> None:
    losses = Losses()
    assert failed_content(failed(content), losses) == said
    assert told(losses.told()) == ["approximated:p.is_error"]


def test_the_first_text_of_a_failed_call_says_so() -> None:
    content = (IMAGE, Text(text="a", path="q"), Text(text="b", path="r"))
    found = failed_content(failed(content), Losses())
    assert found == (IMAGE, Text(text="Error: a", path="q"), Text(text="b", path="r"))


def test_a_failed_call_without_text_gets_one() -> None:
    assert failed_content(failed((IMAGE,)), Losses()) == (Text(text="Error", path="p"), IMAGE)


def test_a_call_that_did_not_fail_is_left_alone() -> None:
    losses = Losses()
    assert failed_content(Result(call_id="c", content="Error", path="p"), losses) == "Error"
    assert losses.told() == ()


def test_the_first_result_of_a_call_counts() -> None:
    losses = Losses()
    results = FirstResults(losses)
    one, two = (Result(call_id="c", content=text, path=f"p[{text}]") for text in "12")
    turn = Turn(role=Role.USER, blocks=(one, Text(text="x", path="p"), two), path="p")
    assert list(results.of(turn)) == [one]
    assert told(losses.told()) == ["dropped:p[2]"]


def test_a_call_that_comes_again_has_a_result_of_its_own() -> None:
    results = FirstResults(Losses())
    result = Result(call_id="c", content="x", path="p")
    turn = Turn(role=Role.USER, blocks=(result,), path="p")
    assert list(results.of(turn)) == [result]
    results.call(Call(id="c", name="n", input="", path="p"))
    assert list(results.of(turn)) == [result]


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        ((), ""),
        ((Text(text="x", path="messages[0].content"),), "x"),
        ((Text(text="x", path="messages[0]"),), "x"),
        ((Text(text="x", path="messages[0].content[0]"),), None),
        ((Text(text="x", path="messages[0].content"), IMAGE), None),
    ],
)
def test_a_string_is_told_from_parts(blocks: "tuple[Text | Image, ...]", text: str | None) -> None:
    assert is_lone_string(Turn(role=Role.USER, blocks=blocks, path="messages[0]")) == text
