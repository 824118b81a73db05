"""Plays an open console: a live tail, and the overview asked again and again, as its pages do.

`python -m bench.console PORT TOKEN` goes on until it is ended.
"""

import http.client
import socket
import sys
import threading
import time
from datetime import UTC, datetime

OVERVIEW_SECONDS = 5.0
"""How often it asks for the figures of an hour: three times as often as the console does."""

_HOUR = 3_600


def main() -> None:
    """Watch until ended."""
    port, token = int(sys.argv[1]), sys.argv[2]
    threading.Thread(target=_follow, args=(port, token), daemon=True).start()
    while True:
        began = time.monotonic()
        since = datetime.fromtimestamp(time.time() - _HOUR, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        _ask(port, token, f"overview?since={since}&group_by=model")
        time.sleep(max(0.0, OVERVIEW_SECONDS - (time.monotonic() - began)))


def _ask(port: int, token: str, query: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", f"/admin/v1/{query}", headers={"authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    answer.read()
    if answer.status != http.client.OK:
        sys.exit(f"{query}: {answer.status}")
    connection.close()


def _follow(port: int, token: str) -> None:
    with socket.create_connection(("127.0.0.1", port)) as tail:
        head = f"GET /admin/v1/requests/tail HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n"
        tail.sendall(head.encode())
        while tail.recv(1 << 16):
            pass
    sys.exit("the tail ended")


if __name__ == "__main__":
    main()
