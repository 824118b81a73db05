"""Gathers what a conversion drops, approximates, clamps or cannot say at all."""

from collections.abc import Iterable

from tidegate.core.conversation import Loss, LossCode
from tidegate.core.failure import Failure, Kind


class Losses:
    """The notes of one conversion, in order; the first refusal decides the whole.

    Refusing does not stop the one who converts: what is written afterwards is thrown away, so that every
    step can go on with a value of the right shape instead of threading a failure through.
    """

    __slots__ = ("_found", "failure")

    def __init__(self) -> None:
        self._found: dict[tuple[LossCode, str], Loss] = {}
        self.failure: Failure | None = None

    def dropped(self, path: str, *, silent: bool = False) -> None:
        """`path` does not reach the upstream. `silent`: told in the row only."""
        self._add(LossCode.DROPPED, path, silent=silent)

    def approximated(self, path: str) -> None:
        """`path` reaches the upstream as something like it."""
        self._add(LossCode.APPROXIMATED, path)

    def clamped(self, path: str) -> None:
        """`path` reaches the upstream as the nearest value that it takes."""
        self._add(LossCode.CLAMPED, path)

    def note(self, losses: Iterable[Loss]) -> None:
        """What was found elsewhere."""
        for loss in losses:
            self._add(loss.code, loss.path, silent=loss.silent)

    def refuse_parameter(self, path: str, message: str | None = None) -> None:
        """The channel has nothing like the member at `path`."""
        self.refuse(unsupported_parameter(path, message))

    def refuse_value(self, path: str, message: str | None = None) -> None:
        """The channel knows the member at `path`, but not with this value."""
        self.refuse(unsupported_value(path, message))

    def refuse_choices(self, path: str) -> None:
        """The channel gives one answer, and the caller wants several (`n`)."""
        self.refuse_parameter(path, "`n` greater than 1 cannot be served by this model.")

    def refuse(self, failure: Failure) -> None:
        """The request cannot be said; only the first reason is kept."""
        if self.failure is None:
            self.failure = failure

    def told(self) -> tuple[Loss, ...]:
        """Everything that was noted, each once."""
        return tuple(self._found.values())

    def _add(self, code: LossCode, path: str, *, silent: bool = False) -> None:
        self._found.setdefault((code, path), Loss(code, path, silent))


def unsupported_parameter(path: str, message: str | None = None) -> Failure:
    """400 for a member that the channel's protocol does not have (conversion.md §1)."""
    said = message or f"`{path}` is not supported by the channels of this model."
    return Failure(kind=Kind.UNSUPPORTED_PARAMETER, message=said, param=path)


def unsupported_value(path: str, message: str | None = None) -> Failure:
    """400 for a value that the channel's protocol cannot say (conversion.md §1)."""
    said = message or f"The value of `{path}` is not supported by the channels of this model."
    return Failure(kind=Kind.UNSUPPORTED_VALUE, message=said, param=path)


def malformed(path: str, wanted: str) -> Failure:
    """400 for a part that is not what its protocol says; `wanted` is such as "a string"."""
    return Failure(kind=Kind.INVALID_REQUEST, message=f"`{path}` must be {wanted}.", param=path)


def strict_failure(losses: Iterable[Loss]) -> Failure | None:
    """Why a caller with `conversion = "strict"` is refused; silent losses never count (CONTRACT.md)."""
    loss = next((loss for loss in losses if not loss.silent), None)
    if loss is None:
        return None
    match loss.code:
        case LossCode.DROPPED:
            return unsupported_parameter(loss.path, f"`{loss.path}` would be dropped by the conversion.")
        case LossCode.APPROXIMATED:
            return unsupported_value(
                loss.path, f"`{loss.path}` would only be approximated by the conversion."
            )
        case LossCode.CLAMPED:
            return unsupported_value(loss.path, f"`{loss.path}` would be clamped by the conversion.")
