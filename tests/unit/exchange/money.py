"""Books and limits that do as they are told."""

import asyncio
from collections import deque
from collections.abc import Sequence

from tidegate.exchange.ports import Intent, RequestRecord
from tidegate.ledger.entries import Answer, Granted
from tidegate.routing.quota import Admitted, Levels, Scope, Verdict


class FakeBooks:
    """Grants every hold, or what `answers` say; a hold may wait or fail."""

    def __init__(self) -> None:
        self.intents: list[Intent] = []
        self.noted: list[RequestRecord] = []
        self.answers: deque[Answer] = deque()
        self.gate: asyncio.Future[None] | None = None
        self.fault: Exception | None = None

    async def hold(self, intent: Intent) -> Answer:
        self.intents.append(intent)
        if self.fault is not None:
            raise self.fault
        if self.gate is not None:
            await self.gate
        return self.answers.popleft() if self.answers else Granted(intent.amount)

    def checkpoint(self, records: Sequence[RequestRecord]) -> None:
        self.noted += records


class FakeLimits:
    """Admits everything, or what `verdicts` say; remembers who holds a place and what was used."""

    def __init__(self) -> None:
        self.verdicts: deque[Verdict] = deque()
        self.admitted: list[tuple[str, tuple[Scope, ...], int]] = []
        self.finished: list[tuple[str, int, int]] = []
        self.told: list[Verdict] = []

    async def admit(self, request_id: str, scopes: Sequence[Scope], tokens: int) -> Verdict:
        self.admitted.append((request_id, tuple(scopes), tokens))
        self.told.append(self.verdicts.popleft() if self.verdicts else Admitted(Levels()))
        return self.told[-1]

    def finish(self, request_id: str, scopes: Sequence[Scope], estimated: int, used: int) -> None:
        assert scopes
        self.finished.append((request_id, estimated, used))
