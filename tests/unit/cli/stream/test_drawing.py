"""How the pieces of a stream look on a terminal."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.cli.stream.drawing import Pen, Span, draw, printable
from tidegate.cli.stream.said import (
    Ended,
    Failed,
    Piece,
    Reasoning,
    Refusal,
    Stopped,
    Text,
    ToolArguments,
    ToolOpened,
    Unreadable,
)


def drawn(*pieces: Piece) -> list[Span]:
    pen = Pen()
    spans: list[Span] = []
    for piece in pieces:
        pen, more = draw(pen, piece)
        spans += more
    return spans


def text_of(*pieces: Piece) -> str:
    return "".join(span.text for span in drawn(*pieces))


def test_text_runs_on_and_reasoning_is_dim_on_lines_of_its_own() -> None:
    assert drawn(Reasoning("h"), Reasoning("m"), Text("Hi"), Text(" there")) == [
        Span("h", "dim italic"),
        Span("m", "dim italic"),
        Span("\n"),
        Span("Hi"),
        Span(" there"),
    ]


def test_a_new_part_after_a_line_end_adds_no_empty_line() -> None:
    assert text_of(Text("Hi\n"), Refusal("no")) == "Hi\nno"


def test_a_tool_call_stands_under_its_name_and_interleaved_calls_repeat_it() -> None:
    assert (
        text_of(
            Text("Hi"),
            ToolOpened("0", "one"),
            ToolArguments("0", "one", '{"a":'),
            ToolArguments("1", "two", "{}"),
            ToolArguments("0", "one", "1}"),
        )
        == 'Hi\ntool one {"a":\ntool two {}\ntool one 1}'
    )


def test_an_error_event_stands_out() -> None:
    assert drawn(Text("Hi"), Failed("api_error", "gone"))[-1] == Span(
        "error event: api_error: gone\n", "bold red"
    )
    assert text_of(Unreadable("{")) == "event that is not JSON: {\n"


def test_counts_reasons_and_ends_draw_nothing() -> None:
    assert drawn(Stopped("stop"), Ended("[DONE]")) == []


def test_escape_sequences_of_a_model_cannot_steer_the_terminal() -> None:
    assert printable("\x1b[2Jx\x07\x7f\x9b\ud800\r\n\t\U0001f600") == "␛[2Jx␇␡��\n\t😀"


@given(st.text(), st.sampled_from([Text, Reasoning, Refusal]))
def test_nothing_printed_holds_a_control_character(text: str, kind: type[Text]) -> None:
    shown = text_of(kind(text), Failed(text, text), ToolOpened("0", text), ToolArguments("0", text, text))
    assert not [char for char in shown if (ord(char) < 32 or 127 <= ord(char) < 160) and char not in "\n\t"]
