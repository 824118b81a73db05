"""Exits with 0 if the gateway in this container answers, else with 1 and a word why."""

import os
import sys
import urllib.request

URL = os.environ.get("TIDEGATE_HEALTH_URL", "http://127.0.0.1:8080/healthz")
"""Another port, or https, is told by this variable."""


def main() -> int:
    """The exit code; an answer is waited for two seconds."""
    try:
        with urllib.request.urlopen(URL, timeout=2) as answer:  # noqa: S310 (the operator names it)
            answer.read()
    except OSError as error:
        sys.stderr.write(f"{URL}: {error}\n")
        return 1
    return 0


sys.exit(main())
