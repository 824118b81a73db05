"""Names what is added up of requests, in the order of its numbers."""

from tidegate.storage.pages import OUTCOMES

TOKENS = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
COUNTS = (*OUTCOMES, *TOKENS, "cost", "attempts", "attempts_failed")

BINS_AN_OCTAVE = 3
_OCTAVES = 18
EDGES = tuple(2 ** (step / BINS_AN_OCTAVE) for step in range(BINS_AN_OCTAVE * _OCTAVES + 1))
"""Milliseconds, from 1 to 262,144: a first-token time falls below, between or beyond them."""

_PAIRS = (len(EDGES) + 2) // 2
SHIFT = 31
BINS = tuple(f"first_{number:02}" for number in range(_PAIRS))
"""Two bins share a number, so that half as many must be added up: the second counts in steps of 2**31.

A bin of any sum may count 2,147,483,647 requests.
"""

SUMS = (*COUNTS, *BINS)
