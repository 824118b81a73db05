"""The pages of the manual that hold tables made from the code."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.manual_tables import failures, pairs, places, settings

DOCS = Path(__file__).parents[2] / "docs"
CONFIGURATION = DOCS / "configuration.md"


def configuration(page: str) -> str:
    """docs/configuration.md as the code has it; a table that has no place yet gets one at the end."""
    for name in settings.places():
        if name not in places.names(page):
            page = places.with_place(page, f"## `[{name}]`", name)
    return places.renewed(page, lambda name, there: settings.rows(name, settings.read(there)))


def nine_pairs(page: str) -> str:
    """docs/pairs.md as the code has it."""
    return places.renewed(page, lambda name, _: pairs.losses(name))


def errors(page: str) -> str:
    """docs/errors.md as the code has it."""
    return places.renewed(page, lambda name, there: failures.TABLES[name](there))


PAGES: Mapping[Path, Callable[[str], str]] = {
    CONFIGURATION: configuration,
    DOCS / "pairs.md": nine_pairs,
    DOCS / "errors.md": errors,
}


def write() -> None:
    """Write all of them anew."""
    for path, renewed in PAGES.items():
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
