"""What the manual's site has beside docs/: the changelog, and a place in the nav for every page."""

from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[1]
_KINDS = {"added": "Added", "changed": "Changed", "fixed": "Fixed"}
_START = "<!-- towncrier release notes start -->"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Decisions stand below their index, in their order; pages that mkdocs.yml forgot stand at the end."""
    folder = Path(config.docs_dir)
    nav = config.nav or []
    decisions = sorted(f"decisions/{path.name}" for path in (folder / "decisions").glob("[0-9]*.md"))
    for entry in nav:
        if isinstance(entry, dict) and "Decisions" in entry:
            entry["Decisions"] = ["decisions/index.md", *decisions]
    placed = set(_pages(nav))
    left = sorted({str(path.relative_to(folder)) for path in folder.rglob("*.md")} - placed)
    if left:
        nav.append({"More": left})
    return config


def _pages(nav: object) -> Iterator[str]:
    """Every page that a part of the nav names."""
    match nav:
        case str():
            yield nav
        case list():
            for entry in nav:
                yield from _pages(entry)
        case dict():
            yield from _pages(list(nav.values()))
        case _:  # YAML may hold anything
            return


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The changelog with what is not released yet."""
    files.append(File.generated(config, "changelog.md", content=changelog(_ROOT)))
    return files


def changelog(root: Path) -> str:
    """CHANGELOG.md, and above the last release the fragments that wait for the next one."""
    released = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    head, _, rest = released.partition(_START)
    return f"{head.rstrip()}\n\n{_waiting(root / 'changelog.d')}{rest.strip()}\n"


def _waiting(folder: Path) -> str:
    parts: list[str] = []
    for kind, title in _KINDS.items():
        notes = [path.read_text(encoding="utf-8").strip() for path in sorted(folder.glob(f"*.{kind}.md"))]
        parts += [f"### {title}", *(f"- {note}".replace("\n", "\n  ") for note in notes)] if notes else []
    return "\n\n".join(["## Not released yet", *parts, ""]) + "\n" if parts else ""
