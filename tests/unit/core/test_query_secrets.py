import pytest

from tidegate.core.query_secrets import query_secrets, without_query_secrets


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
