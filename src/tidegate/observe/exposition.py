"""Writes figures as a page for Prometheus, in the old text format or as OpenMetrics."""

from collections.abc import Iterator
from enum import Enum
from functools import cache
from itertools import accumulate

from tidegate.observe.counts import Cell, Counts, Labels
from tidegate.observe.figures import FIGURES, Figure, Kind


class Format(Enum):
    """How a page is written; the value is its content type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


_OPENMETRICS = "application/openmetrics-text"
_TEXT = frozenset({"text/plain", "text/*", "*/*"})
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def negotiated(accept: str) -> Format:
    """The format that an Accept header likes best; the old one where it has no preference."""
    best = {Format.OPENMETRICS: 0.0, Format.TEXT: 0.0}
    for entry in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in entry.split(";"))
        found = Format.OPENMETRICS if kind == _OPENMETRICS else Format.TEXT if kind in _TEXT else None
        if found is not None:
            best[found] = max(best[found], _quality(parameters))
    return Format.OPENMETRICS if best[Format.OPENMETRICS] > best[Format.TEXT] else Format.TEXT


def _quality(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


def render(counts: Counts, form: Format) -> str:
    """The page; its order depends on nothing but the figures."""
    lines: list[str] = []
    for figure in FIGURES:
        cells = counts.get(figure.name)
        if cells:
            kind, family = _kind(figure), _family(figure, form)
            lines += (f"# HELP {family} {figure.words}", f"# TYPE {family} {kind}")
            write = _histogram if figure.bounds else _number
            for labels in sorted(cells):
                lines += write(figure, labels, cells[labels])
    if form is Format.OPENMETRICS:
        lines.append("# EOF")
    return "\n".join([*lines, ""])


def _kind(figure: Figure) -> str:
    match figure.kind:
        case Kind.COUNTER:
            return "counter"
        case Kind.HISTOGRAM:
            return "histogram"
        case Kind.SUM | Kind.LEAST | Kind.MOST:
            return "gauge"


def _family(figure: Figure, form: Format) -> str:
    """OpenMetrics names a counter without the end that all of them have."""
    counts = form is Format.OPENMETRICS and figure.kind is Kind.COUNTER
    return figure.name.removesuffix("_total") if counts else figure.name


def _number(figure: Figure, labels: Labels, cell: Cell) -> Iterator[str]:
    yield f"{figure.name}{_braces(_pairs(figure, labels))} {_shown(cell[0], figure.unit)}"


def _histogram(figure: Figure, labels: Labels, cell: Cell) -> Iterator[str]:
    pairs = _pairs(figure, labels)
    begin = f"{figure.name}_bucket{{{pairs}," if pairs else f"{figure.name}_bucket{{"
    total: int | float = 0
    for bound, total in zip(_bounds(figure), accumulate(cell[1:]), strict=True):
        yield f"{begin}{bound}{total}"
    yield f"{figure.name}_sum{_braces(pairs)} {_shown(cell[0], figure.unit)}"
    yield f"{figure.name}_count{_braces(pairs)} {total}"


@cache
def _bounds(figure: Figure) -> tuple[str, ...]:
    """What stands between the other labels of a class and its number."""
    return tuple(f'le="{bound}"}} ' for bound in (*map(str, figure.bounds), "+Inf"))


def _pairs(figure: Figure, labels: Labels) -> str:
    named = zip(figure.labels, labels, strict=True)
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in named)


def _braces(pairs: str) -> str:
    return f"{{{pairs}}}" if pairs else ""


def _shown(number: float, unit: int) -> str:
    """Whole numbers without a fraction."""
    return repr(number) if unit == 1 else repr(number / unit)
