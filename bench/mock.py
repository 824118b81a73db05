"""A mock upstream that paces its events to the microsecond and stays far below a core while doing so."""

import gc
import heapq
import itertools
import re
import select
import socket
import sys
import time
from array import array

import msgspec
from msgspec import Struct

from bench.dialects import PATHS, Script, script, upstream_model
from bench.workloads import Workload

_MODEL = re.compile(rb'"model": ?"mock-([a-z0-9]+)-')
_LENGTH = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_GOLDEN = 0.6180339887498949
"""Multiples of it, modulo one, lie apart for every number of streams: events spread over the interval."""


class Lateness(Struct, frozen=True):
    """How far behind its plan an event was sent, in microseconds, and what went wrong since the last look."""

    events: int
    p50: float
    p99: float
    worst: float
    blocked: int
    """Streams given up because the reader's buffers were full."""
    left: int
    """Streams whose reader went away before their end."""


class _Connection:
    __slots__ = ("asked", "asked_at", "fd", "sent", "sock", "story")

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.asked = b""
        self.asked_at = 0
        self.story: tuple[Workload, Script] | None = None
        self.sent = 0


class Mock:
    """One thread: sends what is due, then looks for requests until the next event is due."""

    def __init__(self, listener: socket.socket, workloads: list[Workload]) -> None:
        self._listener = listener
        self._poll = select.epoll()
        self._poll.register(listener.fileno(), select.EPOLLIN)
        self._connections: dict[int, _Connection] = {}
        self._due: list[tuple[int, int, _Connection]] = []
        self._order = itertools.count()
        self._begun = itertools.count()
        self._late = array("L")
        self._blocked = self._left = 0
        self._scripts = {
            (path, load.name.encode()): (
                load,
                script(protocol, upstream_model(load.name), load.events, word=load.word),
            )
            for protocol, path in PATHS.items()
            for load in workloads
        }

    def run(self) -> None:
        """Serves for ever; whoever started the process ends it."""
        while True:
            self._send_due()
            for fd, _ in self._wait():
                if fd == self._listener.fileno():
                    self._accept()
                else:
                    self._read(self._connections[fd])

    def _wait(self) -> list[tuple[int, int]]:
        if not self._due:
            return self._poll.poll(-1)
        gap = self._due[0][0] - time.monotonic_ns()
        if gap >= 2_000_000:
            return self._poll.poll(gap // 1_000_000 / 1000)
        if gap > 5_000:
            time.sleep(gap / 1e9)  # finer than epoll's milliseconds
        return self._poll.poll(0)

    def _send_due(self) -> None:
        due, late, clock = self._due, self._late, time.monotonic_ns
        now = clock()
        while due and due[0][0] <= now:
            at, _, connection = heapq.heappop(due)
            if connection.story is None:
                continue  # its reader has left
            late.append((now - at) // 1000)
            load, spoken = connection.story
            if connection.sent < load.events:
                head, tail = spoken.deltas[connection.sent]
                connection.sent += 1
                stamp = clock() // 1000
                wait = stamp - connection.asked_at if connection.sent == 1 else 0
                self._write(connection, b"%b%016d/%08d%b" % (head, stamp, wait, tail))
                heapq.heappush(due, (at + int(load.every * 1e9), next(self._order), connection))
            else:
                connection.story = None
                self._write(connection, spoken.closing)
            now = clock()

    def _write(self, connection: _Connection, chunk: bytes) -> None:
        try:
            whole = connection.sock.send(chunk) == len(chunk)
        except BlockingIOError:
            whole = False
        except OSError:
            self._drop(connection)
            return
        if not whole:
            self._blocked += 1
            self._drop(connection)

    def _accept(self) -> None:
        for _ in range(100):
            try:
                sock, _ = self._listener.accept()
            except BlockingIOError:
                return
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = self._connections[sock.fileno()] = _Connection(sock)
            self._poll.register(connection.fd, select.EPOLLIN)

    def _read(self, connection: _Connection) -> None:
        try:
            came = connection.sock.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            came = b""
        if not came:
            self._drop(connection)
            return
        asked = connection.asked = connection.asked + came
        head, blank, body = asked.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if blank and len(body) >= (int(length[1]) if length else 0):
            connection.asked = b""
            self._answer(connection, head, body)

    def _answer(self, connection: _Connection, head: bytes, body: bytes) -> None:
        path = head.split(b" ", 2)[1].decode("latin-1").partition("?")[0]
        if path == "/lateness":
            self._plain(connection, b"200 OK", msgspec.json.encode(self._look()))
            return
        model = _MODEL.search(body)
        story = self._scripts.get((path, model[1])) if model else None
        if story is None:
            self._plain(
                connection, b"404 Not Found", b'{"error":{"message":"no such model","type":"not_found"}}'
            )
            return
        self._begin(connection, *story)

    def _begin(self, connection: _Connection, load: Workload, spoken: Script) -> None:
        gap = load.every
        connection.story = (load, spoken)
        connection.sent = 0
        connection.asked_at = time.monotonic_ns() // 1000
        opening = spoken.opening
        if load.at_once:
            head, tail = spoken.deltas[0]
            connection.sent = 1
            opening += b"%b%016d/%08d%b" % (head, time.monotonic_ns() // 1000, 0, tail)
        else:
            gap *= next(self._begun) * _GOLDEN % 1.0
        self._write(connection, opening)
        heapq.heappush(self._due, (time.monotonic_ns() + int(gap * 1e9), next(self._order), connection))

    def _plain(self, connection: _Connection, status: bytes, body: bytes) -> None:
        head = b"HTTP/1.1 %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % (
            status,
            len(body),
        )
        self._write(connection, head + body)

    def _look(self) -> Lateness:
        late = sorted(self._late)
        spots = [float(late[int((len(late) - 1) * share)]) if late else 0.0 for share in (0.5, 0.99, 1.0)]
        found = Lateness(len(late), spots[0], spots[1], spots[2], self._blocked, self._left)
        self._late = array("L")
        self._blocked = self._left = 0
        return found

    def _drop(self, connection: _Connection) -> None:
        if self._connections.pop(connection.fd, None) is None:
            return
        if connection.story is not None:
            self._left += 1
            connection.story = None
        self._poll.unregister(connection.fd)
        connection.sock.close()


def main() -> None:
    """Arguments: port, workloads as JSON. Says `ready` when it listens."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[1])))
    listener.listen(4096)
    listener.setblocking(False)
    mock = Mock(listener, msgspec.json.decode(sys.argv[2], type=list[Workload]))
    gc.disable()  # no cycles are made, and a sweep would delay events
    print("ready", flush=True)
    mock.run()


if __name__ == "__main__":
    main()
