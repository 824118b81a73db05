"""The kinds of panels, as Grafana's JSON has them."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]
Query = tuple[str, str]
"""A PromQL expression, and the legend of its lines."""
Sized = tuple[int, int, Json]
"""Width (of 24), height and panel."""

SOURCE: Json = {"type": "prometheus", "uid": "${datasource}"}
GREEN, YELLOW, RED, BLUE = "green", "yellow", "red", "blue"


def stat(
    title: str,
    expression: str,
    unit: str = "short",
    *,
    words: str = "",
    steps: Sequence[tuple[str, float | None]] = ((BLUE, None),),
    mappings: Sequence[Json] = (),
    decimals: int | None = None,
) -> Sized:
    """One number with its recent course; `steps` are colours from a value on."""
    defaults = _defaults(unit, steps, mappings)
    if decimals is not None:
        defaults["decimals"] = decimals
    panel = _panel("stat", title, words, [(expression, "")], defaults)
    panel["options"] = {
        "colorMode": "value",
        "graphMode": "area",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "textMode": "auto",
    }
    return 4, 4, panel


def lines(
    title: str,
    *queries: Query,
    unit: str = "short",
    words: str = "",
    stacked: bool = False,
    width: int = 12,
    most: float | None = None,
) -> Sized:
    """Lines over time; `stacked` as areas above each other, `most` is the end of the scale."""
    defaults = _defaults(unit, ((GREEN, None),), ())
    defaults["custom"] = {
        "drawStyle": "line",
        "fillOpacity": 30 if stacked else 8,
        "lineWidth": 1,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"mode": "normal" if stacked else "none", "group": "A"},
    }
    defaults["min"] = 0
    if most is not None:
        defaults["max"] = most
    panel = _panel("timeseries", title, words, queries, defaults)
    panel["options"] = {
        "legend": {
            "displayMode": "table",
            "placement": "bottom",
            "calcs": ["mean", "lastNotNull"],
            "showLegend": True,
        },
        "tooltip": {"mode": "multi", "sort": "desc"},
    }
    return width, 8, panel


def heatmap(title: str, expression: str, *, words: str = "") -> Sized:
    """The classes of a histogram over time."""
    panel = _panel("heatmap", title, words, [(expression, "{{le}}")], {})
    panel["targets"][0]["format"] = "heatmap"
    panel["options"] = {
        "calculate": False,
        "cellGap": 1,
        "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5, "fill": "dark-orange"},
        "tooltip": {"mode": "single", "yHistogram": True},
        "yAxis": {"unit": "s", "decimals": 3},
    }
    return 12, 8, panel


def ranking(title: str, expression: str, legend: str, unit: str, *, words: str = "") -> Sized:
    """The largest, as bars."""
    defaults = _defaults(unit, ((BLUE, None),), ())
    defaults["min"] = 0
    panel = _panel("bargauge", title, words, [(expression, legend)], defaults)
    panel["targets"][0] |= {"instant": True, "range": False}
    panel["options"] = {
        "displayMode": "gradient",
        "orientation": "horizontal",
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "showUnfilled": True,
    }
    return 12, 8, panel


def table(title: str, expression: str, *, hidden: Sequence[str], words: str = "") -> Sized:
    """What is so now, without the columns in `hidden`."""
    panel = _panel("table", title, words, [(expression, "")], {})
    panel["targets"][0] |= {"instant": True, "range": False, "format": "table"}
    exclude = dict.fromkeys(("Time", "__name__", "job", *hidden), True)
    panel["transformations"] = [{"id": "organize", "options": {"excludeByName": exclude}}]
    return 12, 8, panel


def up_and_down(title: str, *queries: Query, words: str = "") -> Sized:
    """Green while it is 1, red while it is 0."""
    states = {"0": {"text": "away", "color": RED}, "1": {"text": "up", "color": GREEN}}
    mappings = [{"type": "value", "options": states}]
    panel = _panel(
        "state-timeline", title, words, queries, _defaults("short", ((RED, None), (GREEN, 1)), mappings)
    )
    panel["options"] = {"mergeValues": True, "showValue": "never", "legend": {"showLegend": False}}
    return 12, 8, panel


def _defaults(unit: str, steps: Sequence[tuple[str, float | None]], mappings: Sequence[Json]) -> Json:
    return {
        "unit": unit,
        "mappings": list(mappings),
        "thresholds": {"mode": "absolute", "steps": [{"color": color, "value": at} for color, at in steps]},
    }


def _panel(kind: str, title: str, words: str, queries: Sequence[Query], defaults: Json) -> Json:
    return {
        "type": kind,
        "title": title,
        "description": words,
        "datasource": SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "targets": [
            {
                "datasource": SOURCE,
                "editorMode": "code",
                "expr": expression,
                "legendFormat": legend or "__auto",
                "range": True,
                "refId": chr(ord("A") + number),
            }
            for number, (expression, legend) in enumerate(queries)
        ],
    }
