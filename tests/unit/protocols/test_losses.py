"""Losses are told once each; the first refusal decides; strict callers are refused for what is audible."""

import pytest

from tidegate.core.conversation import Loss, LossCode
from tidegate.core.failure import Kind
from tidegate.protocols.losses import Losses, malformed, strict_failure


def test_each_loss_is_told_once_and_in_order() -> None:
    losses = Losses()
    losses.dropped("seed")
    losses.clamped("max_tokens")
    losses.dropped("seed")
    losses.approximated("stop")
    losses.dropped("input[1]", silent=True)
    assert losses.told() == (
        Loss(LossCode.DROPPED, "seed"),
        Loss(LossCode.CLAMPED, "max_tokens"),
        Loss(LossCode.APPROXIMATED, "stop"),
        Loss(LossCode.DROPPED, "input[1]", silent=True),
    )


def test_the_first_refusal_decides() -> None:
    losses = Losses()
    losses.refuse_parameter("logit_bias")
    losses.refuse_value("n")
    assert losses.failure is not None
    assert (losses.failure.kind, losses.failure.param) == (Kind.UNSUPPORTED_PARAMETER, "logit_bias")


def test_a_malformed_part_is_named_with_what_was_wanted() -> None:
    failure = malformed("messages[0].role", "a string")
    assert (failure.kind, failure.param) == (Kind.INVALID_REQUEST, "messages[0].role")
    assert failure.message == "`messages[0].role` must be a string."


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (LossCode.DROPPED, Kind.UNSUPPORTED_PARAMETER),
        (LossCode.APPROXIMATED, Kind.UNSUPPORTED_VALUE),
        (LossCode.CLAMPED, Kind.UNSUPPORTED_VALUE),
    ],
)
def test_a_strict_caller_is_refused_for_the_first_audible_loss(code: LossCode, kind: Kind) -> None:
    failure = strict_failure(
        [Loss(LossCode.DROPPED, "input[1]", silent=True), Loss(code, "x"), Loss(code, "y")]
    )
    assert failure is not None
    assert (failure.kind, failure.param) == (kind, "x")


def test_a_strict_caller_is_not_refused_for_silent_losses() -> None:
    assert strict_failure([Loss(LossCode.DROPPED, "input[1]", silent=True)]) is None
