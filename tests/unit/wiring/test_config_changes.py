from pathlib import Path

from tests.unit.config.files import CHANNEL, KEY, read

from tidegate.wiring.config_changes import config_changes

ADMIN = '[admin]\ntoken = "one-token-of-many"\ntrusted_proxies = ["10.0.0.0/8"]\n'


def test_the_same_file_has_no_changes(tmp_path: Path) -> None:
    assert config_changes(read(tmp_path, CHANNEL + KEY), read(tmp_path, CHANNEL + KEY)) == {}


def test_settings_are_told_by_their_place_and_things_by_their_names(tmp_path: Path) -> None:
    before = read(tmp_path, CHANNEL + KEY + "[routing]\nmax_attempts = 3\n")
    other = CHANNEL.replace('"main"', '"second"')
    after = read(
        tmp_path, CHANNEL.replace('"gpt-*"', '"gpt-5"') + other + '[streaming]\nidle_timeout = "9s"\n'
    )
    assert config_changes(before, after) == {
        "routing.max_attempts": (3, 4),
        "streaming.idle_timeout": (360.0, 9.0),
        "channels": (["main"], ["main", "second"]),
        "keys": (["laptop"], []),
    }


def test_a_secret_is_never_told(tmp_path: Path) -> None:
    before = read(tmp_path, CHANNEL + KEY + ADMIN)
    changed = ADMIN.replace("one-token-of-many", "another-token-of-many")
    operators = '[admin.operators]\nalice = "the-token-of-alice"\n'
    after = read(tmp_path, CHANNEL.replace("sk-upstream", "sk-other") + KEY + changed + operators)
    found = config_changes(before, after)
    assert found == {
        "admin.token": ("(set)", "(set)"),
        "admin.operators": ({}, {"alice": "(set)"}),
        "channels": (["main"], ["main"]),
    }
