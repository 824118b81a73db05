import pytest

from tidegate.config.problems import ConfigError, Problem, Severity, key_text, shown


def test_a_problem_is_one_line_with_place_key_and_mend() -> None:
    problem = Problem(
        file="t.toml", key="channels[1].base_url", name="main", line=7, message="is no URL", mend="write one"
    )
    assert str(problem) == "t.toml:7: channels[1].base_url (main): is no URL - write one"
    assert str(ConfigError((problem, problem))) == f"{problem}\n{problem}"


def test_what_has_no_line_or_key_leaves_it_out() -> None:
    warning = Problem(file="t.toml", key="", message="m", mend="n", severity=Severity.WARNING)
    assert str(warning) == "t.toml: warning: m - n"


def test_a_path_reads_like_toml() -> None:
    assert key_text(("channels", 1, "models", "gpt-*")) == 'channels[1].models."gpt-*"'
    assert key_text(("a\nb",)) == '"a?b"'
    assert key_text(()) == ""


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-abcdefghijk",
        "sk_live_12345678",
        "Bearer abc",
        "eyJhbGciOi",
        "0123456789abcdef0123456789abcdef",
    ],
)
def test_what_looks_like_a_credential_is_hidden(text: str) -> None:
    assert shown(text) == "…"


@pytest.mark.parametrize(
    "text",
    [
        "sonnet",
        "key-production",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "accounts/x/models/llama-v3p1-405b",
    ],
)
def test_ordinary_names_are_shown(text: str) -> None:
    assert shown(text) == text


def test_a_name_stays_on_one_line_and_short() -> None:
    assert shown("a\r\n\x1b[31m") == "a???[31m"
    assert shown("a b " * 1000) == f"{('a b ' * 25)}…"
