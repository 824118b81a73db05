"""docs/configuration.md names every setting as the code reads it, and its words about them are complete."""

import re
from pathlib import Path

import pytest
from tests.manual_tables import settings
from tests.manual_tables.pages import CONFIGURATION, configuration
from tests.manual_tables.places import contents
from tests.manual_tables.recording import known_settings

from tidegate.config import load

PAGE = CONFIGURATION.read_text(encoding="utf-8")
TABLES = contents(PAGE)
TOML = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
ENVIRONMENT = {
    "TIDEGATE_ADMIN_TOKEN": "admin-token-1",
    "OPENAI_API_KEY": "sk-one",
    "ANTHROPIC_API_KEY": "sk-two",
    "TIDEGATE_KEY": "sk-tg-three",
}


def test_the_tables_are_what_the_code_reads() -> None:
    assert configuration(PAGE) == PAGE, "write them anew: python -m tests.manual_tables"


def test_every_table_of_the_page_is_one_of_the_code() -> None:
    assert set(TABLES) == set(settings.places())


@pytest.mark.parametrize("place", settings.places())
def test_every_setting_has_a_meaning(place: str) -> None:
    silent = [name for name, row in settings.read(TABLES[place]).items() if not row["meaning"]]
    assert not silent, f"say in docs/configuration.md what they mean: {silent}"


def test_tables_inside_a_model_are_those_inside_a_channel() -> None:
    inside = {place: asked for place, asked in known_settings().items() if len(place) > 2}
    for (section, *rest), asked in inside.items():
        if section in settings.TWINS:
            twin = known_settings()[settings.TWINS[section], *rest]
            assert (asked.default, asked.required) == (twin.default, twin.required)


@pytest.mark.parametrize(
    ("place", "change"),
    [
        (("server", "port"), "restart"),
        (("admin", "token"), "restart"),
        (("admin", "operators"), "reload"),
        (("server", "body_timeout"), "reload"),
        (("channels", "weight"), "reload"),
    ],
)
def test_what_a_change_needs_is_told(place: tuple[str, str], change: str) -> None:
    assert settings.in_force(place) == change


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.5, '"500ms"'), (10, '"10s"'), (120, '"2m"'), (7776000, '"90d"'), (0, "0")]
)
def test_a_duration_is_written_as_a_config_has_it(seconds: float, text: str) -> None:
    assert settings.duration(seconds) == text


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
