"""The running gateway with the recorded channels."""

import pytest
from tests.contract.pairs.recordings import Corpus
from tests.harness.stage import Stage


@pytest.fixture(scope="session")
def corpus(crossing: Stage) -> Corpus:
    """Plays recorded scenarios."""
    return Corpus(crossing)
