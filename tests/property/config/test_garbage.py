from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.config.test_lines import paths

from tidegate.config import ConfigError, document, load
from tidegate.config.lines import key_lines

SECRET = "hunter2hunter2"
SECTIONS = ["server", "streaming", "routing", "admin", "redis", "database", "channels", "models", "keys", "x"]
SETTINGS = [
    *("name", "protocol", "base_url", "api_key", "models", "headers", "price", "capabilities", "port", "url"),
    *(
        "key",
        "account",
        "idle_timeout",
        "price_tiers",
        "forward_headers",
        "token",
        "tls_cert",
        '"a b"',
        "x.y",
    ),
]
VALUES = [
    *(
        '"chat"',
        '"env:SET"',
        '"env:UNSET"',
        '"file:none"',
        '"https://a.example"',
        "3",
        "-1.5e400",
        "true",
        "[]",
    ),
    *(
        "[1, 'a']",
        "{}",
        "{ a = 1 }",
        '{ "m*" = "m" }',
        "1979-05-27",
        '"""x\ny"""',
        "''",
        "inf",
        "[[1]]",
        "'m'",
    ),
    *(
        '["m", "n*"]',
        '{ input = "1", output = 2.5 }',
        "'10s'",
        f'"sk-{SECRET}"',
        "nonsense",
        "[{ a = [1,\n2] }]",
    ),
]
headers = st.builds(
    str.format,
    st.sampled_from(["[{}]", "[[{}]]", "[{}.price]", "[[{}.price_tiers]]"]),
    st.sampled_from(SECTIONS),
)
pairs = st.builds("{} = {}".format, st.sampled_from(SETTINGS), st.sampled_from(VALUES))
toml_like = st.lists(st.one_of(headers, pairs, pairs, pairs, st.just("# note")), max_size=25).map("\n".join)


def outcome(content: bytes, environ: Mapping[str, str]) -> str:
    """What is told of the file; empty if a problem is not on one line or there is none."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "t.toml"
        file.write_bytes(content)
        try:
            return "\n".join(["loaded", *map(str, load(file, environ).warnings)])
        except ConfigError as error:
            return str(error) if all("\n" not in str(problem) for problem in error.problems) else ""


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_told_in_words(content: bytes) -> None:
    assert outcome(content, {})


@settings(max_examples=400, deadline=None)
@given(toml_like)
@example("[[channels]]\nname = 'a'\n[[channels.price]]\n[[keys]]\nkey = 'a'\nname = []")
def test_settings_in_any_order_and_type_are_told_in_words_without_secrets(text: str) -> None:
    told = outcome(text.encode(), {"SET": f"sk-{SECRET}"})
    assert told
    assert SECRET not in told


@settings(max_examples=400, deadline=None)
@given(toml_like)
def test_every_key_of_a_valid_document_has_a_line_with_its_name(text: str) -> None:
    try:
        values = document.parse(Path("t.toml"), text)
    except ConfigError:
        return
    lines = key_lines(text)
    written = text.split("\n")
    for path in paths((), values):
        assert path in lines
        match path[-1]:
            case str(name):
                assert name in written[lines[path] - 1]
            case int():
                pass
