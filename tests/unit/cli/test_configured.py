"""Commands that cannot read the configuration say how to do without."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidegate.cli.app import app

_CHANNEL = '[[channels]]\nname = "a"\nprotocol = "chat"\nbase_url = "http://a/v1"\nmodels = ["m"]\n'


@pytest.mark.parametrize("command", [["logs"], ["keys", "list"], ["accounts", "list"], ["ledger", "verify"]])
def test_a_variable_that_is_not_set_here_is_no_dead_end(command: list[str], tmp_path: Path) -> None:
    file = tmp_path / "tidegate.toml"
    file.write_text(_CHANNEL + 'api_key = "env:TIDEGATE_NOT_SET_HERE"\n')
    told = CliRunner().invoke(app, [*command, "--config", str(file)])
    assert told.exit_code == 2
    assert "TIDEGATE_NOT_SET_HERE is not set" in told.stderr
    assert told.stderr.splitlines()[-1].endswith("or name the database alone with --database")


def test_another_mistake_is_mended_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "tidegate.toml"
    file.write_text(_CHANNEL + "nonsense = 1\n")
    told = CliRunner().invoke(app, ["logs", "--config", str(file)])
    assert told.exit_code == 2
    assert "--database" not in told.stderr
