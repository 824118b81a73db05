"""What must not stand in any committed file, and what the lock files must hold."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HOSTS = [
    host.replace("-dot-", ".")
    for host in (
        "pypi-dot-org",
        "files-dot-pythonhosted-dot-org",
        "registry-dot-npmjs-dot-org",
        "registry-dot-yarnpkg-dot-com",
        "deb-dot-debian-dot-org",
        "proxy-dot-golang-dot-org",
    )
]
MACHINE_PATH = re.compile(r"(?<![\w.$~{}-])/(?:root|home|Users|work|workspace|opt(?!/tidegate|/build))/[\w.]")


def tracked() -> list[tuple[str, str]]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    paths = [ROOT / line for line in listed.stdout.split("\0") if line]
    return [(str(p.relative_to(ROOT)), p.read_bytes().decode(errors="replace")) for p in paths if p.is_file()]


TRACKED = tracked()


def test_no_file_names_a_package_registry() -> None:
    assert not [(path, host) for path, text in TRACKED for host in HOSTS if host in text]


def test_no_file_names_a_path_of_one_machine() -> None:
    assert not [(path, found.group()) for path, text in TRACKED if (found := MACHINE_PATH.search(text))]


@pytest.mark.parametrize("path", ["requirements.lock", "tests/contract/node/package-lock.json"])
def test_lock_files_hold_hashes_and_no_addresses(path: str) -> None:
    text = (ROOT / path).read_text()
    assert "://" not in text
    assert '"resolved"' not in text
    assert "sha256:" in text or "sha512-" in text


def test_every_package_of_the_lock_is_pinned_by_hash() -> None:
    entries = re.split(r"\n(?=[a-z0-9])", (ROOT / "requirements.lock").read_text())
    pins = [entry for entry in entries if not entry.startswith("#")]
    assert len(pins) > 30
    assert not [entry.splitlines()[0] for entry in pins if "==" not in entry or "--hash=sha256:" not in entry]


def test_the_lock_holds_every_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[^A-Za-z0-9_.-]", line)[0].lower() for line in asked}
    locked = set(re.findall(r"^([a-z0-9_.-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    assert names <= locked


LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)(?:#[^)]*)?\)")


def test_links_between_pages_lead_somewhere() -> None:
    pages = [ROOT / path for path, _ in TRACKED if path.endswith(".md")]
    broken = [
        (page.name, target)
        for page in pages
        for target in LINK.findall(page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert not broken
