from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.admin.visitors import Visitor, is_foreign, network_of, visitor

TRUSTED = (ip_network("10.0.0.0/8"), ip_network("::1/128"))
FORWARDED = {
    "host": "127.0.0.1:8080",
    "x-forwarded-for": "6.6.6.6, 203.0.113.9, 10.1.1.1",
    "x-forwarded-proto": "https",
    "x-forwarded-host": "console.example.com",
}


def test_nobody_but_a_trusted_proxy_is_believed() -> None:
    plain = Visitor(address="203.0.113.7", secure=False, host="127.0.0.1:8080")
    assert visitor("203.0.113.7", FORWARDED, TRUSTED, tls=False) == plain
    assert visitor("10.0.0.1", FORWARDED, (), tls=False).address == "10.0.0.1"


@pytest.mark.parametrize("proxy", ["10.0.0.1", "::ffff:10.0.0.1", "::1"])
def test_a_trusted_proxy_tells_address_scheme_and_host(proxy: str) -> None:
    found = visitor(proxy, FORWARDED, TRUSTED, tls=False)
    # What stands before the last address that is no proxy's may have been written by anybody.
    assert found == Visitor(address="203.0.113.9", secure=True, host="console.example.com")


def test_a_proxy_that_tells_nothing_is_the_visitor() -> None:
    assert visitor("10.0.0.1", {"host": "a"}, TRUSTED, tls=True) == Visitor(
        address="10.0.0.1", secure=True, host="a"
    )
    for garbled in ("203.0.113.9, not-an-address", "fe80::1%any text at all"):
        told = {"host": "a", "x-forwarded-for": garbled}
        assert visitor("10.0.0.1", told, TRUSTED, tls=False).address == "10.0.0.1"
    assert visitor(None, FORWARDED, TRUSTED, tls=False).address is None


@pytest.mark.parametrize(
    ("host", "secure", "origin", "foreign"),
    [
        ("gate.example:8080", False, "http://gate.example:8080", False),
        ("gate.example", False, "http://gate.example", False),
        ("gate.example", False, "http://gate.example:80", False),
        ("gate.example", False, "https://gate.example", False),  # a proxy before us may speak TLS
        ("gate.example", True, "https://GATE.example", False),
        ("gate.example", True, "http://gate.example", True),
        ("gate.example", False, "http://gate.example:8080", True),
        ("gate.example", False, "http://gate.example.evil.example", True),
        ("gate.example", False, "http://evil.example", True),
        ("gate.example", False, "null", True),
        ("gate.example", False, "", True),
        ("gate.example", False, "http://gate.example/path", True),
        ("gate.example", False, "http://user@gate.example", True),
        ("gate.example", False, "http://gate.example:99999", True),
        ("[::1]:8080", False, "http://[::1]:8080", False),
        ("", False, "http://", True),
    ],
)
def test_an_origin_must_be_our_own(host: str, secure: bool, origin: str, foreign: bool) -> None:
    here = Visitor(address="::1", secure=secure, host=host)
    assert is_foreign(here, {"origin": origin}) is foreign


@pytest.mark.parametrize(
    ("site", "foreign"), [("same-origin", False), ("same-site", True), ("cross-site", True), ("none", True)]
)
def test_what_a_browser_says_of_the_site_must_be_our_own(site: str, foreign: bool) -> None:
    here = Visitor(address="::1", secure=False, host="gate.example")
    assert is_foreign(here, {"sec-fetch-site": site}) is foreign
    assert is_foreign(here, {"sec-fetch-site": site, "origin": "http://evil.example"})
    assert not is_foreign(here, {})


def test_an_owner_of_many_addresses_counts_once() -> None:
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::9") == "2001:db8:1:2::/64"
    assert network_of("::ffff:192.0.2.1") == network_of("192.0.2.1") == "192.0.2.1"
    assert network_of(None) == network_of("garbage") == "unknown"


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_header_breaks_it(forwarded: str, host: str, origin: str) -> None:
    headers = {"x-forwarded-for": forwarded, "x-forwarded-host": host, "x-forwarded-proto": origin}
    found = visitor("10.0.0.1", {**headers, "host": host}, TRUSTED, tls=False)
    is_foreign(found, {"origin": origin, "sec-fetch-site": host})
    network_of(found.address)
