"""Errors of the admin API as problem details (RFC 9457)."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec
from aiohttp import web

from tidegate.admin.ports import DeclaredByFile, Fault, GoneMeanwhile, Invalid
from tidegate.core.guard_headers import GUARDS
from tidegate.ledger.refusals import BalanceTooLarge, LedgerRefusal, RefundTooLarge
from tidegate.storage.catalog import ChangedMeanwhile, InUse, NameTaken, NotThere
from tidegate.storage.database import DatabaseUnusable


class Problem(Exception):
    """An error answer. `parameter` names the query parameter that is wrong, `faults` the settings."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        *,
        parameter: str | None = None,
        headers: Mapping[str, str] | None = None,
        faults: Sequence[Fault] = (),
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.parameter = parameter
        self.headers = dict(headers or {})
        self.faults = faults


def wrong_settings(faults: Sequence[Fault]) -> Problem:
    """A 422 that names every setting that is wrong."""
    lines = "; ".join(f"{fault.field}: {fault.message} - {fault.mend}" for fault in faults)
    return Problem(HTTPStatus.UNPROCESSABLE_ENTITY, lines, faults=faults)


def refusal(error: Exception) -> Problem | None:
    """The answer to a change that cannot be made; None for any other error."""
    match error:
        case Invalid():
            return wrong_settings(error.faults)
        case NameTaken():
            return Problem(HTTPStatus.CONFLICT, "name: there is one of this name already", parameter="name")
        case InUse():
            keys = ", ".join(error.names)
            return Problem(
                HTTPStatus.CONFLICT,
                f"it has keys ({keys}); delete them first, or all at once with ?force=true",
            )
        case BalanceTooLarge() | RefundTooLarge():
            return wrong_settings((Fault("amount", str(error), "name a smaller one"),))
        case LedgerRefusal():
            return Problem(HTTPStatus.CONFLICT, str(error))
        case _:  # any other error may come out of a change
            plain = _PLAIN.get(type(error))
            return None if plain is None else Problem(*plain)


_PLAIN: dict[type[Exception], tuple[HTTPStatus, str]] = {
    DeclaredByFile: (HTTPStatus.CONFLICT, "the config file declares it; change it there"),
    GoneMeanwhile: (
        HTTPStatus.CONFLICT,
        "it was made, but somebody has deleted it since or it cannot be read back; look again",
    ),
    NotThere: (HTTPStatus.NOT_FOUND, "there is none of this name"),
    ChangedMeanwhile: (HTTPStatus.PRECONDITION_FAILED, "it has changed since then; read it again first"),
    DatabaseUnusable: (HTTPStatus.SERVICE_UNAVAILABLE, "the database cannot be used now; try again"),
}


def answer(problem: Problem) -> web.Response:
    """The response; its type `about:blank` means that the status says what kind of problem it is."""
    body: dict[str, object] = {
        "type": "about:blank",
        "title": problem.status.phrase,
        "status": problem.status.value,
        "detail": problem.detail,
    }
    if problem.parameter is not None:
        body["parameter"] = problem.parameter
    if problem.faults:
        body["errors"] = [
            {"field": fault.field, "message": fault.message, "mend": fault.mend} for fault in problem.faults
        ]
    return web.Response(
        status=problem.status,
        body=msgspec.json.encode(body),
        content_type="application/problem+json",
        headers={**GUARDS, "cache-control": "no-store", "server": "tidegate", **problem.headers},
    )
