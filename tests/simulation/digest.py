"""Prints one number for the stories of a range of seeds, so that two processes can be compared."""

import sys
from hashlib import sha256

from tests.simulation.run import play


def digest(first: int, seeds: int) -> str:
    """The hash of every line of every story."""
    found = sha256()
    for seed in range(first, first + seeds):
        for line in play(seed).lines():
            found.update(line.encode("utf-8", "backslashreplace"))
    return found.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(digest(int(sys.argv[1]), int(sys.argv[2])))
