"""One connection of the load generator: reads answers and counts what is in them."""

import socket
import time
from enum import Enum

from bench.dialects import MARK, STAMP_WIDTH, WAIT_WIDTH


class Phase(Enum):
    """Where the current answer stands."""

    HEAD = "head"
    BODY = "body"
    WHOLE = "whole"
    """The last chunk came."""
    BROKEN = "broken"
    """The connection ended, or the answer was none."""


class Stream:
    """An answer in chunks. Call `read` when there is something to read, until it is WHOLE or BROKEN."""

    __slots__ = (
        "_end_mark",
        "_rest",
        "_seen",
        "_tail",
        "admitted_after",
        "events",
        "fd",
        "keepalives",
        "latencies",
        "marked",
        "phase",
        "reads",
        "sock",
        "spoke_after",
        "started_at",
        "why",
    )

    def __init__(self, port: int, end_mark: bytes, latencies: list[int]) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.sock.setblocking(False)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.fd = self.sock.fileno()
        self._end_mark = end_mark
        self.latencies = latencies
        self._reset()

    def _reset(self) -> None:
        self.phase = Phase.HEAD
        self._rest = b""
        self._tail = b""
        self.events = self.reads = self.keepalives = 0
        self.marked = False
        self.spoke_after = self.admitted_after = 0
        self.why = ""

    def ask(self, request: bytes) -> None:
        """Send a request; the clock of the answer starts now."""
        self._reset()
        self.started_at = time.monotonic_ns()
        try:
            self.sock.send(request)
        except OSError as error:
            self._break(str(error))

    def read(self) -> int:
        """Take what has arrived. Returns how many counted events were in it."""
        try:
            came = self.sock.recv(262144)
        except BlockingIOError:
            return 0
        except OSError as error:
            self._break(str(error))
            return 0
        now = time.monotonic_ns()
        if not came:
            self._break("closed before the end")
            return 0
        if self.phase is Phase.HEAD:
            came = self._read_head(came)
        return self._read_body(came, now) if came else 0

    def _read_head(self, came: bytes) -> bytes:
        head, blank, body = (self._rest + came).partition(b"\r\n\r\n")
        if not blank:
            self._rest = head
            return b""
        self._rest = b""
        if not head.startswith(b"HTTP/1.1 200") or b"transfer-encoding: chunked" not in head.lower():
            status = head.partition(b"\r\n")[0]
            self._break(f"not a stream: {status!r}, {body[:250]!r}")
            return b""
        self.phase = Phase.BODY
        return body

    def _read_body(self, came: bytes, now: int) -> int:
        data = self._rest + came if self._rest else came
        at = 0
        found = 0
        while True:
            line_end = data.find(b"\r\n", at)
            if line_end < 0:
                break
            size = int(data[at:line_end], 16)
            start = line_end + 2
            if len(data) < start + size + 2:
                break
            at = start + size + 2
            if size == 0:
                self.phase = Phase.WHOLE
                break
            found += self._read_text(data[start : start + size], now)
        self._rest = data[at:]
        if found:
            self.reads += 1
        return found

    def _read_text(self, text: bytes, now: int) -> int:
        if self._tail:
            text = self._tail + text
        if text[-1] == 10:
            self._tail = b""
        else:  # a chunk that ends inside a line: the line is read when it is whole
            cut = text.rfind(b"\n") + 1
            text, self._tail = text[:cut], text[cut:]
            if not text:
                return 0
        found = 0
        mark = text.find(MARK)
        while mark >= 0:
            stamp = mark + len(MARK)
            self.latencies.append(now // 1000 - int(text[stamp : stamp + STAMP_WIDTH]))
            found += 1
            mark = text.find(MARK, stamp)
        if found:
            if not self.events:
                self._note_first(text, now)
            self.events += found
        elif self._end_mark in text:
            self.marked = True
        elif text[0] == 58:  # a colon: a comment
            self.keepalives += 1
        if found and not self.marked and self._end_mark in text:
            self.marked = True
        return found

    def _note_first(self, text: bytes, now: int) -> None:
        """From the request to the first event, less what the mock let it wait on purpose; and to the mock's
        receipt of the request. In microseconds.
        """
        stamp = text.find(MARK) + len(MARK)
        wait = stamp + STAMP_WIDTH + 1
        waited = int(text[wait : wait + WAIT_WIDTH])
        self.spoke_after = (now - self.started_at) // 1000 - waited
        self.admitted_after = int(text[stamp : stamp + STAMP_WIDTH]) - waited - self.started_at // 1000

    def _break(self, why: str) -> None:
        self.phase = Phase.BROKEN
        self.why = why

    def close(self) -> None:
        """Give the connection up."""
        self.sock.close()
