import re

from tidegate.observe.figures import FIGURES, Kind


def test_names_are_prometheus_own_and_say_what_they_count() -> None:
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)
    for figure in FIGURES:
        assert re.fullmatch(r"tidegate(_[a-z]+)+", figure.name)
        assert figure.name.endswith("_total") is (figure.kind is Kind.COUNTER)
        assert (figure.kind is Kind.HISTOGRAM) is bool(figure.bounds)
        assert list(figure.bounds) == sorted(set(figure.bounds))
        assert not set(figure.labels) & {"le", "job", "instance", "quantile"}
        assert "\n" not in figure.words
        assert "\\" not in figure.words
