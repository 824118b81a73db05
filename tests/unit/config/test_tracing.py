"""Where traces go."""

from pathlib import Path

import pytest
from tests.unit.config.files import read, told

from tidegate.config.settings import Tracing
from tidegate.core.secret import Secret

ENDPOINT = '[tracing]\nendpoint = "http://collector:4318"\n'


def test_nothing_is_traced_unless_it_says_where_to(tmp_path: Path) -> None:
    assert read(tmp_path, "").tracing == Tracing()
    assert read(tmp_path, "[tracing]").tracing.endpoint is None


def test_all_settings_are_read(tmp_path: Path) -> None:
    more = 'service_name = "edge"\nsample = 0.1\npropagate = true\n'
    config = read(
        tmp_path, f'{ENDPOINT}{more}headers = {{ Authorization = "env:T" }}', {"T": "Bearer hunter2"}
    )
    assert config.tracing == Tracing(
        endpoint="http://collector:4318/v1/traces",
        headers={"authorization": Secret("Bearer hunter2")},
        service_name="edge",
        sample=0.1,
        propagate=True,
    )
    assert "hunter2" not in repr(config)


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ("https://otlp.example.com", "https://otlp.example.com/v1/traces"),
        ("https://otlp.example.com/", "https://otlp.example.com/v1/traces"),
        ("https://otlp.example.com/otlp", "https://otlp.example.com/otlp/v1/traces"),
        ("https://otlp.example.com/v1/traces", "https://otlp.example.com/v1/traces"),
    ],
)
def test_the_path_of_traces_is_added_where_it_is_missing(tmp_path: Path, given: str, whole: str) -> None:
    assert read(tmp_path, f'[tracing]\nendpoint = "{given}"').tracing.endpoint == whole


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[tracing]\nendpoint = "collector:4318"', "tracing.endpoint"),
        ('[tracing]\nendpoint = "grpc://collector:4317"', "tracing.endpoint"),
        ('[tracing]\nendpoint = "http://user:hunter2@collector:4318"', "tracing.endpoint"),
        ('[tracing]\nendpoint = "http://collector:4318?key=1"', "tracing.endpoint"),
        ("[tracing]\nsample = 0.5", "tracing.endpoint"),
        (ENDPOINT + "sample = 2", "tracing.sample"),
        (ENDPOINT + 'propagate = "yes"', "tracing.propagate"),
        (ENDPOINT + 'headers = { "x y" = "1" }', 'tracing.headers."x y"'),
        (ENDPOINT + 'headers = { a = "\\n" }', "tracing.headers.a"),
        (ENDPOINT + 'headers = { a = "é" }', "tracing.headers.a"),
        (ENDPOINT + 'headers = { content-length = "1" }', "tracing.headers.content-length"),
        (ENDPOINT + "samples = 1", "tracing.samples"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    problems = told(tmp_path, text)
    assert place in [key for _, key, _ in problems]
    assert "hunter2" not in str(problems)


def test_without_the_packages_it_is_told_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidegate.config.tracing.is_installed", lambda: False)
    assert [(key, "not installed" in message) for _, key, message in told(tmp_path, ENDPOINT)] == [
        ("tracing.endpoint", True)
    ]
    assert read(tmp_path, "").tracing == Tracing()
