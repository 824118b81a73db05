"""Every rule of the doctor stands in docs/doctor.md, and is used."""

import re
from pathlib import Path

from tidegate.doctor.probes import Examination
from tidegate.doctor.rules import RULES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
SOURCE = "".join(
    path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "src" / "tidegate" / "doctor").glob("*.py"))
    if path.stem != "rules"
)


def test_the_page_has_every_rule_with_severity_and_source() -> None:
    table = PAGE[PAGE.index("## Every rule") :]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (\w+) \| (?:.+) \| (.+) \|$", table, re.MULTILINE)
    assert rows == [(rule.id, rule.severity.value, rule.source) for rule in RULES]


def test_every_rule_can_be_found() -> None:
    assert not [rule.id for rule in RULES if f'"{rule.id}"' not in SOURCE]


def test_the_page_has_every_request() -> None:
    table = PAGE[PAGE.index("## What it sends") : PAGE.index("## What it tells")]
    rows = re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)
    assert rows == ["--only", *(one.value for one in Examination)]
