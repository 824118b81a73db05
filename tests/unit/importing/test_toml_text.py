import tomllib

from hypothesis import given
from hypothesis import strategies as st

from tidegate.importing.toml_text import Plain, written

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
PLAIN = st.recursive(
    TEXT | st.integers(-(2**60), 2**60) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def test_tables_and_lists_of_tables() -> None:
    text = written({"a": {"b": "x", "c": 1}, "empty": {}, "d": [{"e f": True}, {"g": [1, {"h": "i"}]}]})
    assert text == '[a]\nb = "x"\nc = 1\n\n[[d]]\n"e f" = true\n\n[[d]]\ng = [1, { h = "i" }]\n'


@given(table=st.dictionaries(TEXT, PLAIN, min_size=1, max_size=4))
def test_what_is_written_is_read_again(table: dict[str, Plain]) -> None:
    assert tomllib.loads(written({"t": table, "l": [table]})) == {"t": table, "l": [table]}
