import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text
from tests.harness.prometheus import promtool

from tidegate.observe import figures
from tidegate.observe.counts import Counts, Labels
from tidegate.observe.exposition import Format, negotiated, render
from tidegate.observe.figures import FIGURES

HOSTILE = 'a"b\\c\nd{e="f"} 1\n# EOF\u202e é'


def everything() -> Counts:
    """A cell of each figure, with labels that try to break out."""
    found: Counts = {}
    for number, figure in enumerate(FIGURES):
        labels: Labels = tuple(f"{HOSTILE}{name}" for name in figure.labels)
        cell = [number * figure.unit + 1, *range(len(figure.bounds) + 1)] if figure.bounds else [number * 3]
        found[figure.name] = {labels: cell}
    return found


def test_the_text_is_prometheus_own() -> None:
    counts: Counts = {
        figures.LOST.name: {(): [12345678901]},
        figures.COST.name: {("m",): [1_500_000_001], ("b",): [0]},
        figures.LAG.name: {(): [3_000_000, 2, *[0] * 10, 1]},
    }
    lines = render(counts, Format.TEXT).splitlines()
    assert lines[:4] == [
        "# HELP tidegate_cost_usd_total What accounts were charged, in US dollars.",
        "# TYPE tidegate_cost_usd_total counter",
        'tidegate_cost_usd_total{model="b"} 0.0',
        'tidegate_cost_usd_total{model="m"} 1.500000001',
    ]
    assert "tidegate_rows_lost_total 12345678901" in lines
    assert 'tidegate_event_loop_lag_seconds_bucket{le="0.001"} 2' in lines
    assert 'tidegate_event_loop_lag_seconds_bucket{le="2.5"} 2' in lines
    assert 'tidegate_event_loop_lag_seconds_bucket{le="+Inf"} 3' in lines
    assert "tidegate_event_loop_lag_seconds_sum 3.0" in lines
    assert "tidegate_event_loop_lag_seconds_count 3" in lines


@pytest.mark.parametrize("form", Format)
def test_other_readers_find_what_was_written(form: Format) -> None:
    counts = everything()
    text = render(counts, form)
    read = read_openmetrics if form is Format.OPENMETRICS else read_text
    samples = {
        (sample.name, *(f"{name}={value}" for name, value in sorted(sample.labels.items())))
        for family in read(text)
        for sample in family.samples
    }
    for figure in FIGURES:
        own = [f"{name}={HOSTILE}{name}" for name in sorted(figure.labels)]
        if figure.bounds:
            assert (f"{figure.name}_sum", *own) in samples
            assert (f"{figure.name}_bucket", *sorted([*own, "le=+Inf"])) in samples
        else:
            assert (figure.name, *own) in samples


def test_promtool_finds_nothing_to_say_against_it() -> None:
    assert promtool("check", "metrics", given=render(everything(), Format.TEXT)) == ""


def test_the_page_does_not_depend_on_the_order_of_counting() -> None:
    one: Counts = {figures.COST.name: {("a",): [1], ("b",): [2]}, figures.LOST.name: {(): [1]}}
    other: Counts = {figures.LOST.name: {(): [1]}, figures.COST.name: {("b",): [2], ("a",): [1]}}
    assert render(one, Format.TEXT) == render(other, Format.TEXT)


def test_an_empty_page_is_one() -> None:
    assert render({}, Format.TEXT) == ""
    assert render({}, Format.OPENMETRICS) == "# EOF\n"


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", Format.TEXT),
        ("*/*", Format.TEXT),
        ("text/html", Format.TEXT),
        ("application/openmetrics-text", Format.OPENMETRICS),
        ("Application/OpenMetrics-Text; version=1.0.0; Q=0.5, text/plain;q=0.2", Format.OPENMETRICS),
        ("application/openmetrics-text;q=0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", Format.TEXT),
        ("application/openmetrics-text;q=0", Format.TEXT),
        ("application/openmetrics-text;q=nonsense", Format.TEXT),
        (";;;,,q=1", Format.TEXT),
    ],
)
def test_the_format_is_what_the_reader_likes_best(accept: str, form: Format) -> None:
    assert negotiated(accept) is form
