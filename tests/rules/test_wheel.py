"""What is installed holds all that the program reads."""

from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "src" / "tidegate" / "console" / "static"


def test_the_wheel_holds_every_file_of_the_console() -> None:
    builder = WheelBuilder(str(ROOT))
    packed = {file.distribution_path for file in builder.recurse_included_files()}
    files = {path.relative_to(STATIC).as_posix() for path in STATIC.rglob("*") if path.is_file()}
    assert "index.html" in files
    assert {f"tidegate/console/static/{file}" for file in files} <= packed
    assert "tidegate/storage/migrations/script.py.mako" in packed
