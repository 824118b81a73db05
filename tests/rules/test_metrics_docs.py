"""docs/metrics.md names every figure as the code shows it."""

import re
from pathlib import Path

from tidegate.core.failure import Kind as FailureKind
from tidegate.observe.counts import MOST_CELLS
from tidegate.observe.figures import FIGURES, Figure, Kind
from tidegate.wiring.readings import LIMITS

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(tidegate_\w+)` \| (\w+) \|([^|]*)\| [^|]+ \|$", PAGE, re.MULTILINE)


def shown(figure: Figure) -> tuple[str, str, str]:
    counts = figure.kind in (Kind.COUNTER, Kind.HISTOGRAM)
    kind = figure.kind.value if counts else "gauge"
    return figure.name, kind, ", ".join(f"`{label}`" for label in figure.labels)


def test_every_figure_is_explained_with_its_labels() -> None:
    assert sorted((name, kind, labels.strip()) for name, kind, labels in ROWS) == sorted(map(shown, FIGURES))


def test_every_kind_of_failure_is_explained() -> None:
    kinds = PAGE.partition("## Kinds of failure")[2]
    named = [name for row in re.findall(r"^\| (`[^|]+) \|", kinds, re.MULTILINE) for name in row.split(", ")]
    assert sorted(named) == sorted(f"`{kind.value}`" for kind in FailureKind)


def test_every_limit_is_explained() -> None:
    [row] = re.findall(r"^\| `tidegate_limit_refusals_total` .*", PAGE, re.MULTILINE)
    assert {word for limit in LIMITS for word in limit} <= set(re.findall(r"`(\w+)`", row))


def test_the_bound_on_labels_is_the_code_s() -> None:
    assert f"more than {MOST_CELLS:,} combinations" in PAGE
