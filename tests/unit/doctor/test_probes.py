import json

import pytest

from tidegate.core.protocol import Protocol
from tidegate.doctor.probes import SHORT_SET, Examination, Refused, Streamed, Whole, path_of, probes


@pytest.mark.parametrize(
    ("protocol", "path"),
    [
        (Protocol.CHAT, "/chat/completions"),
        (Protocol.RESPONSES, "/responses"),
        (Protocol.MESSAGES, "/v1/messages"),
    ],
)
def test_every_request_goes_to_the_protocol_s_path(protocol: Protocol, path: str) -> None:
    assert path_of(protocol) == path
    assert {probe.path for probe in probes(protocol, "m")} == {path}


@pytest.mark.parametrize("protocol", Protocol)
def test_the_requests_ask_for_what_is_expected(protocol: Protocol) -> None:
    for probe in probes(protocol, 'm "quoted"'):
        if probe.name == "malformed body":
            assert not probe.body.endswith(b"}")
            continue
        body = json.loads(probe.body)
        match probe.wanted:
            case Streamed(expected):
                assert body["stream"] is True
                assert body["model"] == 'm "quoted"'
                assert ("tools" in body) is (expected.tool is not None)
                assert (16 in body.values()) is (expected.limit is not None)
            case Whole() | Refused():
                assert "stream" not in body


def test_usage_is_asked_for_where_it_is_expected() -> None:
    for probe in probes(Protocol.CHAT, "m"):
        if isinstance(probe.wanted, Streamed):
            assert ("stream_options" in json.loads(probe.body)) is probe.wanted.expected.usage


def test_only_what_is_chosen_is_asked() -> None:
    assert [probe.name for probe in probes(Protocol.CHAT, "m", SHORT_SET)] == [
        "plain stream",
        "tool stream",
        "whole answer",
    ]
    assert len(probes(Protocol.CHAT, "m")) == len(Examination)
    assert len(probes(Protocol.MESSAGES, "m")) == len(Examination) - 1, "usage is told in every stream"


def test_one_request_goes_out_with_a_wrong_key() -> None:
    assert [probe.name for probe in probes(Protocol.CHAT, "m") if not probe.own_key] == ["wrong key"]
