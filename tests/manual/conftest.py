"""One gateway for all commands of the manual."""

from collections.abc import Iterator

import pytest
from tests.manual.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A running gateway with a simulated provider."""
    started = World(tmp_path_factory.mktemp("manual"))
    try:
        yield started
    finally:
        started.stop()
