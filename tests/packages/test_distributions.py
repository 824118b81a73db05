"""The wheel and the source distribution hold what they should, and run without a network."""

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


def _run(*command: str | Path, cwd: Path, **more: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | more,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def _tracked(*folders: str) -> set[str]:
    names = _run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *folders, cwd=_ROOT)
    return {name for name in names.split("\0") if name and (_ROOT / name).exists()}


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, _ROOT, cwd=_ROOT)
    return folder


def _contents(wheel: Path) -> dict[str, str]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if not name.endswith("/RECORD")
        }


def _only(folder: Path, pattern: str) -> Path:
    [found] = folder.glob(pattern)
    return found


def test_the_wheel_holds_every_file_of_the_package(dist: Path) -> None:
    held = {name for name in _contents(_only(dist, "*.whl")) if name.startswith("tidegate/")}
    assert held == {name.removeprefix("src/") for name in _tracked("src/tidegate")}


def test_the_wheel_holds_the_licence(dist: Path) -> None:
    assert any(name.endswith("/licenses/LICENSE") for name in _contents(_only(dist, "*.whl")))


def test_a_wheel_built_from_the_source_distribution_is_the_same(dist: Path, tmp_path: Path) -> None:
    _run("tar", "-xzf", _only(dist, "*.tar.gz"), "-C", tmp_path, cwd=tmp_path)
    source = _only(tmp_path, "tidegate-*")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, source, cwd=source)
    assert _contents(_only(tmp_path, "*.whl")) == _contents(_only(dist, "*.whl"))


def test_the_source_distribution_holds_what_its_own_checks_need(dist: Path) -> None:
    with tarfile.open(_only(dist, "*.tar.gz")) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    wanted = _tracked("src", "docs", "tests", "deploy", "scripts", "bench", "Makefile", "requirements.lock")
    assert wanted <= held


def test_every_package_that_is_imported_is_declared() -> None:
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["tracing"]]
    declared = {re.split(r"[\[<>=! ]", line)[0].lower().replace("_", "-") for line in lines}
    providers = packages_distributions()
    missing: dict[str, str] = {}
    for name in _tracked("src"):
        if not name.endswith(".py"):
            continue
        for module in _imported(ast.parse((_ROOT / name).read_text())):
            if module in sys.stdlib_module_names or module == "tidegate":
                continue
            owners = {owner.lower().replace("_", "-") for owner in providers.get(module, [module])}
            if not any(owner in declared or _comes_with(owner, declared) for owner in owners):
                missing[module] = name
    assert missing == {}


def _comes_with(owner: str, declared: set[str]) -> bool:
    """Parts of what is declared: an SDK and its interfaces are released as one."""
    return owner.startswith("opentelemetry-") and "opentelemetry-sdk" in declared


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


_WITNESS = """
import os, sys

def _note(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        written = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if written and isinstance(path, (str, bytes)):
            os.write(_notes, os.fsencode(os.path.abspath(path)) + b"\\n")
    elif event in ("os.mkdir", "os.rename", "sqlite3.connect") and isinstance(arguments[0], (str, bytes)):
        os.write(_notes, os.fsencode(os.path.abspath(arguments[0])) + b"\\n")

_notes = os.open(os.environ["WITNESS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
sys.addaudithook(_note)
"""
"""Begins with each Python of the installation, and notes every path that is written to."""


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment that was made without an index, from downloaded packages alone."""
    folder = tmp_path_factory.mktemp("offline")
    wheels = folder / "wheels"
    lock = _ROOT / "requirements-run.lock"
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")
    _run(*pip, "download", "--require-hashes", "--no-deps", "-r", lock, "-d", wheels, cwd=folder)
    shutil.copy(_only(dist, "*.whl"), wheels)
    uv = Path(sys.executable).with_name("uv")
    _run(uv, "venv", "--quiet", "--python", sys.executable, folder / "env", cwd=folder)
    install = ("pip", "install", "--quiet", "--no-config", "--no-index", "--find-links", wheels)
    python = folder / "env/bin/python"
    _run(uv, *install, "--python", python, "tidegate[tracing]", cwd=folder, UV_LINK_MODE="copy")
    packages = _only(folder, "env/lib/python*/site-packages")
    packages.joinpath("witness.py").write_text(_WITNESS)
    packages.joinpath("witness.pth").write_text("import witness\n")  # Debian has a sitecustomize of its own
    return folder / "env/bin"


@pytest.mark.timeout(300)
def test_an_offline_installation_streams_an_answer_and_writes_to_its_own_folder_alone(
    installed: Path, tmp_path: Path
) -> None:
    """As in the container: no network, a home that does not exist, one folder that may be written to."""
    state, notes = tmp_path / "state", tmp_path / "notes"
    state.mkdir()
    environ = {
        "PATH": f"{installed}:/usr/bin:/bin",
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(state),
        "WITNESS": str(notes),
        "http_proxy": "http://127.0.0.1:9",  # whoever asks the network finds nobody
        "https_proxy": "http://127.0.0.1:9",
        "no_proxy": "127.0.0.1",
    }
    log = tmp_path / "log"
    with log.open("w") as output:
        command = [str(installed / "tidegate"), "demo", "--port", "0"]
        demo = subprocess.Popen(command, cwd=state, env=environ, stdout=output, stderr=output)
    try:
        base = _await(demo, log, r"listening on (http://\S+)")
        key = _await(demo, log, r"(sk-tg-[\w-]+)")
        where = ("--protocol", "messages", "--model", "sim", "--base-url", base, "--key", key)
        ask = [str(installed / "tidegate"), "stream", *where, "Say hello"]
        answer = subprocess.run(
            ask, cwd=state, env=environ, capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        demo.terminate()
        code = demo.wait(30)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert code in (0, 130), log.read_text()
    written = set(notes.read_text().splitlines())
    assert written, "the witness saw nothing"
    assert {path for path in written if not path.startswith((f"{state}/", "/dev/"))} == set()


def _await(process: subprocess.Popen[bytes], log: Path, pattern: str) -> str:
    for _ in range(600):
        found = re.search(pattern, log.read_text())
        if found:
            return found[1]
        assert process.poll() is None, log.read_text()
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(f"no {pattern}: {log.read_text()}")
