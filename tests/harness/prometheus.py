"""Reads /metrics with the eyes of Prometheus' own client, and asks its tool."""

import shutil
import subprocess
from collections.abc import Iterator

from prometheus_client.openmetrics.parser import text_string_to_metric_families as _openmetrics
from prometheus_client.parser import text_string_to_metric_families as _text
from prometheus_client.samples import Sample
from tests.harness.client import fetch

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Figures:
    """One page. What is asked for by name and labels is summed over all other labels."""

    def __init__(self, text: str, *, openmetrics: bool = False) -> None:
        families = list((_openmetrics if openmetrics else _text)(text))
        self.kinds = {family.name: family.type for family in families}
        self.samples: list[Sample] = [sample for family in families for sample in family.samples]

    def of(self, name: str, **labels: str) -> Iterator[Sample]:
        """The samples of a name that have these labels."""
        for sample in self.samples:
            if sample.name == name and labels.items() <= sample.labels.items():
                yield sample

    def __call__(self, name: str, **labels: str) -> float:
        """Their sum; 0 where there is none."""
        return sum(sample.value for sample in self.of(name, **labels))

    def has(self, name: str) -> bool:
        """Whether there is a sample of that name."""
        return any(True for _ in self.of(name))

    def counters(self) -> dict[tuple[str, ...], float]:
        """Everything that must never go down."""
        rising = ("_total", "_bucket", "_sum", "_count")
        return {
            (sample.name, *(f"{name}={value}" for name, value in sorted(sample.labels.items()))): sample.value
            for sample in self.samples
            if sample.name.endswith(rising)
        }


async def figures(port: int, token: str | None, *, openmetrics: bool = False) -> Figures:
    """What a gateway shows now."""
    headers = [] if token is None else [("authorization", f"Bearer {token}")]
    if openmetrics:
        headers.append(("accept", "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.2"))
    reply = await fetch(port, "GET", "/metrics", headers)
    told = OPENMETRICS if openmetrics else TEXT
    assert (reply.status, reply.header("content-type")) == (200, told)
    return Figures(reply.body.decode(), openmetrics=openmetrics)


def promtool(*arguments: str, given: str | None = None) -> str:
    """Run Prometheus' tool; what it says. Anything that it finds wrong is an error here."""
    program = shutil.which("promtool")
    assert program, "these tests need promtool: install the package prometheus"
    done = subprocess.run(
        [program, *arguments], input=given, capture_output=True, text=True, timeout=60, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said
