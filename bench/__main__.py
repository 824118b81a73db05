"""`make bench`: measures the gateway next to nginx and LiteLLM and prints the tables."""

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from bench import million
from bench.dialects import PATHS
from bench.report import report
from bench.requests import measured
from bench.run import Found, Plan, cores, run_all
from bench.targets import NAMES, versions
from bench.workloads import FULL, QUICK, quick

_RESULTS = Path(__file__).parent / "results"
_FILES_NEEDED = 10_000
_ALL = ",".join(load.name for load in FULL)
MILLION = "million"
"""A workload of its own kind: it asks the admin API, and nothing else is run with it."""
_QUICK = ",".join(QUICK)
_TARGETS = ",".join(NAMES)
_QUICK_TARGETS = "nginx,tidegate"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="Measures the gateway next to other proxies.")
    parser.add_argument(
        "--quick", action="store_true", help=f"about a minute: {_QUICK}, no LiteLLM, rougher figures"
    )
    parser.add_argument("--only", help=f"targets, of {_TARGETS} (default: all)")
    parser.add_argument("--workload", help=f"workloads, of {_ALL} (default: all); or {MILLION}")
    parser.add_argument("--protocol", default="chat", choices=tuple(PATHS), help="(default: %(default)s)")
    return parser.parse_args()


def main() -> None:
    """Exit 0 whether or not the goals are reached: this is a measurement, not a test."""
    wanted = _arguments()
    began = time.monotonic()
    _allow_files()
    target_core, load_core = cores(sorted(os.sched_getaffinity(0)))
    names = (wanted.workload or (_QUICK if wanted.quick else _ALL)).split(",")
    if names == [MILLION]:
        _million(target_core, load_core, began)
        return
    only = wanted.only or (_QUICK_TARGETS if wanted.quick else _TARGETS)
    workloads = tuple(quick(load) if wanted.quick else load for load in FULL if load.name in names)
    targets = ("direct", *(name for name in only.split(",") if name != "direct"))
    if unknown := {*targets, *names} - {*NAMES, *_ALL.split(",")}:
        sys.exit(f"unknown: {', '.join(sorted(unknown))}; targets: {_TARGETS}; workloads: {_ALL}")
    plan = Plan(workloads, targets, wanted.protocol, target_core, load_core)
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        found = run_all(plan, Path(folder))
    requests = measured(target_core) if "tidegate" in targets else {}
    tables = report(workloads, found, requests)
    print(_heading(plan, quick_look=wanted.quick), tables, sep="\n\n")
    kept = _keep(plan, found, requests)
    print(f"\n{time.monotonic() - began:.0f} s; figures kept in bench/results/{kept.name}")


def _million(target_core: int, load_core: int, began: float) -> None:
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        found = million.run(Path(folder), target_core, load_core)
    print(f"# {million.ROWS:,} rows in the journal\n", million.report(found), sep="\n")
    kept = _write({"million": found, "versions": versions()})
    print(f"\n{time.monotonic() - began:.0f} s; figures kept in bench/results/{kept.name}")


def _heading(plan: Plan, *, quick_look: bool) -> str:
    found = ", ".join(f"{name} {version}" for name, version in versions().items())
    where = f"targets on core {plan.target_core}, load and mock on core {plan.load_core}"
    alone = " - ONE CORE FOR ALL: figures are not comparable" if plan.target_core == plan.load_core else ""
    kind = "a quick look" if quick_look else "a full run"
    title = f"# Benchmark, {kind}, protocol {plan.protocol}"
    return f"{title}\n\n{found}; {where}{alone}. In brackets: more than the mock alone."


def _keep(plan: Plan, found: Found, requests: object) -> Path:
    return _write(
        {
            "plan": plan,
            "versions": versions(),
            "results": found.results,
            "books": found.books,
            "requests": requests,
            "missing": found.missing,
        }
    )


def _write(told: object) -> Path:
    _RESULTS.mkdir(exist_ok=True)
    path = _RESULTS / time.strftime("%Y%m%d-%H%M%S.json")
    path.write_bytes(msgspec.json.format(msgspec.json.encode(told), indent=1))
    return path


def _allow_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _FILES_NEEDED:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, _FILES_NEEDED), hard))
    if hard < _FILES_NEEDED:
        print(f"only {hard} open files allowed: the workloads with 2,000 streams may break", file=sys.stderr)


if __name__ == "__main__":
    main()
