"""docs/tracing.md names every attribute and event of the spans, and no other."""

import re
from pathlib import Path

from tidegate.observe import spans, tracing

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tracing.md").read_text(encoding="utf-8")
NAME = re.compile(r"(?:gen_ai|tidegate|http|server|error|user_agent)(?:\.[a-z_]+)+")


def test_every_name_is_told_and_no_other() -> None:
    source = Path(spans.__file__).read_text(encoding="utf-8")
    made = {name for name in re.findall(r'"([a-z_.]+)"', source) if NAME.fullmatch(name)}
    told = {name for name in re.findall(r"`([a-z_.]+)`", PAGE) if NAME.fullmatch(name)}
    assert made == told


def test_the_bound_is_that_of_the_code() -> None:
    assert f"At most {tracing.BOUND} wait" in PAGE
