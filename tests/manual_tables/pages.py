"""The pages of the manual that hold tables made from the code."""

from pathlib import Path

from tests.manual_tables import places, settings

DOCS = Path(__file__).parents[2] / "docs"
CONFIGURATION = DOCS / "configuration.md"


def configuration(page: str) -> str:
    """docs/configuration.md as the code has it; a table that has no place yet gets one at the end."""
    for name in settings.places():
        if name not in places.names(page):
            page = places.with_place(page, f"## `[{name}]`", name)
    return places.renewed(page, lambda name, there: settings.rows(name, settings.read(there)))


def write() -> None:
    """Write all of them anew."""
    CONFIGURATION.write_text(configuration(CONFIGURATION.read_text(encoding="utf-8")), encoding="utf-8")
