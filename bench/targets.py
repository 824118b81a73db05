"""What is measured: the gateway as delivered, nginx, LiteLLM, and the mock called directly."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

from bench import databases, gateway, litellm, meter, nginx
from bench.dialects import upstream_model
from bench.process import Process, accepts, free_port
from bench.site import KEY, Site, Target

NAMES = ("direct", "tidegate", "nginx", "litellm")
"""What can be chosen; all states of the gateway go by the one name."""


def _nginx(site: Site, stack: ExitStack) -> Target:
    """A plain streaming proxy with one worker: no key, no rename, no log."""
    program = nginx.program()
    port = free_port()
    config = nginx.configure(site.folder, port, site.mock_port)
    argv = [program, "-p", str(site.folder), "-c", str(config), "-e", str(site.folder / "nginx-error.log")]
    process = Process(argv, site.core, site.folder / "nginx.log")
    return _ready(process, stack, "nginx", port, upstream_model, within=10)


def _litellm(site: Site, stack: ExitStack) -> Target:
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
    process = Process(argv, site.core, site.folder / "litellm.log", litellm.environment(KEY))
    return _ready(process, stack, "litellm", port, lambda name: f"bench-{name}", within=120)


def _ready(
    process: Process, stack: ExitStack, name: str, port: int, model: Callable[[str], str], within: float
) -> Target:
    stack.callback(process.end)
    process.wait_until(lambda: accepts(port), within)
    return Target(name, port, KEY, meter.family(process.pid), model)


_STARTS: Mapping[str, Callable[[Site, ExitStack], Target]] = {
    **{name: partial(gateway.start, name) for name in gateway.VARIANTS},
    "nginx": _nginx,
    "litellm": _litellm,
}


def chosen_as(name: str) -> str:
    """The one of NAMES that this target belongs to."""
    return "tidegate" if name in gateway.VARIANTS else name


@contextmanager
def running(name: str, site: Site) -> Iterator[Target]:
    """The target of that name, started afresh in the site's folder, ended at the end.

    Raises NotStarted where it can't be had.
    """
    if name == "direct":
        yield Target("direct", site.mock_port, KEY, [], upstream_model)
        return
    site.folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        yield _STARTS[name](site, stack)


def versions() -> dict[str, str]:
    """Of what is installed, for the heading of the table."""
    found = {"python": sys.version.split()[0]}
    if path := shutil.which("nginx", path=nginx.SEARCH):
        found["nginx"] = _first_line([path, "-v"]).rpartition("/")[2]
    if version := litellm.version():
        found["litellm"] = version
    return found | databases.versions()


def _first_line(argv: Sequence[str]) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    return (done.stdout + done.stderr).strip().partition("\n")[0]
