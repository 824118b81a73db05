"""Finds keys of prepaid accounts that may use models without a price."""

from collections.abc import Iterable, Mapping

from tidegate.config.problems import shown
from tidegate.config.report import Report
from tidegate.config.settings import Config
from tidegate.routing.catalog import Catalog

_MOST_NAMED = 3


def warn_of_free_models(
    config: Config, catalog: Catalog, values: Mapping[str, object], report: Report
) -> None:
    """Such a request is free, which is rarely meant where a balance is set. `values` is the file's text."""
    places = _places(values)
    for key in config.keys.values():
        if not catalog.account(key.account).prepaid:
            continue
        free = [name for name in catalog.public_models(key) if catalog.model(name).price is None]
        if free:
            message = f"may use models without a price, so that account {shown(key.account)} pays nothing"
            mend = 'set their price, with "0" for what is free, or name the models of the key'
            report.warning(("keys", places.get(key.name, 0)), f"{message}: {_named(free)}", mend)


def _places(values: Mapping[str, object]) -> dict[object, int]:
    """Where each key stands, by its name; the file has been read without an error."""
    rows = values.get("keys")
    named = enumerate(rows if isinstance(rows, list) else ())
    return {row["name"]: place for place, row in named}


def _named(models: Iterable[str]) -> str:
    names = [shown(name) for name in models]
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
