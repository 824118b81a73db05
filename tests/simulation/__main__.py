"""`make simulate`: plays seeds, and tells the whole story of one that breaks a promise."""

import argparse
import gc
import secrets
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.run import Broken, play

_A_SHARE = 250
"""Seeds that a job plays before it is given more."""
_WIDTH = 160
"""Bytes of one write or read that a story shows, unless all are asked for."""


def main() -> None:
    """Exits with 1 after seeds that break a promise."""
    wanted = _arguments()
    if wanted.seed is not None:
        sys.exit(_tell(wanted.seed, None if wanted.full else _WIDTH))
    first = secrets.randbits(40) if wanted.fresh else wanted.first
    began = time.perf_counter()
    with ProcessPoolExecutor(wanted.jobs) as pool:
        shares = _shares(first, wanted.seeds)
        broken = next((found for found in pool.map(first_broken, *zip(*shares, strict=True)) if found), None)
        if broken is not None:
            pool.shutdown(cancel_futures=True)
    if broken is not None:
        seed, why = broken
        _tell(seed, _WIDTH)
        print(f"simulation: {why}\nplay it again with: python -m tests.simulation --seed {seed} --full")
        sys.exit(1)
    took = time.perf_counter() - began
    print(
        f"simulation: {wanted.seeds} seeds from {first} in {took:.1f} s, {wanted.seeds / took:.0f} a second"
    )


def first_broken(first: int, seeds: int) -> tuple[int, str] | None:
    """The first seed of a range that breaks a promise, and which."""
    gc.freeze()
    for seed in range(first, first + seeds):
        try:
            play(seed)
        except Broken as broken:
            return seed, str(broken)
    return None


def _tell(seed: int, width: int | None) -> int:
    """Print a run; the exit status."""
    try:
        trace, broken = play(seed), None
    except Broken as found:
        trace, broken = found.trace, found
    print("\n".join(trace.lines(width=width)))
    if broken is not None:
        print(broken)
    return 0 if broken is None else 1


def _shares(first: int, seeds: int) -> Iterator[tuple[int, int]]:
    for start in range(first, first + seeds, _A_SHARE):
        yield start, min(_A_SHARE, first + seeds - start)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tests.simulation",
        description="Whole requests on a virtual clock, each run decided by its seed.",
    )
    parser.add_argument("--seeds", type=int, default=5000, help="how many runs")
    parser.add_argument("--first", type=int, default=1, help="the seed of the first run")
    parser.add_argument("--fresh", action="store_true", help="begin at a seed that was never tried before")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, help="play this one run and tell its story")
    parser.add_argument("--full", action="store_true", help="tell every byte")
    return parser.parse_args()


if __name__ == "__main__":
    main()
