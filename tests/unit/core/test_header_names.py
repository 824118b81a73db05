import pytest

from tidegate.core.header_names import may_be_secret


@pytest.mark.parametrize(
    ("name", "value", "may"),
    [
        ("X-Auth", "a", True),
        ("x-api-key", "a", True),
        ("x-team", "search", False),
        ("x-team", "a" * 20, True),
        ("x-team", "many words that are no secret", False),
    ],
)
def test_what_may_be_a_credential(name: str, value: str, may: bool) -> None:
    assert may_be_secret(name, value) is may
