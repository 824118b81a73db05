"""The running gateway with the recorded channels."""

from collections.abc import Iterator

import pytest
from tests.contract.pairs.recordings import Corpus
from tests.contract.pairs.simulated import Simulated, simulated
from tests.harness.stage import Stage


@pytest.fixture(scope="session")
def corpus(crossing: Stage) -> Corpus:
    """Plays recorded scenarios."""
    return Corpus(crossing)


@pytest.fixture(scope="session")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    """A gateway on the simulated provider."""
    with simulated(tmp_path_factory.mktemp("simulated")) as running:
        yield running
