"""Finds the fenced blocks of the README, the manual and the pages beside them."""

import re
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
CHINESE = ROOT / "README.zh-CN.md"
PAGES = (
    README,
    CHINESE,
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "deploy").rglob("*.md")),
)
_FENCE = re.compile(r"^( *)(`{3,})([^\n`]*)\n(.*?)^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)


class Block(Struct, frozen=True):
    """One fenced block; `line` is that of its fence, `language` the first word behind it."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        """Page and line, as a reader of a failure looks for it."""
        return f"{self.page}:{self.line}"


def blocks_of(page: str, text: str) -> list[Block]:
    """The blocks of a page in their order, without the indent that they have in lists."""
    found = []
    for fence in _FENCE.finditer(text):
        indent, language, body = fence[1], fence[3].split(" ")[0].strip(), fence[4]
        plain = "".join(line.removeprefix(indent) for line in body.splitlines(keepends=True))
        found.append(Block(page, text.count("\n", 0, fence.start()) + 1, language, plain))
    return found


def all_blocks() -> list[Block]:
    """Every block of every page."""
    return [
        block
        for path in PAGES
        for block in blocks_of(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]
