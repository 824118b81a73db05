"""A forward proxy that knows CONNECT only, and remembers what it was asked for."""

import asyncio
import contextlib
import threading


class ConnectProxy:
    """Runs in its own thread. `asked` holds the targets, `credentials` the proxy-authorization values."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.credentials: list[str | None] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="connect-proxy")

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(60), "the proxy did not start"

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._tunnel, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")
        method, target, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.asked.append(target)
        self.credentials.append(headers.get("proxy-authorization"))
        if method != "CONNECT":
            writer.write(b"HTTP/1.1 405 No\r\ncontent-length: 0\r\n\r\n")
            writer.close()
            return
        host, _, port = target.rpartition(":")
        inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while part := await reader.read(65536):
            writer.write(part)
            await writer.drain()
    with contextlib.suppress(ConnectionError, OSError):
        writer.close()
