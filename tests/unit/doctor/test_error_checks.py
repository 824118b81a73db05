import json

import pytest

from tidegate.core.protocol import Protocol
from tidegate.doctor.error_checks import check_refusal
from tidegate.doctor.probes import Refused
from tidegate.doctor.recording import Head

OPENAI = {"error": {"message": "a", "type": "b", "param": None, "code": None}}
ANTHROPIC = {"type": "error", "error": {"type": "b", "message": "a"}}


def rules(
    protocol: Protocol, body: object, status: int = 401, content_type: str = "application/json"
) -> list[str]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = Head(0.1, status, (("content-type", content_type),))
    return [finding.rule for finding in check_refusal(head, raw, protocol, Refused(401, (403,)))]


def test_the_protocol_s_own_form_has_no_finding() -> None:
    assert rules(Protocol.CHAT, OPENAI) == []
    assert rules(Protocol.RESPONSES, OPENAI) == []
    assert rules(Protocol.MESSAGES, ANTHROPIC) == []


@pytest.mark.parametrize(
    ("protocol", "body", "rule"),
    [
        (Protocol.CHAT, ANTHROPIC, "error-members"),
        (Protocol.MESSAGES, OPENAI, "error-body"),
        (Protocol.CHAT, {"error": "no"}, "error-body"),
        (Protocol.CHAT, {"detail": "no"}, "error-body"),
        (Protocol.CHAT, [], "error-body"),
        (Protocol.CHAT, b"no", "error-body"),
        (Protocol.CHAT, b"", "error-body"),
        (Protocol.CHAT, b" <!DOCTYPE html><h1>502</h1>", "error-html"),
        (Protocol.CHAT, b"Traceback (most recent call last):\n  File", "error-trace"),
        (Protocol.CHAT, {"error": {"message": 'File "/app/main.py", line 5'}}, "error-trace"),
        (Protocol.CHAT, {"error": {"message": "TypeError\n    at Server.run (/app.js:1)"}}, "error-trace"),
    ],
)
def test_another_form_is_told(protocol: Protocol, body: object, rule: str) -> None:
    assert rule in rules(protocol, body)


def test_the_status_and_the_content_type_are_looked_at() -> None:
    assert rules(Protocol.CHAT, OPENAI, 500) == ["error-status"]
    assert rules(Protocol.CHAT, OPENAI, 403) == ["error-status-near"]
    assert rules(Protocol.CHAT, OPENAI, content_type="text/plain") == ["content-type"]


def test_a_server_that_does_not_care_is_a_note() -> None:
    assert rules(Protocol.CHAT, {"choices": []}, 200) == ["error-not-refused"]
