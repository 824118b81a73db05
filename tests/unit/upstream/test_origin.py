import pytest

from tidegate.upstream.origin import Origin, Scheme, parse_base_url

READ = {
    "https://api.example.com": Origin(Scheme.HTTPS, "api.example.com", 443),
    "HTTPS://API.Example.com/v1/": Origin(Scheme.HTTPS, "api.example.com", 443, "/v1"),
    "http://localhost:8080/a/b": Origin(Scheme.HTTP, "localhost", 8080, "/a/b"),
    "http://[::1]:9000/v1": Origin(Scheme.HTTP, "::1", 9000, "/v1"),
    "https://[2001:DB8:0:0::1]": Origin(Scheme.HTTPS, "2001:db8::1", 443),
    "https://x.example/openai?api-version=1&b=2": Origin(
        Scheme.HTTPS, "x.example", 443, "/openai", "api-version=1&b=2"
    ),
    "https://my_service.example.:444": Origin(Scheme.HTTPS, "my_service.example.", 444),
    "https://münchen.example": Origin(Scheme.HTTPS, "xn--mnchen-3ya.example", 443),
    "https://h:": Origin(Scheme.HTTPS, "h", 443),
}


@pytest.mark.parametrize(("text", "origin"), READ.items())
def test_a_base_url_is_read(text: str, origin: Origin) -> None:
    assert parse_base_url(text) == origin


REFUSED = {
    "": "begin with",
    "api.example.com/v1": "begin with",
    "//api.example.com": "begin with",
    "ftp://x": "begin with",
    "localhost:8080": "begin with",
    "https://": "no valid host",
    "https:///v1": "no valid host",
    "https://:443/v1": "no valid host",
    "https://a..b": "no valid host",
    "https://-a.example": "no valid host",
    "https://a_.*": "no valid host",
    "https://" + "ä" * 70 + ".example": "no valid host",
    "https://[::1%25eth0]": "valid",
    "https://[::1": "not a valid URL",
    "https://[zz]": "valid",
    "https://x:0": "port 0",
    "https://x:65536": "not a valid URL",
    "https://x:a": "not a valid URL",
    "https://user@x": "user name",
    "https://user:secret@x": "user name",
    "https://@x": "user name",
    "https://x/v1#a": "fragment",
    "https://x/v1#": "fragment",
    "https://x/v 1": "spaces",
    " https://x": "spaces",
    "https://x\r\nhost: y": "spaces",
    "https://x\\@y": "spaces",
    "https://x/ä": "percent-encoded",
    "https://x/?a=ä": "percent-encoded",
}


@pytest.mark.parametrize(("text", "problem"), REFUSED.items())
def test_a_base_url_that_cannot_be_is_refused_in_words(text: str, problem: str) -> None:
    told = parse_base_url(text)
    assert isinstance(told, str)
    assert problem in told
    assert "secret" not in told


@pytest.mark.parametrize(
    ("text", "authority", "address"),
    [
        ("https://h", "h", "h:443"),
        ("https://h:443", "h", "h:443"),
        ("http://h:443", "h:443", "h:443"),
        ("https://[::1]", "[::1]", "[::1]:443"),
        ("http://[::1]:81", "[::1]:81", "[::1]:81"),
    ],
)
def test_the_authority_names_only_an_unusual_port(text: str, authority: str, address: str) -> None:
    origin = parse_base_url(text)
    assert isinstance(origin, Origin)
    assert (origin.authority, origin.address) == (authority, address)
