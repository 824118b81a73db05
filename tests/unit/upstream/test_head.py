from typing import Any

import pytest
from tests.unit.upstream.peers import channel

from tidegate.core.failure import Failure
from tidegate.core.header_names import CREDENTIALS, FRAMING
from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.exchange.ports import UpstreamRequest
from tidegate.upstream.head import HeadWriter, head_writer
from tidegate.upstream.origin import Origin, parse_base_url
from tidegate.upstream.proxies import Proxy

PROXY = Proxy("p", 1, Secret("Basic abc"))


def writer(base_url: str = "https://h/v1", proxy: Proxy | None = None, **more: Any) -> HeadWriter:
    made = try_writer(base_url, proxy, **more)
    assert isinstance(made, HeadWriter)
    return made


def try_writer(
    base_url: str = "https://h/v1", proxy: Proxy | None = None, **more: Any
) -> HeadWriter | Failure:
    origin = parse_base_url(base_url)
    assert isinstance(origin, Origin)
    return head_writer(channel(base_url, **more), origin, proxy)


def lines(made: HeadWriter, *headers: tuple[str, str], method: str = "POST", path: str = "/x") -> list[str]:
    head = made.write(UpstreamRequest(method, path, headers, b"" if method == "GET" else b"{}"))
    assert isinstance(head, bytes)
    text = head.decode()
    assert text.endswith("\r\n\r\n")
    return text[:-4].split("\r\n")


@pytest.mark.parametrize(
    ("base_url", "proxy", "path", "target"),
    [
        ("https://h/v1", None, "/x", "/v1/x"),
        ("https://h", None, "/x?beta=true", "/x?beta=true"),
        ("https://h/v1?k=1", None, "/x", "/v1/x?k=1"),
        ("https://h/v1?k=1", None, "/x?beta=true", "/v1/x?beta=true&k=1"),
        ("https://h/v1", PROXY, "/x", "/v1/x"),
        ("http://h/v1", PROXY, "/x", "http://h/v1/x"),
        ("http://[::1]:81", PROXY, "/x", "http://[::1]:81/x"),
    ],
)
def test_the_target(base_url: str, proxy: Proxy | None, path: str, target: str) -> None:
    assert lines(writer(base_url, proxy), path=path)[0] == f"POST {target} HTTP/1.1"


def test_a_plain_proxy_gets_its_credential_and_a_tunnelled_upstream_does_not() -> None:
    assert "proxy-authorization: Basic abc" in lines(writer("http://h", PROXY))
    assert "proxy-authorization: Basic abc" not in lines(writer("https://h", PROXY))


def test_messages_has_a_version_unless_the_request_names_one() -> None:
    made = writer(protocol=Protocol.MESSAGES)
    assert "anthropic-version: 2023-06-01" in lines(made)
    said = lines(made, ("Anthropic-Version", "2099-01-01"))
    assert [line for line in said if line.startswith("anthropic-version")] == [
        "anthropic-version: 2099-01-01"
    ]
    assert "x-api-key: sk-test" in said


def test_a_channel_without_a_key_sends_none() -> None:
    assert not [line for line in lines(writer(api_key=Secret(""))) if line.startswith("authorization")]


def test_a_get_has_no_body_headers() -> None:
    said = lines(writer(), method="GET")
    assert not [line for line in said if line.startswith("content-")]


@pytest.mark.parametrize("name", sorted(FRAMING | CREDENTIALS))
def test_a_request_cannot_set_what_is_not_its_own(name: str) -> None:
    said = lines(writer(), (name.title(), "evil"))
    assert not [line for line in said if "evil" in line]


@pytest.mark.parametrize("name", sorted(FRAMING))
def test_a_channel_cannot_set_the_framing(name: str) -> None:
    assert isinstance(try_writer(headers={name.title(): "x"}), Failure)


def test_a_channels_headers_win_except_where_both_add_up() -> None:
    made = writer(headers={"X-Team": "search", "user-agent": "own", "Anthropic-Beta": "a"})
    said = lines(made, ("x-team", "evil"), ("user-agent", "sdk"), ("anthropic-beta", "b"))
    assert [line for line in said if line.startswith(("x-team", "user-agent", "anthropic-beta"))] == [
        "x-team: search",
        "user-agent: own",
        "anthropic-beta: a",
        "anthropic-beta: b",
    ]


def test_a_channel_may_sign_in_its_own_way() -> None:
    said = lines(writer(protocol=Protocol.MESSAGES, headers={"Authorization": "Bearer own"}))
    assert "authorization: Bearer own" in said
    assert not [line for line in said if line.startswith("x-api-key")]


EVIL = ["a\r\nb: c", "a\nb", "a\rb", "a\0b", "a\x7fb", "\ud800"]


@pytest.mark.parametrize("value", EVIL)
def test_a_value_that_would_break_the_head_is_refused(value: str) -> None:
    assert isinstance(writer().write(UpstreamRequest("POST", "/x", (("x-a", value),), b"")), Failure)
    assert isinstance(try_writer(headers={"x-a": value}), Failure)
    refused = try_writer(api_key=Secret(f"hunter2{value}"))
    assert isinstance(refused, Failure)
    assert "hunter2" not in repr(refused)


@pytest.mark.parametrize("name", ["", "a b", "a:", "a\r\nb", "ä", "a\0"])
def test_a_name_that_would_break_the_head_is_refused(name: str) -> None:
    assert isinstance(writer().write(UpstreamRequest("POST", "/x", ((name, "v"),), b"")), Failure)
    assert isinstance(try_writer(headers={name: "v"}), Failure)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/x y"),
        ("POST", "/x\r\n"),
        ("POST", "x"),
        ("POST", "/x#y"),
        ("POST", "/ä"),
        ("P T", "/x"),
        ("post", "/x"),
    ],
)
def test_a_target_that_would_break_the_head_is_refused(method: str, path: str) -> None:
    assert isinstance(writer().write(UpstreamRequest(method, path, (), b"")), Failure)


def test_bytes_that_were_no_utf8_go_up_as_they_came() -> None:
    head = writer().write(UpstreamRequest("POST", "/x", (("x-a", "caf\udce9 ü"),), b""))
    assert isinstance(head, bytes)
    assert b"x-a: caf\xe9 \xc3\xbc\r\n" in head


def test_paths_do_not_pile_up() -> None:
    made = writer()
    for number in range(1_000):
        assert lines(made, path=f"/responses/{number}")[0] == f"POST /v1/responses/{number} HTTP/1.1"
    assert len(made._starts) <= 128


def test_the_credential_is_not_shown() -> None:
    assert "sk-test" not in repr(writer())
