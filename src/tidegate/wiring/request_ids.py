"""Makes the random part of a request's id."""

import itertools
import secrets
import time


class RequestIds:
    """27 hex digits that rise with time, so that the database adds a row's id at the end of its index.

    Random by process and counted within it: made after a fork, so that no two workers share a sequence.
    """

    def __init__(self) -> None:
        self._process = secrets.token_hex(5)
        self._numbers = itertools.count(secrets.randbits(16))

    def __call__(self) -> str:
        number = next(self._numbers) & 0xFFFFFF
        return f"{time.time_ns() // 1_000_000:011x}{self._process}{number:06x}"
