"""A credential cannot be printed by accident."""

from tidegate.core.secret import Secret

HUSH = "sk-hush"


def test_no_way_of_printing_shows_it() -> None:
    secret = Secret(HUSH)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret!r}", f"{[secret]}", "%s" % secret]  # noqa: UP031
    assert not [text for text in shown if HUSH in text]
    assert secret.reveal() == HUSH


def test_it_has_no_dictionary_to_be_dumped() -> None:
    assert not hasattr(Secret(HUSH), "__dict__")


def test_it_compares_by_content_and_is_false_when_empty() -> None:
    assert Secret(HUSH) == Secret(HUSH)
    assert Secret(HUSH) != Secret("other")
    assert Secret(HUSH) != HUSH
    assert len({Secret(HUSH), Secret(HUSH)}) == 1
    assert Secret(HUSH)
    assert not Secret("")
