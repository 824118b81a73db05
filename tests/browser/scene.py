"""A seeded gateway with the simulated provider behind it, and callers that never rest."""

import asyncio
import itertools
import threading
import time
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from tests.harness import settings
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, SIDES, Side
from tests.harness.gateway import Gateway, free_port
from tests.harness.notation import Json

MARKUP = '<b>bold</b> & "co"'
"""The name of an account and a key: whoever shows it as markup shows it wrong."""
PRICE: Json = {"input": "3.00", "output": "15.00", "cache_read": "0.30", "cache_write": "3.75"}
_MODELS = {
    "quick": "sim;words=12;unique_ids",
    "steady": "sim;rate=25;words=30;ttft=150ms;unique_ids",
    "thoughtful": "sim;rate=60;reasoning=8;words=12;unique_ids",
}
_FAULTY = {"cut": "sim;cut_after=4;words=12;unique_ids", "refused": "sim;error=context"}
_PAUSE_SECONDS = 0.25
"""Between two requests of the callers."""
_ROWS = 24
"""So many requests are finished before a test begins."""
Result = TypeVar("Result")


def config(port: int, folder: str, upstream: str) -> settings.Config:
    """A channel for each protocol, one that fails first, and callers of two accounts; the rest is seeded."""
    wanted = settings.server(port, folder)
    for side in SIDES:
        served = _MODELS | _FAULTY if side is CHAT else _MODELS
        wanted["channels"].append(_channel(f"sim-{side.name}", side, upstream, served, priority=5))
    shaky = {"quick": "sim;status=503", "shaky": "sim;status=503;retry_after=20"}
    wanted["channels"] += [
        _channel("shaky", MESSAGES, upstream, shaky, priority=1),
        _channel("backup", CHAT, upstream, {"shaky": "sim;words=8;unique_ids"}, priority=0),
    ]
    wanted["models"] = [
        {"name": "steady", "price": PRICE, "max_output_tokens": 4096},
        {"name": "thoughtful", "price": {"input": "0.25", "output": "2.00"}},
    ]
    return wanted


def _channel(name: str, side: Side, upstream: str, models: dict[str, str], priority: int) -> settings.Config:
    return settings.channel(name, side.tag, upstream, models, priority=priority)


class Scene:
    """`begin` starts it, `end` must be called."""

    token = settings.ADMIN

    def __init__(self, folder: Path, upstream: str) -> None:
        """`upstream` is the address of the simulated provider."""
        self.upstream = upstream
        self.gateway = Gateway(config(free_port(), str(folder), upstream), folder)
        self.origin = f"http://127.0.0.1:{self.gateway.port}"
        self.callers: list[tuple[str, str, bool]] = []
        """Account, secret and whether it streams."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="callers", daemon=True)
        self._traffic: asyncio.Future[None] | None = None
        self._open: set[asyncio.Future[None]] = set()
        self._serial = itertools.count()

    def begin(self) -> None:
        """Ready when this returns: seeded, and some requests are done."""
        self._thread.start()
        self.gateway.wait_ready()
        self._seed()
        self.wait(self._call_all())
        self.resume()

    def wait(self, work: Coroutine[Any, Any, Result], within: float = 60.0) -> Result:
        """What comes of it, done beside the browser's own loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(within)

    def admin(self, target: str, body: Json | None = None, method: str | None = None) -> Any:
        """The answer of the admin API, which must be a good one."""
        method = method or ("GET" if body is None else "POST")
        reply = self.wait(self.gateway.admin(target, method=method, body=body))
        assert reply.status < 300, f"{method} {target}: {reply.status} {reply.body.decode()}"
        return reply.json() if reply.body else None

    def one(self, kind: str, name: str) -> Any:
        """One entry of the catalog."""
        return self.admin(f"{kind}/{quote(name, safe='')}")

    def unused(self, stem: str) -> str:
        """A name that nothing else has."""
        return f"{stem}-{next(self._serial)}"

    def call(self, model: str = "quick", side: Side = CHAT, *, stream: bool = True, **members: Any) -> str:
        """One request to its end; its id."""
        body = side.request(model, stream=stream, **members)
        reply = self.wait(self.gateway.call(side, body))
        identifier = reply.header("x-request-id")
        assert identifier
        return identifier

    def pause(self) -> None:
        """No further requests of the callers."""
        if self._traffic is not None:
            self._loop.call_soon_threadsafe(self._traffic.cancel)
            self._traffic = None

    def resume(self) -> None:
        """The callers go on."""

        async def start() -> None:
            self._traffic = asyncio.ensure_future(self._calls())

        self.wait(start())

    def end(self) -> None:
        """Stop everything that was started."""
        self.pause()
        try:
            self.gateway.stop()
        finally:
            if self._thread.is_alive():
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._thread.join(60)

    def check(self) -> None:
        """The gateway's log has no traceback and no secret in it."""
        log = self.gateway.log
        assert "Traceback" not in log, log[log.index("Traceback") - 500 :][:4000]
        for secret in (*settings.ENVIRONMENT.values(), *(secret for _, secret, _ in self.callers)):
            assert secret not in log, f"a secret is in the log: {secret[:8]}…"

    def _seed(self) -> None:
        self.admin("accounts", {"name": "initech", "balance": "25.00", "budget_per_month": "100"})
        self.admin("accounts/initech/credit", {"amount": "12.50", "reference": "invoice 7"})
        self.admin("accounts", {"name": MARKUP})
        upstream = f"{self.upstream}/v1"
        spare = {
            "name": "spare",
            "protocol": "chat",
            "base_url": upstream,
            "api_key": "sk-spare-credential-1",
        }
        self.admin("models", {"name": "seldom", "price": PRICE})
        self.admin("channels", spare | {"models": {"seldom": "sim;words=6;unique_ids"}, "priority": -1})
        for name, account, budget in (("app", "initech", "5"), (MARKUP, MARKUP, None)):
            made = self.admin("keys", {"name": name, "account": account, "budget_per_day": budget})
            self.callers.append((account, made["secret"], name == "app"))
        self.callers += [("acme", settings.KEY, True), ("globex", settings.OTHER_KEY, False)]

    async def _call_all(self) -> None:
        requests = itertools.islice(self._requests(), _ROWS)
        await asyncio.gather(*(self._call(*wanted) for wanted in requests))
        deadline = time.monotonic() + 60
        while len(await self.gateway.rows(f"limit={_ROWS}")) < _ROWS:
            assert time.monotonic() < deadline, "the rows of the first requests are not written"
            await asyncio.sleep(0.05)

    async def _calls(self) -> None:
        for wanted in self._requests():
            open_call = asyncio.ensure_future(self._call(*wanted))
            self._open.add(open_call)
            open_call.add_done_callback(self._open.discard)
            await asyncio.sleep(_PAUSE_SECONDS)

    def _requests(self) -> Iterator[tuple[str, Side, tuple[str, str, bool]]]:
        names = itertools.cycle((*_MODELS, "quick", "shaky", *_FAULTY, "quick", "steady"))
        return zip(names, itertools.cycle((CHAT, RESPONSES, MESSAGES)), itertools.cycle(self.callers))

    async def _call(self, model: str, side: Side, caller: tuple[str, str, bool]) -> None:
        _account, secret, stream = caller
        await self.gateway.call(side, side.request(model, stream=stream), key=secret)
