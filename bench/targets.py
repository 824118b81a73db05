"""What is measured: the gateway as delivered, nginx, LiteLLM, and the mock called directly."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, structs

from bench import litellm, meter, nginx
from bench.dialects import PATHS, upstream_model
from bench.process import NotStarted, Process, accepts, free_port
from bench.workloads import Workload

_ROOT = Path(__file__).parent.parent
_KEY = "sk-tg-benchmark-caller-key-0123456789"


class Site(Struct, frozen=True):
    """Where a target may live: its folder, its core, the mock's port, the workloads it has to know."""

    folder: Path
    core: int
    mock_port: int
    workloads: tuple[Workload, ...]


class Target(Struct, frozen=True):
    """A running target. `pids` is empty for the mock itself, which is not under measurement."""

    name: str
    port: int
    key: str
    pids: list[int]
    model: Callable[[str], str]
    """Workload name -> the model name that a caller of this target uses."""


Start = Callable[[Site], "tuple[Process, Target] | Target"]


def tidegate(site: Site) -> tuple[Process, Target]:
    """One worker, key check, routing and the journal on SQLite; every setting at its default."""
    port = free_port()
    config = site.folder / "tidegate.toml"
    config.write_text(_tidegate_toml(site, port))
    source = f"{_ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    process = Process(
        [sys.executable, "-m", "tidegate", "serve", "--config", str(config), "--workers", "1"],
        site.core,
        site.folder / "tidegate.log",
        {"PYTHONPATH": source.rstrip(os.pathsep)},
    )
    return _ready(process, "tidegate", port, _KEY, lambda name: f"bench-{name}", within=30)


def _tidegate_toml(site: Site, port: int) -> str:
    [crosses] = {load.crosses for load in site.workloads}
    names = ", ".join(f'"bench-{load.name}" = "{upstream_model(load.name)}"' for load in site.workloads)
    lines = [
        "[server]",
        f"port = {port}",
        "[database]",
        f'url = "sqlite:///{site.folder}/tidegate.db"',
        "[[keys]]",
        'name = "bench"',
        f'key = "{_KEY}"',
    ]
    for protocol in PATHS if crosses is None else crosses[:1]:
        base = f"http://127.0.0.1:{site.mock_port}" + ("" if protocol == "messages" else "/v1")
        lines += ["[[channels]]", f'name = "mock-{protocol}"', f'protocol = "{protocol}"']
        lines += [f'base_url = "{base}"', 'api_key = "sk-upstream"', f"models = {{ {names} }}"]
    return "\n".join(lines) + "\n"


def same_protocol(site: Site) -> tuple[Process, Target]:
    """The gateway once more, to be asked in the protocol of the upstream."""
    process, target = tidegate(site)
    return process, structs.replace(target, name="same")


def nginx_proxy(site: Site) -> tuple[Process, Target]:
    """A plain streaming proxy with one worker: no key, no rename, no log."""
    program = nginx.program()
    port = free_port()
    config = nginx.configure(site.folder, port, site.mock_port)
    argv = [program, "-p", str(site.folder), "-c", str(config), "-e", str(site.folder / "nginx-error.log")]
    process = Process(argv, site.core, site.folder / "nginx.log")
    return _ready(process, "nginx", port, _KEY, upstream_model, within=10)


def litellm_proxy(site: Site) -> tuple[Process, Target]:
    """One worker with the settings of its own production page, no database."""
    program = litellm.program()
    port = free_port()
    config = litellm.configure(site.folder, site.mock_port, site.workloads)
    argv = [
        program,
        "--config",
        str(config),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--num_workers",
        "1",
    ]
    process = Process(argv, site.core, site.folder / "litellm.log", litellm.environment(_KEY))
    return _ready(process, "litellm", port, _KEY, lambda name: f"bench-{name}", within=120)


def _ready(
    process: Process, name: str, port: int, key: str, model: Callable[[str], str], within: float
) -> tuple[Process, Target]:
    try:
        process.wait_until(lambda: accepts(port), within)
    except NotStarted:
        process.end()
        raise
    return process, Target(name, port, key, meter.family(process.pid), model)


_STARTS: dict[str, Callable[[Site], tuple[Process, Target]]] = {
    "tidegate": tidegate,
    "same": same_protocol,
    "nginx": nginx_proxy,
    "litellm": litellm_proxy,
}
NAMES = ("direct", *(name for name in _STARTS if name != "same"))


@contextmanager
def running(name: str, site: Site) -> Iterator[Target]:
    """The target of that name, started afresh in the site's folder, ended at the end.

    Raises NotStarted where it can't be had.
    """
    if name == "direct":
        yield Target("direct", site.mock_port, _KEY, [], upstream_model)
        return
    site.folder.mkdir(parents=True, exist_ok=True)
    process, target = _STARTS[name](site)
    try:
        yield target
    finally:
        process.end()


def versions() -> dict[str, str]:
    """Of what is installed, for the heading of the table."""
    found = {"python": sys.version.split()[0]}
    if path := shutil.which("nginx", path=nginx.SEARCH):
        found["nginx"] = _first_line([path, "-v"]).rpartition("/")[2]
    if version := litellm.version():
        found["litellm"] = version
    return found


def _first_line(argv: Sequence[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    return (done.stdout + done.stderr).strip().partition("\n")[0]
