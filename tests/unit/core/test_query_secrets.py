import pytest

from tidegate.core.query_secrets import query_secrets, with_query_secrets, without_query_secrets


@pytest.mark.parametrize(
    ("url", "found", "told"),
    [
        ("https://a.example/v1", (), "https://a.example/v1"),
        ("https://a.example/v1?api-version=2024-10-21", (), "https://a.example/v1?api-version=2024-10-21"),
        (
            "https://a.example/v1?api-version=2&key=a%2Fb",
            ("a%2Fb", "a/b"),
            "https://a.example/v1?api-version=2&key=(set)",
        ),
        ("https://a.example?code=" + "x" * 20, ("x" * 20,), "https://a.example?code=(set)"),
    ],
)
def test_what_may_be_a_credential_is_found(url: str, found: tuple[str, ...], told: str) -> None:
    assert query_secrets(url) == found
    assert without_query_secrets(url, "(set)") == told


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("https://a.example/v1?key=(set)", "https://a.example/v1?key=of-old"),
        ("https://b.example/v2?x=1&key=(set)&y", "https://b.example/v2?x=1&key=of-old&y="),
        ("https://a.example/v1?key=of-new&y", "https://a.example/v1?key=of-new&y"),
        ("https://a.example/v1?other=(set)", "https://a.example/v1?other=(set)"),
        ("https://a.example/(set)", "https://a.example/(set)"),
    ],
)
def test_what_was_hidden_is_put_back(sent: str, meant: str) -> None:
    assert with_query_secrets(sent, "https://a.example/v1?key=of-old", "(set)") == meant
