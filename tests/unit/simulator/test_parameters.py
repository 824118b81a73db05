from pathlib import Path

import pytest

from tidegate.simulator import parameters
from tidegate.simulator.parameters import (
    FAULTS,
    BadParameter,
    Coding,
    Ending,
    Nothing,
    Parameters,
    Ratio,
    parse,
    spared,
)
from tidegate.simulator.trouble import ErrorForm, Kind

NAMES = [name for name in Parameters.__struct_fields__ if name != "base"]
PAGE = Path(__file__).parents[3] / "docs" / "simulator.md"


def parsed(model: str) -> Parameters:
    found = parse(model)
    assert isinstance(found, Parameters), found
    return found


def test_a_bare_name_wishes_for_nothing() -> None:
    assert parsed("claude-sonnet-5") == Parameters(base="claude-sonnet-5")


def test_values_flags_and_blanks() -> None:
    found = parsed(
        "sim; ttft=2s ;rate=80;cut_after=5;cut=reset;error=overloaded;;crlf;split;bom=0;text=a%3Bb%25"
    )
    assert found == Parameters(
        base="sim",
        ttft=2.0,
        rate=80.0,
        cut_after=5,
        cut=Ending.RESET,
        error=Kind.OVERLOADED,
        crlf=True,
        split=1,
        text="a;b%",
    )


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        ("sim;ttft=500ms", "ttft", 0.5),
        ("sim;ttft=1.5", "ttft", 1.5),
        ("sim;stall=1m", "stall", 60.0),
        ("sim;empty", "empty", Nothing.BYTES),
        ("sim;empty=done", "empty", Nothing.DONE),
        ("sim;drop", "drop", Ending.TRUNCATE),
        ("sim;error_form=flat", "error_form", ErrorForm.FLAT),
        ("sim;fail_rate=1/3", "fail_rate", Ratio(1, 3)),
        ("sim;wrong_type", "wrong_type", "text/plain"),
        ("sim;retry_after=Wed, 21 Oct 2026 07:28:00 GMT", "retry_after", "Wed, 21 Oct 2026 07:28:00 GMT"),
    ],
)
def test_each_form_of_value(model: str, name: str, value: object) -> None:
    assert getattr(parsed(model), name) == value


@pytest.mark.parametrize(
    "bad",
    [
        "nonsense",
        "ttfb=2s",
        "ttft",
        "ttft=soon",
        "ttft=-1s",
        "rate=0",
        "rate=nan",
        "words=-1",
        "words=²",
        "words=99999999999",
        "crlf=maybe",
        "status=200",
        "status=600",
        "error=odd",
        "fail_rate=4/3",
        "fail_rate=1/0",
        "cut=gently",
        "split=0",
        "retry_after=a%0d%0ab: c",
        "text=",
        "text=a%00b",
        "base=other",
    ],
)
def test_a_wish_that_cannot_be_obeyed_is_named(bad: str) -> None:
    found = parse(f"sim;{bad}")
    name = bad.partition("=")[0]
    assert isinstance(found, BadParameter)
    assert found.name == name
    assert repr(name) in found.why


def test_a_wish_given_twice_is_named() -> None:
    assert parse("sim;words=3;words=4") == BadParameter(
        "words", "Simulator parameter 'words' is given twice."
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_can_be_given_and_stands_in_the_docs(name: str) -> None:
    assert name in parameters._READERS
    assert f"| `{name}" in PAGE.read_text("utf-8")


def test_the_docs_name_no_parameter_that_is_not_there() -> None:
    _, parameters_on = PAGE.read_text("utf-8").split("## Parameters")
    rows = [line for line in parameters_on.splitlines() if line.startswith("| `")]
    told = {row.split("|")[1].strip(" `").partition("=")[0] for row in rows}
    assert told <= {*NAMES, *(kind.value for kind in Kind)}


def test_a_share_of_the_requests_fails_and_always_the_same() -> None:
    wish = parsed("sim;fail_rate=1/3;status=503;words=3")
    assert [spared(wish, nth).status for nth in range(6)] == [503, None, None, 503, None, None]
    assert spared(wish, 1).words == 3


def test_the_first_requests_fail_with_500_where_no_fault_is_named() -> None:
    wish = parsed("sim;fail_first=2")
    assert [spared(wish, nth).status for nth in range(4)] == [500, 500, None, None]


def test_a_spared_request_feels_no_fault_at_all() -> None:
    wish = parsed("sim;fail_first=1;cut_after=2;cut=reset;html;head_delay=3s;error=server")
    assert spared(wish, 0) == wish
    assert spared(wish, 1) == Parameters(base="sim")


def test_without_such_a_wish_every_request_is_alike() -> None:
    wish = parsed("sim;status=500")
    assert spared(wish, 7) is wish


def test_what_is_said_and_its_pace_are_no_faults() -> None:
    assert not FAULTS & {"words", "text", "rate", "ttft", "tools", "reasoning", "input", "output"}
    assert {"head_delay", "status", "cut", "split", "gzip", "drop"} <= FAULTS


@pytest.mark.parametrize("coding", list(Coding))
def test_the_coding_is_a_flag(coding: Coding) -> None:
    assert parsed(f"sim;{coding.value}").coding is coding
    assert parsed("sim").coding is None
