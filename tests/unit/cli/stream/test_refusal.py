"""How refusals read to a user."""

import json

import pytest

from tidegate.cli.exit_codes import Exit
from tidegate.cli.stream.call import NoAnswer, NoStream, Refused
from tidegate.cli.stream.refusal import no_answer, no_stream, refused
from tidegate.core.failure import Failure, Kind

URL = "http://h/v1/messages"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"error": {"message": "no", "type": "t", "param": None, "code": "c"}}, "c: no"),
        (
            {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
            "overloaded_error: busy",
        ),
        ({"error": "flat"}, "flat"),
        ({"detail": "odd"}, '{"detail": "odd"}'),
        ([1], "[1]"),
    ],
)
def test_the_servers_own_words_are_told(body: object, words: str) -> None:
    complaint = refused(URL, Refused(400, {}, json.dumps(body).encode()))
    assert words in complaint.message
    assert complaint.code is Exit.REFUSED


def test_a_page_is_cut_and_cannot_steer_the_terminal() -> None:
    complaint = refused(URL, Refused(502, {"x-request-id": "req_1"}, b"\x1b[2J" + b"<html>" * 999))
    assert "\x1b" not in complaint.message
    assert len(complaint.message) < 500
    assert complaint.message.endswith("request id req_1")


@pytest.mark.parametrize(
    ("status", "headers", "mend"),
    [
        (401, {}, "a valid credential in TIDEGATE_KEY"),
        (403, {}, "what this credential may use"),
        (404, {}, "--model"),
        (429, {"retry-after": "7"}, "again in 7 seconds"),
        (503, {}, "again later"),
    ],
)
def test_the_mend_fits_the_status(status: int, headers: dict[str, str], mend: str) -> None:
    assert mend in (refused(URL, Refused(status, headers, b"{}")).mend or "")


def test_other_answers() -> None:
    assert "content-type text/html): <p>" in no_stream(URL, NoStream("text/html", b"<p>")).message
    failure = Failure(kind=Kind.UPSTREAM, message="could not connect", detail="refused")
    complaint = no_answer(URL, NoAnswer(failure))
    assert complaint.message.endswith("could not connect (refused)")
    assert complaint.code is Exit.NO_CONNECTION
