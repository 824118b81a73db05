"""Performs the steps of an answer on a transport: real writes, real pauses, real resets."""

import asyncio
import fcntl
import struct
import termios
from http import HTTPStatus
from socket import SO_LINGER, SOL_SOCKET

from tidegate.simulator.parameters import Ending
from tidegate.simulator.script import Body, Breathe, Close, Cut, Open, Raw, Say, Stall, Steps, Wait

_SAYS_IN_A_ROW = 64
_TICK = 0.001
_PATIENCE = 2000
_LINGER_ZERO = struct.pack("ii", 1, 0)


class Player:
    """One answer after the other on one connection. `http10`: the client speaks HTTP/1.0.

    `writable` is cleared by the connection while the client does not read.
    """

    def __init__(self, transport: asyncio.Transport, writable: asyncio.Event) -> None:
        self._transport = transport
        self._writable = writable
        self._body = Body.CHUNKED
        self._says = 0

    async def perform(self, steps: Steps, *, http10: bool = False) -> None:
        """Returns when the answer is over; the transport is closing then if the connection ends with it."""
        loop = asyncio.get_running_loop()
        due = loop.time()
        for step in steps:
            match step:
                case Wait(seconds):
                    due += seconds
                    await asyncio.sleep(max(0.0, due - loop.time()))
                case Open():
                    self._open(step, http10=http10)
                case Say(data):
                    await self._say(data)
                case Raw() | Breathe() | Stall() | Cut() | Close():
                    await self._rest(step)

    async def _rest(self, step: Raw | Breathe | Stall | Cut | Close) -> None:
        match step:
            case Raw(data):
                self._transport.write(data)
            case Breathe():
                await self._written()
            case Stall():
                await asyncio.get_running_loop().create_future()
            case Cut(how):
                await self._cut(how)
            case Close(connection, trailers):
                self._end_body(trailers)
                if connection or self._body is Body.CLOSE:
                    self._transport.close()

    def _open(self, head: Open, *, http10: bool) -> None:
        self._body = Body.CLOSE if http10 and head.body is Body.CHUNKED else head.body
        named = {418: "I'm a teapot"} | {status.value: status.phrase for status in HTTPStatus}
        lines = [f"HTTP/{head.version} {head.status} {named.get(head.status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in head.headers]
        if self._body is Body.CHUNKED:
            lines.append("transfer-encoding: chunked")
        self._transport.write("\r\n".join((*lines, "", "")).encode("latin-1"))

    async def _say(self, data: bytes) -> None:
        if not data:
            return  # an empty chunk would end the body
        self._transport.write(b"%x\r\n%b\r\n" % (len(data), data) if self._body is Body.CHUNKED else data)
        self._says += 1
        if self._says % _SAYS_IN_A_ROW == 0:
            await asyncio.sleep(0)
        if not self._writable.is_set():
            await self._writable.wait()

    def _end_body(self, trailers: tuple[tuple[str, str], ...]) -> None:
        if self._body is Body.CHUNKED:
            lines = "".join(f"{name}: {value}\r\n" for name, value in trailers)
            self._transport.write(b"0\r\n" + lines.encode("latin-1") + b"\r\n")

    async def _cut(self, how: Ending) -> None:
        match how:
            case Ending.CLEAN:
                self._end_body(())
                self._transport.close()
            case Ending.TRUNCATE:
                self._transport.close()
            case Ending.RESET:
                await self._arrived()
                if (sock := self._transport.get_extra_info("socket")) is not None:
                    sock.setsockopt(SOL_SOCKET, SO_LINGER, _LINGER_ZERO)
                self._transport.abort()

    async def _written(self) -> None:
        """Waits until all that was written has left the process."""
        await asyncio.sleep(0)
        # No transport tells when its buffer is empty.
        while self._transport.get_write_buffer_size() and not self._transport.is_closing():  # noqa: ASYNC110
            await asyncio.sleep(_TICK)

    async def _arrived(self) -> None:
        """Waits, not for ever, until all that was written has arrived: a reset throws away what has not."""
        await self._written()
        sock = self._transport.get_extra_info("socket")
        for _ in range(_PATIENCE):
            if sock is None or not _unacknowledged(sock.fileno()):
                return
            await asyncio.sleep(_TICK)


def _unacknowledged(descriptor: int) -> int:
    """Bytes in the kernel that the other side has not acknowledged."""
    return int(struct.unpack("i", fcntl.ioctl(descriptor, termios.TIOCOUTQ, b"\0\0\0\0"))[0])
