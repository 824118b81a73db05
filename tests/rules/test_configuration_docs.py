"""docs/configuration.md names every setting, no other, and its defaults and examples are true."""

import re
from pathlib import Path

import msgspec
import pytest

from tidegate.config import load, settings
from tidegate.core.capability import Capabilities
from tidegate.core.price import Price, PriceTier
from tidegate.routing.catalog import Channel, Key, Model

PAGE = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`[a-z0-9_]+`(?:, `[a-z0-9_]+`)*) \| (.*?) \|", re.MULTILINE)
TOML = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
ENVIRONMENT = {
    "TIDEGATE_ADMIN_TOKEN": "admin-token",
    "OPENAI_API_KEY": "sk-one",
    "ANTHROPIC_API_KEY": "sk-two",
    "TIDEGATE_KEY": "sk-tg-three",
}
PRICING = {"price_tiers", "service_tiers"}
SECTIONS: list[tuple[str, type[msgspec.Struct], set[str]]] = [
    ("## `[server]`", settings.Server, set()),
    ("## `[database]`", settings.Database, set()),
    ("## `[redis]`", settings.Redis, set()),
    ("## `[admin]`", settings.Admin, set()),
    ("## `[streaming]`", settings.Streaming, set()),
    ("## `[routing]`", settings.Routing, set()),
    ("## `[[channels]]`", Channel, PRICING),
    ("## `[[models]]`", Model, PRICING),
    ("## `[[accounts]]`", settings.Account, set()),
    ("## `[[keys]]`", Key, {"key"}),
    ("| setting of `price` |", Price, set()),
    ("| setting of `price_tiers` |", PriceTier, set()),
    ("| setting of `capabilities` |", Capabilities, set()),
]


def rows(start: str) -> dict[str, str]:
    """Setting -> default, as the first table after `start` says."""
    after = PAGE[PAGE.index(f"\n{start}") + 1 :]
    table = re.search(r"(?:^\|.*\n)+", after, re.MULTILINE)
    assert table is not None
    return {
        name: default
        for names, default in ROW.findall(table.group())
        for name in re.findall(r"`([a-z0-9_]+)`", names)
    }


@pytest.mark.parametrize(("start", "kind", "more"), SECTIONS)
def test_every_setting_is_documented_and_no_other(
    start: str, kind: type[msgspec.Struct], more: set[str]
) -> None:
    inner = {"tiers", "service_tiers"} if kind is Price else set()
    assert set(rows(start)) == set(kind.__struct_fields__) - inner | more


@pytest.mark.parametrize(("start", "kind", "_more"), SECTIONS[:6])
def test_the_documented_defaults_are_the_real_ones(
    start: str, kind: type[msgspec.Struct], _more: set[str], tmp_path: Path
) -> None:
    section = start.strip("# `")
    lines = [f"{name} = {text.strip('`')}" for name, text in rows(start).items() if text.startswith("`")]
    file = tmp_path / "tidegate.toml"
    file.write_text(f"{section}\n" + "\n".join(lines))
    assert getattr(load(file, {}), section.strip("[]")) == kind()
    optional = {name for name, text in rows(start).items() if not text.startswith("`")}
    assert all(getattr(kind(), name) is None for name in optional)


def test_the_examples_load(tmp_path: Path) -> None:
    assert len(TOML) == 2
    for text in TOML:
        file = tmp_path / "tidegate.toml"
        file.write_text(text)
        load(file, ENVIRONMENT)


def test_the_small_file_has_nothing_to_warn_of(tmp_path: Path) -> None:
    file = tmp_path / "tidegate.toml"
    file.write_text(TOML[0])
    assert load(file, ENVIRONMENT).warnings == ()
