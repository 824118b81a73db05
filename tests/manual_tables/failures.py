"""The tables of docs/errors.md: status and words of each kind of failure; causes and mends are by hand."""

from collections.abc import Callable, Mapping

from tests.manual_tables.places import Row, cells, table

from tidegate.core.failure import Failure, Kind
from tidegate.protocols import failures, openai_errors
from tidegate.protocols.messages import errors as messages_errors
from tidegate.protocols.responses import errors as responses_errors

BY_HAND = ("cause", "mend")


def before_output(_: str) -> str:
    """Every kind as an HTTP answer."""
    return table(("kind", "status", "OpenAI `type` / `code`", "Anthropic `type`"), map(_words, Kind))


def causes(there: str) -> str:
    """What lies behind each kind, and what to do about it: the words that are written by hand."""
    written = read(there)
    rows = (
        [f"`{kind.value}`", *(written.get(kind.value, {}).get(cell, "") for cell in BY_HAND)] for kind in Kind
    )
    return table(("kind", *BY_HAND), rows)


def in_a_stream(_: str) -> str:
    """Every code that a `response.failed` of the gateway's own can have, with the kinds that have it."""
    codes: dict[str, list[str]] = {}
    for kind in Kind:
        codes.setdefault(responses_errors.stream_code(Failure(kind=kind, message="")), []).append(kind.value)
    head = ("`response.error.code`", "kinds")
    return table(head, [[f"`{code}`", ", ".join(map("`{}`".format, kinds))] for code, kinds in codes.items()])


TABLES: Mapping[str, Callable[[str], str]] = {
    "before_output": before_output,
    "causes": causes,
    "in_a_stream": in_a_stream,
}


def read(text: str) -> dict[str, Row]:
    """Kind -> its cells by the head of their column."""
    head, *rest = cells(text) or [[]]
    return {row[0].strip("`"): dict(zip(head, row, strict=True)) for row in rest}


def _words(kind: Kind) -> list[str]:
    form = openai_errors.form(kind)
    theirs = messages_errors.form(kind)
    status = str(form.status) if form.status == theirs.status else f"{form.status}, Messages {theirs.status}"
    if kind is Kind.INTERRUPTED:
        status = "200, in the stream"
    if failures.error_headers(failures.failed(kind)):
        status += " + `retry-after`"
    return [f"`{kind.value}`", status, f"`{form.type}` / `{form.code}`", f"`{theirs.type}`"]
