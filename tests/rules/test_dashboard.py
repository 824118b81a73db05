"""The dashboard and the alerts ask for what there is, in words that Prometheus understands."""

import json
import re
from pathlib import Path
from typing import Any

import yaml
from tests.dashboard.page import FILE, queries, text
from tests.harness.prometheus import promtool
from tests.harness.promql import filled, used

from tidegate.observe.figures import FIGURES

ROOT = Path(__file__).parents[2]
PROMETHEUS = ROOT / "deploy" / "prometheus"
OPERATIONS = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((PROMETHEUS / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
ASKED = [*queries(), *(rule["expr"] for rule in RULES)]
OF_PROMETHEUS = {"job", "instance"}

# As Prometheus sees them: name -> labels.
SHOWN = {"up": {"job", "instance"}}
for figure in FIGURES:
    if figure.bounds:
        SHOWN |= {f"{figure.name}_{end}": {*figure.labels, *OF_PROMETHEUS} for end in ("sum", "count")}
        SHOWN[f"{figure.name}_bucket"] = {*figure.labels, "le", *OF_PROMETHEUS}
    else:
        SHOWN[figure.name] = {*figure.labels, *OF_PROMETHEUS}


def test_the_reader_of_promql_finds_names_and_labels() -> None:
    asked = used(
        "histogram_quantile(0.9, sum by (le, x) (rate(a:b_bucket{p=~\"by (z)\", q!='c'}[$__rate_interval])))"
        ' / on (y) group_left () count(other offset 10m) > 1e3 or vector(0) unless other{r="}"}'
    )
    assert asked.matched == {"a:b_bucket": {"p", "q"}, "other": {"r"}}
    assert asked.grouped == {"le", "x", "y"}


def test_every_name_and_label_is_one_of_the_gateway_s() -> None:
    for expression in ASKED:
        asked = used(expression)
        assert asked.matched, expression
        for name, labels in asked.matched.items():
            assert name in SHOWN, expression
            assert labels <= SHOWN[name], expression
        assert asked.grouped <= set().union(*(SHOWN[name] for name in asked.matched)), expression


def test_every_figure_is_on_the_dashboard() -> None:
    shown = {re.sub("_(bucket|count)$", "", name) for query in queries() for name in used(query).matched}
    assert shown == {figure.name for figure in FIGURES}


def test_prometheus_understands_every_question(tmp_path: Path) -> None:
    rules = [
        {"record": f"asked:number{number}", "expr": filled(query, "5m")}
        for number, query in enumerate(queries())
    ]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", str(file))


def test_the_configuration_and_the_alerts_are_good() -> None:
    assert "SUCCESS" in promtool("check", "config", str(PROMETHEUS / "prometheus.yml"))
    assert "SUCCESS" in promtool("test", "rules", str(PROMETHEUS / "alerts.test.yml"))


def test_every_alert_is_tested_and_explained() -> None:
    tests = (PROMETHEUS / "alerts.test.yml").read_text(encoding="utf-8")
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))
    assert not [name for name in names if f'alertname="{name}"' not in tests]
    explained = re.findall(r"^\| `(Tidegate\w+)` \| (critical|warning) \|", OPERATIONS, re.MULTILINE)
    assert sorted(explained) == sorted((rule["alert"], rule["labels"]["severity"]) for rule in RULES)


def test_the_dashboard_is_made_from_its_source() -> None:
    assert FILE.read_text(encoding="utf-8") == text(), "write it anew: python -m tests.dashboard"


def test_panels_do_not_lie_on_each_other() -> None:
    panels = json.loads(FILE.read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: dict[tuple[int, int], str] = {}
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert taken.setdefault((x, y), panel["title"]) == panel["title"]


def test_grafana_is_given_the_data_source_and_the_dashboard() -> None:
    folder = FILE.parent / "provisioning"
    [source] = yaml.safe_load((folder / "datasources" / "prometheus.yml").read_text())["datasources"]
    [provider] = yaml.safe_load((folder / "dashboards" / "tidegate.yml").read_text())["providers"]
    assert (source["type"], source["isDefault"]) == ("prometheus", True)
    assert (provider["type"], provider["options"]) == ("file", {"path": "/var/lib/grafana/dashboards"})
