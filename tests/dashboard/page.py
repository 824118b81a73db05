"""The dashboard as the file that Grafana reads."""

import json
from collections.abc import Iterator
from pathlib import Path

from tests.dashboard.panels import ROWS
from tests.dashboard.widgets import SOURCE, Json, Sized

FILE = Path(__file__).parents[2] / "deploy" / "grafana" / "tidegate.json"
_WIDTH = 24


def text() -> str:
    """The whole file."""
    return json.dumps(_dashboard(), indent=1, ensure_ascii=False) + "\n"


def queries() -> list[str]:
    """Every PromQL expression of the file as it is, those of its variables too."""
    board = json.loads(FILE.read_text(encoding="utf-8"))
    panels = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    named = [one["query"]["query"] for one in board["templating"]["list"] if one["type"] == "query"]
    return panels + [query.removeprefix("label_values(").rpartition(",")[0] for query in named]


def _dashboard() -> Json:
    return {
        "uid": "tidegate",
        "title": "Tidegate",
        "description": "Traffic, errors, latency, money, channels, storage and processes of the gateway.",
        "tags": ["tidegate", "llm"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "templating": {"list": list(_variables())},
        "annotations": {"list": []},
        "links": [],
        "panels": list(_panels()),
    }


def _variables() -> Iterator[Json]:
    yield {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "current": {},
        "refresh": 1,
    }
    choices = (
        ("instance", "Node", "tidegate_build_info"),
        ("protocol", "Protocol", "tidegate_event_gap_seconds_count"),
        ("model", "Model", "tidegate_requests_total"),
        ("channel", "Channel", "tidegate_attempts_total"),
    )
    for name, label, metric in choices:
        query = f"label_values({metric}, {name})"
        yield {
            "name": name,
            "label": label,
            "type": "query",
            "datasource": SOURCE,
            "definition": query,
            "query": {"query": query, "refId": name},
            "refresh": 2,
            "sort": 1,
            "multi": True,
            "includeAll": True,
            "allValue": ".*",
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        }


def _panels() -> Iterator[Json]:
    """Panels flow from left to right, and down."""
    number, top = 0, 0
    for title, row in ROWS:
        number += 1
        yield {
            "id": number,
            "type": "row",
            "title": title,
            "collapsed": False,
            "panels": [],
            "gridPos": {"h": 1, "w": _WIDTH, "x": 0, "y": top},
        }
        top += 1
        for place in _flow(row, top):
            number += 1
            yield {"id": number, **place}
            top = max(top, place["gridPos"]["y"] + place["gridPos"]["h"])


def _flow(row: tuple[Sized, ...], top: int) -> Iterator[Json]:
    left = height = 0
    for wide, high, panel in row:
        if left + wide > _WIDTH:
            left, top, height = 0, top + height, 0
        yield {**panel, "gridPos": {"h": high, "w": wide, "x": left, "y": top}}
        left, height = left + wide, max(height, high)
