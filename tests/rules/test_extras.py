"""What is an extra is loaded by one file, and by that one only when it is wanted."""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
IMPORT = re.compile(r"^\s*(?:import|from) (?:opentelemetry|google\.protobuf)\b", re.MULTILINE)


def test_one_file_knows_opentelemetry() -> None:
    knowing = [path for path in SOURCE.rglob("*.py") if IMPORT.search(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(SOURCE)) for path in knowing] == ["tidegate/observe/otlp.py"]


def test_a_gateway_does_not_load_it_by_itself() -> None:
    program = (
        "import sys, tidegate.wiring.serving; print([name for name in sys.modules if 'telemetry' in name])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(SOURCE)},
    )
    assert loaded.stdout.strip() == "[]"
