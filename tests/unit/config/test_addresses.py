import pytest

from tidegate.config import addresses
from tidegate.config.settings import Address
from tidegate.config.values import Wrong
from tidegate.core.secret import Secret


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ("http://[::1]:9100", "http://[::1]:9100"),
        ("https://x.example/openai?api-version=1", "https://x.example/openai?api-version=1"),
    ],
)
def test_a_base_url_loses_only_its_closing_slash(raw: str, expected: str) -> None:
    assert addresses.base_url(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        "api.example.com",
        "ftp://api.example.com",
        "https://",
        "https://user:hunter2@api.example.com",
        "https://api.example.com/#hunter2",
        "https://api.example.com:99999",
        "https://hunter2 example.com",
        "https://[::1",
        5,
        "",
    ],
)
def test_a_bad_base_url_is_told_without_repeating_it(raw: object) -> None:
    wrong = addresses.base_url(raw)
    assert isinstance(wrong, Wrong)
    assert "hunter2" not in wrong.message + wrong.mend


def test_an_origin_is_what_a_browser_sends() -> None:
    assert addresses.origin("https://App.Example.com") == "https://app.example.com"
    assert addresses.origin("https://app.example.com:443") == "https://app.example.com"
    assert addresses.origin("http://[::1]:3000") == "http://[::1]:3000"
    assert addresses.origin("*") == "*"


@pytest.mark.parametrize(
    "raw", ["app.example.com", "https://a.example/", "https://a.example/x", "null", "", 1]
)
def test_what_is_no_origin_is_told(raw: object) -> None:
    assert isinstance(addresses.origin(raw), Wrong)


@pytest.mark.parametrize(
    "raw",
    [
        "sqlite:///tidegate.db",
        "postgresql://u:p@host/db",
        "postgres://u:p%40@a:1,b:2/db?sslmode=verify-full",
        "postgresql:///db?host=/run/postgresql",
    ],
)
def test_database_urls(raw: str) -> None:
    assert addresses.database_url(raw) == Secret(raw)


@pytest.mark.parametrize(
    "raw", ["sqlite:///", "sqlite:///:memory:", "sqlite:///a.db?mode=ro", "sqlite://a.db"]
)
def test_an_sqlite_url_names_a_file(raw: str) -> None:
    wrong = addresses.database_url(raw)
    assert isinstance(wrong, Wrong)
    assert wrong.message == "names no file"


@pytest.mark.parametrize(
    "raw",
    [
        *("postgresql+asyncpg://u:hunter2@h/db", "postgresql://u:hunter2%@h/db", "postgresql://"),
        *("postgresql://u:hunter2@h/db?mode=ro", "tidegate.db", "mysql://u:hunter2@h", "sqlite://", 1),
    ],
)
def test_other_database_urls_are_told_without_the_password(raw: object) -> None:
    wrong = addresses.database_url(raw)
    assert isinstance(wrong, Wrong)
    assert "hunter2" not in wrong.message + wrong.mend


def test_redis_urls() -> None:
    assert addresses.redis_url("rediss://:p@host:6379/0") == Secret("rediss://:p@host:6379/0")
    assert isinstance(addresses.redis_url("host:6379"), Wrong)


@pytest.mark.parametrize(
    "rest",
    ["host:port/0", "host:6379?db=first", "host:6379?colour=red", "host:6379?socket_timeout=soon", "[::1"],
)
def test_redis_urls_that_redis_does_not_understand(rest: str) -> None:
    wrong = addresses.redis_url(f"redis://:hunter2@{rest}")
    assert isinstance(wrong, Wrong)
    assert "hunter2" not in f"{wrong.message} {wrong.mend}"


@pytest.mark.parametrize("raw", ["127.0.0.1", "::", "::1", "localhost", "fe80::1%eth0"])
def test_hosts(raw: str) -> None:
    assert addresses.host(raw) == raw


@pytest.mark.parametrize("raw", ["http://x", "a b", "", 1, "[::1]"])
def test_what_is_no_host_is_told(raw: object) -> None:
    assert isinstance(addresses.host(raw), Wrong)


def test_an_address_has_a_port() -> None:
    assert addresses.listen("127.0.0.1:9464") == Address("127.0.0.1", 9464)
    assert addresses.listen("[::1]:0") == Address("::1", 0)


@pytest.mark.parametrize("raw", ["127.0.0.1", ":9464", "x:99999", "x:-1", "::1:9464", 9464, "x:٣"])
def test_what_is_no_address_with_a_port_is_told(raw: object) -> None:
    assert isinstance(addresses.listen(raw), Wrong)
