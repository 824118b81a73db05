import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
import typer
from tests.unit.storage.records import RECORD, record
from typer.testing import CliRunner, Result

from tidegate.cli.complaint import Border
from tidegate.cli.exit_codes import Exit
from tidegate.cli.logs import line, logs
from tidegate.exchange.ports import RequestRecord
from tidegate.storage.database import Database
from tidegate.storage.items import REQUESTS
from tidegate.storage.migrate import bring_up_to_date
from tidegate.storage.writer import Writer

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])}


def fill(url: str, records: Iterable[RequestRecord]) -> None:
    database = Database(url)
    bring_up_to_date(database)
    writer = Writer(database)
    for one in records:
        writer.put(REQUESTS, one)
    writer.do(None).result(10)
    database.close()


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/tidegate.db"


def run(*arguments: str) -> Result:
    app = typer.Typer(cls=Border)
    app.command()(logs)
    app.command("other")(lambda: None)  # one command alone would lose its name
    return CliRunner().invoke(app, ["logs", *arguments])


def test_the_newest_rows_come_oldest_first(url: str) -> None:
    fill(url, [record(number) for number in range(5)])
    result = run("--database", url, "--limit", "2")
    assert result.exit_code == 0
    assert [shown.split()[1] for shown in result.stdout.splitlines()] == ["req_00003", "req_00004"]


def test_json_lines_are_as_the_admin_api_gives_them(url: str) -> None:
    fill(url, [record(1), record(2, outcome="failed", key="other")])
    result = run("--database", url, "--json", "--outcome", "failed", "--key", "other")
    row = json.loads(result.stdout)
    assert (row["id"], row["cost"], row["attempts"][0]["channel"]) == ("req_00002", "0.000000000", "main")


def test_a_line_says_what_one_wants_to_know() -> None:
    assert line(RECORD) == (
        "2023-11-14T22:13:20.123Z  req_0  laptop  sonnet  main  200  completed  "
        "in=18  cache=0/0  out=12  first=412ms  total=5.32s"
    )
    assert line(record(1, cost=447_000)).endswith("total=5.32s  cost=0.000447000")
    failed = record(
        1,
        key=None,
        model=None,
        channel=None,
        status=502,
        outcome="failed",
        first_token_ms=None,
        usage_source="estimated",
        error_code="upstream_error",
        error_message="all channels failed",
    )
    assert line(failed) == (
        "2023-11-14T22:13:21.123Z  req_00001  -  -  -  502  failed  "
        "in=~18  cache=0/0  out=~12  first=-  total=5.32s  error=upstream_error: all channels failed"
    )


def test_a_model_name_cannot_steer_the_terminal() -> None:
    shown = line(record(1, model="x\x1b[2J\ny\u202ez"))
    assert shown.isprintable()


def test_the_database_of_the_config_is_read(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(url, [record(1)])
    config = tmp_path / "gateway.toml"
    config.write_text(
        f'[database]\nurl = "{url}"\n'
        '[[channels]]\nname = "a"\nprotocol = "chat"\nbase_url = "http://127.0.0.1:9/v1"\n'
        'api_key = "sk-x"\nmodels = ["m"]\n'
        '[[keys]]\nname = "k"\nkey = "sk-tg-0123456789abcdef"\n'
    )
    assert "req_00001" in run("--config", str(config)).stdout
    monkeypatch.setenv("TIDEGATE_CONFIG", str(config))
    assert "req_00001" in run().stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--config", "/no/such.toml"), "no such file"),
        (("--database", "sqlite:////no/such.db"), "there is no journal"),
        (("--database", "postgresql://u:hunter2@127.0.0.1:1/db"), "check host and port"),
        (("--database", "postgresql://u:hunter2%@h/db"), "not a PostgreSQL URL"),
        (("--database", "sqlite:///x.db", "--outcome", "fine"), "choose one of completed"),
        (("--database", "sqlite:///x.db", "--protocol", "grpc"), "choose one of chat"),
    ],
)
def test_a_mistake_is_told_without_a_traceback(arguments: tuple[str, ...], told: str) -> None:
    result = run(*arguments)
    assert result.exit_code == Exit.USAGE
    assert told in result.stderr
    assert "hunter2" not in result.output
    assert "Traceback" not in result.output


def test_following_shows_each_new_row_once_and_ends_by_ctrl_c(url: str) -> None:
    fill(url, [record(1)])
    process = subprocess.Popen(
        [sys.executable, "-m", "tidegate", "logs", "--follow", "--database", url],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    try:
        shown = [process.stdout.readline()]
        fill(url, [record(3), record(2)])
        shown += [process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert [row.split()[1] for row in shown] == ["req_00001", "req_00003", "req_00002"]
    assert (process.returncode, rest, errors) == (Exit.INTERRUPTED, "", "")


def test_a_reader_that_goes_away_is_no_error(url: str) -> None:
    fill(url, [record(number) for number in range(2_000)])
    shell = f"{sys.executable} -m tidegate logs -n 2000 --database {url} | head -n 1"
    result = subprocess.run(
        shell, shell=True, check=True, capture_output=True, text=True, env=ENVIRONMENT, timeout=30
    )
    assert result.stdout.split()[1] == "req_00000"
    assert result.stderr == ""
