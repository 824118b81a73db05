"""The header and the row that tell what a conversion lost."""

import pytest

from tidegate.core.conversation import Loss, LossCode
from tidegate.core.failure import Kind
from tidegate.protocols.warnings import MAX_BYTES, MAX_ENTRIES, header, row, strict

D, A, K = LossCode.DROPPED, LossCode.APPROXIMATED, LossCode.CLAMPED
SILENT = Loss(D, "messages[1]", silent=True)


def many(count: int, path: str = "p") -> list[Loss]:
    return [Loss(D, f"{path}{number}") for number in range(count)]


def test_every_loss_is_a_code_and_a_path() -> None:
    losses = [Loss(D, "top_k"), Loss(A, "tools[2]"), Loss(K, "temperature")]
    assert header(losses) == "dropped:top_k, approximated:tools[2], clamped:temperature"
    assert row(losses) == ("dropped:top_k", "approximated:tools[2]", "clamped:temperature")


def test_nothing_lost_is_nothing_told() -> None:
    assert header([]) is None
    assert row([]) == ()


def test_a_silent_loss_is_told_in_the_row_only() -> None:
    assert header([SILENT]) is None
    assert header([SILENT, Loss(D, "seed")]) == "dropped:seed"
    assert row([SILENT]) == ("dropped:messages[1]",)


def test_what_was_lost_twice_is_told_once() -> None:
    assert header([Loss(D, "seed")] * 2) == "dropped:seed"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("a.b_c-d[0]", "a.b_c-d[0]"),
        ("a b", "a%20b"),
        ("a,b:c%", "a%2Cb%3Ac%25"),
        ("é", "%C3%A9"),
        ("\r\nx: y", "%0D%0Ax%3A%20y"),
        ("\ud800", "%ED%A0%80"),
    ],
)
def test_other_characters_are_percent_encoded(path: str, told: str) -> None:
    assert header([Loss(D, path)]) == f"dropped:{told}"


def test_the_header_names_so_many_and_counts_the_rest() -> None:
    assert header(many(MAX_ENTRIES)) == ", ".join(row(many(MAX_ENTRIES)))
    told = (header(many(MAX_ENTRIES + 3)) or "").split(", ")
    assert told == [*row(many(MAX_ENTRIES)), "more:3"]
    assert len(row(many(MAX_ENTRIES + 3))) == MAX_ENTRIES + 3


@pytest.mark.parametrize("length", [60, 100, 500, 3000])
def test_the_header_is_never_longer_than_it_may_be(length: int) -> None:
    losses = many(30, "x" * length)
    told = header(losses) or ""
    assert len(told) <= MAX_BYTES
    *named, last = told.split(", ")
    if last.startswith("more:"):
        assert len(named) + int(last.removeprefix("more:")) == len(losses)
    else:
        assert tuple(told.split(", ")) == row(losses)


@pytest.mark.parametrize(
    ("loss", "kind"),
    [
        (Loss(D, "seed"), Kind.UNSUPPORTED_PARAMETER),
        (Loss(A, "tools[0]"), Kind.UNSUPPORTED_VALUE),
        (Loss(K, "temperature"), Kind.UNSUPPORTED_VALUE),
    ],
)
def test_a_strict_caller_is_refused_by_the_first_loss(loss: Loss, kind: Kind) -> None:
    failure = strict([SILENT, loss, Loss(D, "user")])
    assert failure is not None
    assert (failure.kind, failure.param) == (kind, loss.path)


def test_a_strict_caller_does_not_mind_silent_losses() -> None:
    assert strict([SILENT]) is None
