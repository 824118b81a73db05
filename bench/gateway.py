"""The gateway in the states that are measured: as delivered, with accounts, with more workers, as it was."""

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from msgspec import Struct

from bench import meter
from bench.audit import INPUT, OPENING, OUTPUT
from bench.databases import Servers, servers
from bench.dialects import PATHS, upstream_model
from bench.process import NotStarted, Process, free_port
from bench.site import KEY, Site, Target

_ROOT = Path(__file__).parent.parent
_BEFORE = "596495a"
"""The last commit without accounting."""
_START_SECONDS = 30
ADMIN = "benchmark-admin-token-0123456789"
_SECRET = "benchmark-secret-0123456789-0123456789-abcdef"


class Variant(Struct, frozen=True):
    """One way to run the gateway; the first is as delivered, every setting at its default."""

    billed: bool = False
    """A prepaid account, a priced model, a key with limits."""
    shared: bool = False
    """On PostgreSQL and Redis instead of SQLite and memory."""
    workers: int = 1
    commit: str | None = None
    """None: the code as it is here."""
    admin: bool = False
    """With the admin API, and so with figures kept."""
    watched: bool = False
    """A console is open all the time."""


VARIANTS: Mapping[str, Variant] = {
    "tidegate": Variant(),
    "same": Variant(),
    "bare": Variant(),
    "barepair": Variant(workers=2),
    "before": Variant(commit=_BEFORE),
    "accounts": Variant(billed=True),
    "pair": Variant(billed=True, workers=2),
    "cluster": Variant(billed=True, shared=True),
    "figures": Variant(billed=True, admin=True),
    "watched": Variant(billed=True, admin=True, watched=True),
}


def start(name: str, site: Site, stack: ExitStack) -> Target:
    """The gateway of that name with its servers, ended with the stack. Raises NotStarted."""
    variant = VARIANTS[name]
    source = _ROOT / "src" if variant.commit is None else _as_of(variant.commit, site.folder)
    shared = stack.enter_context(servers(site.load_core)) if variant.shared else None
    port = free_port()
    config = site.folder / "tidegate.toml"
    config.write_text(_toml(site, port, variant, shared))
    log = site.folder / "tidegate.log"
    command = ["serve", "--config", str(config), "--workers", str(variant.workers)]
    process = Process(
        [sys.executable, "-m", "tidegate", *command],
        site.core,
        log,
        {"PYTHONPATH": os.pathsep.join(filter(None, (str(source), os.environ.get("PYTHONPATH"))))},
    )
    stack.callback(process.end)
    process.wait_until(lambda: b"listening on" in log.read_bytes(), _START_SECONDS)
    pids = meter.family(process.pid)
    if variant.watched:
        _watch(port, site, stack)
    if variant.workers > 1:
        _spread(pids[1:], (site.core, site.load_core))
    return Target(
        name,
        port,
        KEY,
        pids,
        lambda load: f"bench-{load}",
        databases=shared.pids if shared else [],
        books=config if variant.billed else None,
    )


def _watch(port: int, site: Site, stack: ExitStack) -> None:
    """Open a console on the core of the load."""
    command = [sys.executable, "-m", "bench.console", str(port), ADMIN]
    log = site.folder / "console.log"
    console = Process(command, site.load_core, log, {"PYTHONPATH": str(_ROOT)})
    stack.callback(console.end)


def _toml(site: Site, port: int, variant: Variant, shared: Servers | None) -> str:
    [crosses] = {load.crosses for load in site.workloads}
    served = [load.name for load in site.workloads]
    names = ", ".join(f'"bench-{name}" = "{upstream_model(name)}"' for name in served)
    url = shared.database_url if shared else f"sqlite:///{site.folder}/tidegate.db"
    lines = ["[server]", f"port = {port}", f'secret = "{_SECRET}"', "[database]", f'url = "{url}"']
    if shared:
        lines += ["[redis]", f'url = "{shared.redis_url}"']
    if variant.admin:
        lines += ["[admin]", f'token = "{ADMIN}"']
    lines += ["[[keys]]", 'name = "bench"', f'key = "{KEY}"']
    if variant.billed:
        lines += _BILLED
        for name in served:
            lines += ["[[models]]", f'name = "bench-{name}"', *_PRICED]
    for protocol in PATHS if crosses is None else crosses[:1]:
        base = f"http://127.0.0.1:{site.mock_port}" + ("" if protocol == "messages" else "/v1")
        lines += ["[[channels]]", f'name = "mock-{protocol}"', f'protocol = "{protocol}"']
        lines += [f'base_url = "{base}"', 'api_key = "sk-upstream"', f"models = {{ {names} }}"]
        if variant.billed:
            lines += ['price = { input = "2.50", output = "12.00", cache_read = "0.25" }']
    return "\n".join(lines) + "\n"


_BILLED = (
    'account = "bench"',
    "max_concurrency = 10000",
    "requests_per_minute = 100000000",
    "tokens_per_minute = 1000000000",
    "[[accounts]]",
    'name = "bench"',
    f'balance = "{OPENING}"',
)
"""The rest of the key's table, with limits that are counted and never reached, and its account."""
_PRICED = (
    f'price = {{ input = "{INPUT}", output = "{OUTPUT}", cache_read = "0.30", cache_write = "3.75" }}',
    'price_tiers = [ { above_input_tokens = 200000, input = "6.00", output = "22.50" } ]',
    'service_tiers = { priority = "2.0" }',
)


def _as_of(commit: str, folder: Path) -> Path:
    """The sources of a commit, unpacked. Raises NotStarted where there is no git or no such commit."""
    argv = ["git", "-C", str(_ROOT), "archive", "--format=tar", commit, "src"]
    try:
        packed = subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout
    except (subprocess.SubprocessError, OSError) as error:
        raise NotStarted(f"the sources of commit {commit} are not here") from error
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder / "before", filter="data")
    return folder / "before" / "src"


def _spread(workers: list[int], cores: tuple[int, int]) -> None:
    """Bind each worker, with the threads that it has and will have, to a core of its own."""
    for number, pid in enumerate(workers):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {cores[number % len(cores)]})
