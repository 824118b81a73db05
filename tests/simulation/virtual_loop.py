"""An event loop on a virtual clock: one step at a time, never a wait, and nothing that chance could order."""

import asyncio
import heapq
import itertools
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

_RESTLESS = 100_000
"""Steps without a moment passing, after which the loop turns in a circle."""


class Stuck(AssertionError):
    """Nothing is ready and no timer runs, yet a task waits."""


class Endless(AssertionError):
    """The story goes on after its time is up."""


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs one ready callback after the other; where none is left, the clock jumps to the next timer.

    `limit` is the time (seconds) at which the story must be over. Work for threads is done inline.
    """

    _ready: deque[events.Handle]
    _scheduled: list[events.TimerHandle]

    def __init__(self, start: float, limit: float) -> None:
        super().__init__()
        self.steps = 0
        self.faults: list[str] = []
        """What callbacks and forgotten tasks have raised."""
        self._now = start
        self._limit = limit
        self._restless = 0
        self._halted = False
        self._names = itertools.count(1)
        self.set_exception_handler(self._note_fault)

    def time(self) -> float:
        """Virtual seconds."""
        return self._now

    def play(self, work: Coroutine[Any, Any, None]) -> bool:
        """Run to the end of `work`, or until `halt`; False: halted."""
        task = self.create_task(work, name="play")
        task.add_done_callback(lambda _: self.stop())
        self.run_forever()
        if self._halted:
            return False
        task.result()
        return True

    def halt(self) -> None:
        """As a killed process: not one callback more."""
        self._halted = True
        self.stop()

    def abandon(self) -> None:
        """Take apart what a halted loop has left. Ports must be deaf by now."""
        for _ in range(10):
            for task in asyncio.all_tasks(self):
                task.cancel()
            self._scheduled.clear()
            if not self._ready and not asyncio.all_tasks(self):
                break
            self.call_soon(self.stop)
            self.run_forever()
        self.faults.clear()
        self.close()

    def create_task(self, coro: Any, *, name: object = None, context: Any = None) -> "asyncio.Task[Any]":
        """Tasks are named by a counter of the loop's own, so that a trace tells the same names again."""
        name = f"task-{next(self._names)}" if name is None else name
        return super().create_task(coro, name=name, context=context)

    def run_in_executor(  # type: ignore[override]  # more kinds of arguments than are used
        self, executor: object, func: Callable[..., Any], *args: Any
    ) -> "asyncio.Future[Any]":
        """Do it at once; whoever waits hears of it one step later."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # it belongs to whoever awaits it
            future.set_exception(error)
        return future

    def _run_once(self) -> None:
        scheduled, ready = self._scheduled, self._ready
        while scheduled and scheduled[0]._cancelled:
            heapq.heappop(scheduled)._scheduled = False  # type: ignore[attr-defined]
        if not ready:
            self._advance()
        while scheduled and scheduled[0].when() <= self._now:
            timer = heapq.heappop(scheduled)
            timer._scheduled = False  # type: ignore[attr-defined]
            ready.append(timer)
        handle = ready.popleft()
        self.steps += 1
        self._restless += 1
        if self._restless > _RESTLESS:
            raise Endless("the loop turns in a circle")
        if not handle._cancelled:
            handle._run()

    def _advance(self) -> None:
        if not self._scheduled:
            waiting = sorted(task.get_name() for task in asyncio.all_tasks(self))
            raise Stuck(f"nothing will ever happen, and these wait: {', '.join(waiting)}")
        self._now = max(self._now, self._scheduled[0].when())
        self._restless = 0
        if self._now > self._limit:
            waiting = sorted(task.get_name() for task in asyncio.all_tasks(self))
            raise Endless(f"time is up, and these go on: {', '.join(waiting)}")

    def _note_fault(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What is left of a killed process is taken apart whenever the collector finds it: no fault."""
        if not self._halted:
            self.faults.append(_in_words(context))

    def _process_events(self, event_list: Any) -> None:
        """There are no files to watch."""

    def _write_to_self(self) -> None:
        """There are no threads to wake from."""


def _in_words(context: dict[str, Any]) -> str:
    return f"{context.get('message')}: {context.get('exception')!r}"
