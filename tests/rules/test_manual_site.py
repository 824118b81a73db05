"""The manual's site builds, holds every page and loads nothing from elsewhere; no link leads nowhere."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scripts.site_hooks import changelog
from tests.manual.blocks import ROOT

LOADED = re.compile(r"""<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href)=["']?(https?:)?//""")
FETCHED = re.compile(r"""url\(["']?(?:https?:)?//|@import\s+["'](?:https?:)?//""")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*?)(?: *\{ *#([\w-]+) *\})?$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. A strict build fails for a link or an anchor that is not there."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, f"mend the links of the pages:\n{done.stderr}"
    return folder


def test_every_page_is_built(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    assert not [str(page) for page in pages if not (site / page).is_file()]


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    styles = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    assert not [path for path, text in pages.items() if LOADED.search(text)]
    assert not [path for path, text in styles.items() if FETCHED.search(text)]


def test_the_search_knows_the_text(site: Path) -> None:
    index = next(site.rglob("search_index.js*")).read_text(encoding="utf-8")
    assert "tidegate-keepalive" in index


def test_the_changelog_tells_what_waits_for_a_release(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n<!-- towncrier release notes start -->\n\n## 1.0\n\n- old\n"
    )
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d" / "+a.added.md").write_text("New\nthing.\n")
    assert changelog(tmp_path) == (
        "# Changelog\n\n## Not released yet\n\n### Added\n\n- New\n  thing.\n\n\n## 1.0\n\n- old\n"
    )


def test_pages_beside_the_manual_link_to_headings_that_are_there() -> None:
    beside = [*ROOT.glob("*.md"), *(ROOT / "deploy").rglob("*.md")]
    broken = []
    for page in beside:
        for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" not in path and anchor not in anchors((page.parent / path) if path else page):
                broken.append(f"{page.name}: {path}#{anchor}")
    assert not broken


def anchors(page: Path) -> set[str]:
    """The ids that the headings of a page get."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {given or slug(title) for title, given in HEADING.findall(text)}


def slug(title: str) -> str:
    plain = re.sub(r"[^\w\s-]", "", html.unescape(re.sub(r"[`*]", "", title))).strip().lower()
    return re.sub(r"[-\s]+", "-", plain)
