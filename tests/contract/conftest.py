"""The demo as a process: the official SDKs run against it unchanged."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.harness.gateway import environment


@dataclass(frozen=True)
class Demo:
    """Where the demo listens (without `/v1`), and its key."""

    base_url: str
    key: str


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """`tidegate demo` on a free port."""
    folder = tmp_path_factory.mktemp("demo")
    output = folder / "output.log"
    with output.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tidegate", "demo", "--port", "0"],
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env=environment(),
            cwd=folder,
        )
    try:
        yield _wait_ready(process, output)
        assert process.poll() is None, f"the demo died:\n{output.read_text()[-3000:]}"
    finally:
        process.terminate()
        process.wait(60)
    assert "Traceback" not in output.read_text()


def _wait_ready(process: "subprocess.Popen[bytes]", output: Path) -> Demo:
    deadline = time.monotonic() + 90
    while True:
        text = output.read_text()
        url = re.search(r"base URL\s+(http://\S+)", text)
        key = re.search(r"key\s+(sk-tg-\S+)", text)
        if url and key and "listening on http" in text:
            return Demo(url.group(1), key.group(1))
        assert process.poll() is None, f"the demo ended at start:\n{text[-3000:]}"
        assert time.monotonic() < deadline, f"the demo is not ready:\n{text[-3000:]}"
        time.sleep(0.02)
