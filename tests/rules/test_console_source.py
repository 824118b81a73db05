"""What the console's files keep to: nothing of another origin, no markup from text, small files."""

import re
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "src" / "tidegate" / "console" / "static"
OWN = sorted(path for path in STATIC.rglob("*") if path.is_file() and "vendor" not in path.parts)
SCRIPTS = [path for path in OWN if path.suffix == ".js"]
STYLES = [path for path in OWN if path.suffix == ".css"]
MARKUP_FROM_TEXT = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|createContextualFragment"
    r"|\beval\(|new Function|srcdoc|javascript:"
)
FOREIGN = re.compile(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", re.IGNORECASE)
NAMESPACE = "http://www.w3.org/2000/svg"


def _named(path: Path) -> str:
    return path.relative_to(STATIC).as_posix()


def _code(path: Path) -> str:
    """The text without comments, which begin at a line's own beginning or after a space."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"/\*.*?\*/|(?<=\s)//[^\n]*", "", text, flags=re.DOTALL)


def test_there_are_files_to_look_at() -> None:
    assert len(SCRIPTS) > 20
    assert len(STYLES) > 3


@pytest.mark.parametrize("path", SCRIPTS, ids=_named)
def test_a_script_is_small_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("/**"), "it begins with a comment that says what it is for"
    assert text.count("\n") <= 400, "files have at most 400 lines"
    assert "\t" not in text


@pytest.mark.parametrize("path", SCRIPTS, ids=_named)
def test_no_script_makes_markup_of_text(path: Path) -> None:
    found = MARKUP_FROM_TEXT.search(_code(path))
    assert found is None, found


@pytest.mark.parametrize("path", OWN, ids=_named)
def test_nothing_is_fetched_from_elsewhere(path: Path) -> None:
    found = FOREIGN.search(path.read_text(encoding="utf-8").replace(NAMESPACE, ""))
    assert found is None, found


@pytest.mark.parametrize("path", SCRIPTS, ids=_named)
def test_what_a_script_imports_is_there(path: Path) -> None:
    for name in re.findall(r"(?:from|import)\s*\(?\s*'([^']+)'", _code(path)):
        assert name.startswith("."), f"{name} is not a file of the console"
        assert (path.parent / name).resolve().is_file(), name


def test_the_page_has_nothing_inline_and_names_files_that_are_there() -> None:
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script>|<base", index)
    for name in re.findall(r'(?:src|href)="([^"]+)"', index):
        assert name.startswith("/console/"), name
        assert (STATIC / name.removeprefix("/console/")).is_file(), name
    for style in STYLES:
        assert f'"/console/style/{style.name}"' in index, f"{style.name} is not used"


def test_what_every_page_needs_is_fetched_at_once() -> None:
    """Without the links each module is found only when the one that imports it is there."""
    index = (STATIC / "index.html").read_text(encoding="utf-8")
    needed: set[Path] = set()
    left = [STATIC / "app.js"]
    while left:
        path = left.pop()
        if path not in needed:
            needed.add(path)
            found = re.findall(r"""from\s*['"](\.[^'"]+)['"]""", _code(path))
            left += [(path.parent / name).resolve() for name in found]
    told = re.findall(r'rel="modulepreload" href="/console/([^"]+)"', index)
    assert sorted(told) == sorted(_named(path) for path in needed if path.name != "app.js")


def test_each_library_has_its_licence_beside_it() -> None:
    told = (STATIC / "vendor" / "README.txt").read_text(encoding="utf-8")
    for path in (STATIC / "vendor").iterdir():
        if path.suffix in (".js", ".css"):
            assert path.name in told, f"{path.name} is not told in README.txt"
            library = "preact" if path.stem == "hooks" else path.stem
            assert (STATIC / "vendor" / f"LICENSE-{library}.txt").is_file()
