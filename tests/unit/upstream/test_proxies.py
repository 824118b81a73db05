from base64 import b64encode

import pytest

from tidegate.core.secret import Secret
from tidegate.upstream.origin import Origin, Scheme
from tidegate.upstream.proxies import BadProxy, Proxy, choose_proxy

SECURE = Origin(Scheme.HTTPS, "api.example.com", 443)
PLAIN = Origin(Scheme.HTTP, "api.example.com", 80)


@pytest.mark.parametrize(
    ("environ", "secure", "plain"),
    [
        ({}, None, None),
        ({"HTTPS_PROXY": ""}, None, None),
        ({"HTTPS_PROXY": "http://p:1"}, Proxy("p", 1), None),
        ({"https_proxy": "http://p:1"}, Proxy("p", 1), None),
        ({"HTTP_PROXY": "http://p:1"}, None, Proxy("p", 1)),
        ({"http_proxy": "http://p:1", "HTTP_PROXY": "http://q:2"}, None, Proxy("p", 1)),
        ({"ALL_PROXY": "http://p:1"}, Proxy("p", 1), Proxy("p", 1)),
        ({"all_proxy": "http://p:1", "HTTPS_PROXY": "http://q:2"}, Proxy("q", 2), Proxy("p", 1)),
        ({"HTTPS_PROXY": "p:3128"}, Proxy("p", 3128), None),
        ({"HTTPS_PROXY": "http://p"}, Proxy("p", 80), None),
        ({"HTTPS_PROXY": " http://[::1]:3128/ "}, Proxy("::1", 3128), None),
    ],
)
def test_the_environment_names_the_proxy(
    environ: dict[str, str], secure: Proxy | None, plain: Proxy | None
) -> None:
    assert (choose_proxy(environ, SECURE), choose_proxy(environ, PLAIN)) == (secure, plain)


def test_a_proxy_may_need_a_password_which_is_not_shown() -> None:
    proxy = choose_proxy({"HTTPS_PROXY": "http://us%65r:p%40ss%C3%A4@p:1"}, SECURE)
    expected = "Basic " + b64encode("user:p@ssä".encode()).decode()
    assert proxy == Proxy("p", 1, Secret(expected))
    assert expected not in repr(proxy)


@pytest.mark.parametrize(
    "url",
    [
        "socks5://p:1",
        "https://u:secret@p:1",
        "http://u:secret@",
        "http://u:secret@p:x",
        "http://[p",
        "http://p:0",
    ],
)
def test_a_proxy_that_cannot_be_used_is_no_reason_to_go_around_it(url: str) -> None:
    bad = choose_proxy({"https_proxy": url}, SECURE)
    assert isinstance(bad, BadProxy)
    assert bad.problem.startswith("HTTPS_PROXY")
    assert "secret" not in bad.problem


EXEMPT = [
    ("*", "any.example", 443),
    ("a.example, any.example", "any.example", 443),
    ("a.example any.example", "any.example", 443),
    ("ANY.example", "any.example", 443),
    ("example", "any.example", 443),
    (".example", "any.example", 443),
    (".any.example", "any.example", 443),
    ("*.example", "any.example", 443),
    ("any.example.", "any.example", 443),
    ("any.example", "any.example.", 443),
    ("any.example:443", "any.example", 443),
    ("localhost", "localhost", 8080),
    ("127.0.0.1", "127.0.0.1", 8080),
    ("127.0.0.0/8", "127.1.2.3", 8080),
    ("10.1.0.0/8", "10.200.0.1", 8080),
    ("::1", "::1", 8080),
    ("[::1]", "::1", 8080),
    ("[::1]:8080", "::1", 8080),
    ("0:0:0:0:0:0:0:1", "::1", 8080),
    ("fe80::/10", "fe80::7", 8080),
]

NOT_EXEMPT = [
    ("", "any.example", 443),
    (",", "any.example", 443),
    (".", "any.example", 443),
    ("ny.example", "any.example", 443),
    ("more.any.example", "any.example", 443),
    ("any.example:8443", "any.example", 443),
    ("any.example:x", "any.example", 443),
    ("0.0.1", "127.0.0.1", 443),
    ("127.0.0.1", "127.0.0.2", 443),
    ("10.0.0.0/8", "11.0.0.1", 443),
    ("10.0.0.0/8", "ten.example", 443),
    ("10.0.0.0/99", "10.0.0.1", 443),
    ("[::1]:80", "::1", 443),
    ("::1", "::2", 443),
]


@pytest.mark.parametrize(("no_proxy", "host", "port"), EXEMPT)
def test_no_proxy_exempts(no_proxy: str, host: str, port: int) -> None:
    environ = {"HTTPS_PROXY": "http://p:1", "NO_PROXY": no_proxy}
    assert choose_proxy(environ, Origin(Scheme.HTTPS, host, port)) is None


@pytest.mark.parametrize(("no_proxy", "host", "port"), NOT_EXEMPT)
def test_no_proxy_exempts_nothing_else(no_proxy: str, host: str, port: int) -> None:
    environ = {"HTTPS_PROXY": "http://p:1", "no_proxy": no_proxy}
    assert choose_proxy(environ, Origin(Scheme.HTTPS, host, port)) == Proxy("p", 1)
