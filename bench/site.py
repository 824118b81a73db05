"""Where a target lives, and what is known of one that runs."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from bench.workloads import Workload

KEY = "sk-tg-benchmark-caller-key-0123456789"
"""The caller's key, on every target that asks for one."""


class Site(Struct, frozen=True):
    """Where a target may live: its folder, its core, the mock's port, the workloads it has to know."""

    folder: Path
    core: int
    load_core: int
    """That of the mock and the load generator: databases and second workers live there too."""
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
    databases: list[int] = []
    """Servers of the target's own whose CPU time is told by itself."""
    books: Path | None = None
    """The config of a gateway that charges for its answers."""
