import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.exchange.scene import Scene
from tests.unit.storage.records import ATTEMPT, RECORD, record

from tidegate.core.secret import Secret
from tidegate.exchange.current import serve_now
from tidegate.observe import logs

LOG = logging.getLogger("tidegate.test")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave the logging of the test run as it was."""
    root, ours = logging.getLogger(), logging.getLogger("tidegate")
    handlers, level, our_level = list(root.handlers), root.level, ours.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    ours.setLevel(our_level)
    logging.captureWarnings(capture=False)


def set_up(**environ: str) -> io.StringIO:
    stream = io.StringIO()
    logs.set_up(environ, stream)
    return stream


def only_line(stream: io.StringIO) -> Any:
    [line] = stream.getvalue().splitlines()
    return json.loads(line)


def test_without_a_terminal_a_line_is_json_with_what_was_given_besides() -> None:
    stream = set_up()
    LOG.warning("tried %d times", 3, extra={"request_id": "req_1", "channel": "main"})
    line = only_line(stream)
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warning",
        "logger": "tidegate.test",
        "message": "tried 3 times",
        "request_id": "req_1",
        "channel": "main",
    }


def test_on_a_terminal_a_line_is_for_people() -> None:
    stream = Terminal()
    logs.set_up({}, stream)
    LOG.error("no channel", extra={"request_id": "req_1", "model": "a b", "n": 1})
    assert stream.getvalue().endswith('Z ERROR   tidegate.test no channel request_id=req_1 model="a b" n=1\n')


def test_a_line_break_cannot_forge_a_line() -> None:
    stream = set_up(TIDEGATE_LOG_FORMAT="text")
    LOG.error("model %s", "x\n2026 ERROR forged\r\x1b[31m", extra={"model": "y\nz"})
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


@pytest.mark.parametrize("form", ["json", "text"])
def test_an_exception_is_told_without_the_secret_in_it(form: str) -> None:
    stream = set_up(TIDEGATE_LOG_FORMAT=form)
    logs.register_secret(Secret("hunter2-hunter2"))
    try:
        raise ValueError("refused hunter2-hunter2 and sk-0123456789abcdef")
    except ValueError:
        LOG.exception("failed for %s", "Bearer abcdef0123456789", extra={"header": ("x-api-key", "abcd1234")})
    told = stream.getvalue()
    assert "ValueError: refused [redacted] and [redacted]" in told
    for secret in ("hunter2", "sk-0123", "abcdef0123456789", "abcd1234"):
        assert secret not in told


def test_the_level_can_be_chosen() -> None:
    stream = set_up(TIDEGATE_LOG_LEVEL="ERROR")
    LOG.warning("not told")
    LOG.error("told")
    assert only_line(stream)["message"] == "told"
    stream = set_up(TIDEGATE_LOG_LEVEL="debug")
    LOG.debug("told")
    logging.getLogger("some.library").info("not told: libraries only warn")
    assert only_line(stream)["message"] == "told"


@pytest.mark.parametrize(("name", "value"), [("TIDEGATE_LOG_LEVEL", "loud"), ("TIDEGATE_LOG_FORMAT", "xml")])
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        logs.set_up({name: value}, io.StringIO())


def test_a_second_set_up_doubles_no_line() -> None:
    set_up()
    stream = set_up()
    LOG.error("once")
    assert only_line(stream)["message"] == "once"


@pytest.mark.parametrize("odd", ["\ud800", float("nan"), {1: object()}, b"\xff", {"a": {"b": [Secret("x")]}}])
def test_any_value_can_be_logged(odd: object) -> None:
    stream = set_up()
    LOG.error("odd %s", odd, extra={"odd": odd})
    assert only_line(stream)["logger"] == "tidegate.test"


def test_a_circle_can_be_logged() -> None:
    circle: list[object] = []
    circle.append(circle)
    stream = set_up()
    LOG.error("odd", extra={"odd": circle})
    assert only_line(stream)["message"] == "odd"


def test_a_finished_request_is_one_line() -> None:
    stream = set_up()
    logs.log_request(RECORD)
    line = only_line(stream)
    assert line["message"] == "request completed"
    assert (line["request_id"], line["level"], line["logger"]) == ("req_0", "info", "tidegate.requests")
    assert (line["channel"], line["output_tokens"], line["attempts"]) == ("main", 12, 1)
    assert "error" not in line


@pytest.mark.parametrize(
    ("outcome", "level"),
    [
        ("failed", "warning"),
        ("interrupted", "warning"),
        ("rejected", "info"),
        ("client_closed", "info"),
        ("incomplete", "info"),
    ],
)
def test_only_what_went_wrong_here_warns(outcome: str, level: str) -> None:
    stream = set_up()
    logs.log_request(record(1, outcome=outcome, error_message="refused sk-0123456789abcdef"))
    line = only_line(stream)
    assert (line["level"], line["error"]) == (level, "refused [redacted]")


def test_a_finished_request_is_silent_when_the_level_says_so() -> None:
    stream = set_up(TIDEGATE_LOG_LEVEL="warning")
    logs.log_request(RECORD)
    assert stream.getvalue() == ""


def test_a_request_s_line_is_the_same_for_people_and_machines() -> None:
    machines, people = set_up(), Terminal()
    logs.log_request(record(1, model="a\ud800", finish_reason=None))
    line = only_line(machines)
    assert line["model"].startswith("a")
    assert "finish_reason" not in line
    logs.set_up({}, people)
    logs.log_request(record(1, model="a b"))
    assert 'model="a b"' in people.getvalue()


def test_a_secret_that_is_registered_later_is_not_remembered_as_clean() -> None:
    stream = set_up()
    logs.log_request(record(1, model="later-secret-1"))
    logs.register_secret(Secret("later-secret-1"))
    logs.log_request(record(2, model="later-secret-1"))
    first, second = stream.getvalue().splitlines()
    assert "later-secret-1" in first
    assert "later-secret-1" not in second


def test_a_line_that_is_written_for_a_request_has_its_id() -> None:
    async def serves() -> None:
        serve_now(Scene().incoming())
        LOG.warning("deep inside")
        await asyncio.to_thread(LOG.warning, "on a thread")
        LOG.warning("of another", extra={"request_id": "req_2"})
        serve_now(None)
        LOG.warning("of none")

    stream = set_up()
    asyncio.run(serves())
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line.get("request_id") for line in lines] == ["req_1", "req_1", "req_2", None]


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_line_can_steer_a_terminal(form: str) -> None:
    stream = set_up(TIDEGATE_LOG_FORMAT=form)
    harmful = "a\x9b31m\u202eb\x7f\u2028c"
    LOG.error("model %s", harmful, extra={"model": harmful})
    try:
        raise ValueError(harmful)
    except ValueError:
        LOG.exception("failed")
    logs.log_request(record(1, model=harmful, outcome="failed", warnings=(harmful,)))
    told = stream.getvalue()
    assert told.replace("\n", "").isprintable()
    if form == "json":
        assert all(json.loads(line) for line in told.splitlines())


def test_a_try_that_failed_has_a_line_of_its_own() -> None:
    stream = set_up()
    failed = replace(
        ATTEMPT,
        outcome="failed",
        status=503,
        failure_kind="overloaded",
        error="overloaded: try sk-0123456789abc",
    )
    logs.log_attempt("req_1", failed)
    line = only_line(stream)
    line.pop("time")
    assert line == {
        "level": "warning",
        "logger": "tidegate.requests",
        "message": "attempt failed",
        "request_id": "req_1",
        "channel": "main",
        "upstream_model": "claude-sonnet-5",
        "outcome": "failed",
        "status": 503,
        "failure_kind": "overloaded",
        "duration_ms": 5320.5,
        "error": "overloaded: try [redacted]",
    }
    stream = set_up()
    logs.log_attempt("req_1", replace(failed, failure_kind="invalid_request"))
    assert only_line(stream)["level"] == "info"


def test_the_line_of_a_request_tells_what_was_dropped() -> None:
    stream = set_up()
    logs.log_request(replace(RECORD, warnings=()))
    assert "warnings" not in only_line(stream)
    for form in ("json", "text"):
        stream = set_up(TIDEGATE_LOG_FORMAT=form)
        logs.log_request(RECORD)
        assert "dropped:top_k" in stream.getvalue()


def test_a_fault_that_nobody_caught_is_one_line_with_the_request() -> None:
    stream = set_up()
    loop = asyncio.new_event_loop()
    logs.log_fault(
        loop, {"message": "a heartbeat failed", "exception": ValueError("odd"), "request_id": "req_7"}
    )
    loop.close()
    line = only_line(stream)
    assert (line["message"], line["request_id"], line["logger"]) == (
        "a heartbeat failed",
        "req_7",
        "tidegate.faults",
    )
    assert "ValueError: odd" in line["exception"]
