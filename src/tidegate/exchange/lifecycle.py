"""One request from its first byte to its last row."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from msgspec import structs

from tidegate.core.failure import Failure, Kind
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.exchange.admission import admit, claimed, identify
from tidegate.exchange.capture import Contents, record
from tidegate.exchange.checkpoints import Checkpoints
from tidegate.exchange.counting import Counting
from tidegate.exchange.holding import open_tab
from tidegate.exchange.origin import find_group
from tidegate.exchange.ports import ClientPipe, Ownership
from tidegate.exchange.prepared import Preparer
from tidegate.exchange.request import Request, World
from tidegate.exchange.settlement import CLIENT_CLOSED, Settlement
from tidegate.exchange.snapshot import Snapshot
from tidegate.exchange.story import Incoming, Story
from tidegate.exchange.streaming import Stream
from tidegate.exchange.whole import WholeExchange
from tidegate.protocols.base import Asked, Dialect
from tidegate.protocols.carrier import last_group, opener
from tidegate.protocols.failures import error_headers, failed
from tidegate.protocols.passthrough import may_hold_carriers
from tidegate.protocols.registry import count_dialect, dialect_of
from tidegate.routing.catalog import Candidate, Duty, Key
from tidegate.routing.plan import Plan, order

Serve: TypeAlias = Callable[[Incoming, Key, bytes, ClientPipe], Awaitable[None]]

DRAINING = Failure(kind=Kind.DRAINING, message="The server is shutting down.")
INTERNAL = failed(Kind.INTERNAL)


class Exchange:
    """Serves requests under the configuration in force."""

    def __init__(
        self,
        world: World,
        snapshot: Snapshot,
        settlement: Settlement,
        ownership: Ownership,
        contents: Contents | None = None,
    ) -> None:
        """Without `contents` nothing is kept of what requests and answers say."""
        self.snapshot = snapshot
        self.world = world
        self.settlement = settlement
        self.checkpoints = Checkpoints(world.books, world.tokenizer)
        self.draining = False
        self.open_requests = 0
        self._ownership = ownership
        self._contents = contents

    def identify(self, incoming: Incoming, known: Key | None = None) -> Key | Failure:
        """Who asks, where that is not `known`; while draining nobody is let in."""
        return DRAINING if self.draining else known or identify(self.snapshot.catalog, incoming.headers)

    def reject(self, incoming: Incoming, key: Key | None, failure: Failure, pipe: ClientPipe) -> None:
        """Answer a request that the gateway itself turns away, and note it."""
        self._reject(Story(incoming=incoming, key=key), failure, pipe)

    def note_unread(self, incoming: Incoming, failure: Failure) -> None:
        """Note what was answered before it could be read as a request."""
        dialect = dialect_of(incoming.protocol)
        status, _ = dialect.error_answer(failure, incoming.id)
        self.settlement.refused(Story(incoming=incoming), dialect, failure, status, "rejected")

    def left_early(self, incoming: Incoming, key: Key) -> None:
        """The client went before its request was whole."""
        self._left(Story(incoming=incoming, key=key))

    async def serve(self, incoming: Incoming, key: Key, body: bytes, pipe: ClientPipe) -> None:
        """Answer a request on one of the three generating routes."""
        if key.capture:
            await self._noted(self._serve, incoming, key, body, pipe)
        else:
            await self._serve(incoming, key, body, pipe)

    async def _serve(self, incoming: Incoming, key: Key, body: bytes, pipe: ClientPipe) -> None:
        dialect = dialect_of(incoming.protocol)
        with self.open():
            admitted = await self._admit(incoming, key, body, dialect, pipe, counts=False)
            if admitted is not None:
                request, plan = admitted
                await (self._stream if request.asked.stream else self._whole)(request, plan, pipe)

    async def count(self, incoming: Incoming, key: Key, body: bytes, pipe: ClientPipe) -> None:
        """Answer a request on `/v1/messages/count_tokens`."""
        if key.capture:
            await self._noted(self._serve_count, incoming, key, body, pipe)
        else:
            await self._serve_count(incoming, key, body, pipe)

    async def _serve_count(self, incoming: Incoming, key: Key, body: bytes, pipe: ClientPipe) -> None:
        dialect = count_dialect()
        with self.open():
            admitted = await self._admit(incoming, key, body, dialect, pipe, counts=True)
            if admitted is not None:
                await self._count(*admitted, pipe)

    async def _noted(self, serve: Serve, incoming: Incoming, key: Key, body: bytes, pipe: ClientPipe) -> None:
        """Serve a request whose key lets some of its content be kept."""
        contents = self._contents
        recording = None if contents is None else record(contents, incoming, key.capture, body, pipe)
        if recording is None:
            await serve(incoming, key, body, pipe)
            return
        try:
            await serve(incoming, key, body, recording)
        finally:
            recording.close(self.world.wall())

    def interrupt_all(self) -> None:
        """The drain is over: every open call gets its protocol's error, and no other begins."""
        self.world.heartbeat.stop(DRAINING)

    async def _admit(
        self, incoming: Incoming, key: Key, body: bytes, dialect: Dialect, pipe: ClientPipe, *, counts: bool
    ) -> tuple[Request, Plan] | None:
        """The request and its plan; None when it has been turned away."""
        snapshot, story, accepted_at = self.snapshot, Story(incoming=incoming, key=key), self.world.clock()
        asked = dialect.read_request(body)
        if isinstance(asked, Failure):
            story.model, story.stream = claimed(snapshot.catalog, body)
            self._reject(story, asked, pipe)
            return None
        story.model, story.stream = asked.model, asked.stream
        if snapshot.settings.always_usage:
            asked = structs.replace(asked, wants_usage=True)
        try:
            plan = await self._plan(snapshot, key, asked, counts=counts)
        except asyncio.CancelledError:
            self._left(story)
            raise
        if isinstance(plan, Failure):
            self._reject(story, plan, pipe)
            return None
        request = Request(
            world=self.world,
            snapshot=snapshot,
            dialect=dialect,
            asked=asked,
            key=key,
            story=story,
            preparer=Preparer(
                dialect, asked, key, snapshot.catalog, snapshot.settings.secret.reveal().encode()
            ),
            accepted_at=accepted_at,
            counts=counts,
        )
        failure = await self._open_tab(request, plan, pipe)
        if failure is not None:
            self._reject(story, failure, pipe)
            return None
        return request, plan

    async def _open_tab(self, request: Request, plan: Plan, pipe: ClientPipe) -> Failure | None:
        """Limits and money; a client that leaves meanwhile has its row, and with it all is given back."""
        try:
            return await open_tab(request, plan, pipe)
        except asyncio.CancelledError:
            self._left(request.story)
            raise
        except Exception:
            self._reject(request.story, INTERNAL, pipe)
            raise

    async def _plan(self, snapshot: Snapshot, key: Key, asked: Asked, *, counts: bool) -> Plan | Failure:
        candidates = admit(snapshot.catalog, key, asked, counts=counts)
        if isinstance(candidates, Failure):
            return candidates
        group: str | Failure | None = None
        if asked.response_ids or asked.item_ids:
            within = {each.channel.group or each.channel.name for each in candidates}
            group = await find_group(self._ownership, asked, key.account, within)
        if isinstance(group, Failure):
            return group
        prefer = None
        if _has_a_choice(candidates) and may_hold_carriers(asked):
            # Only the channel that thought can go on with its reasoning.
            secret = snapshot.settings.secret.reveal().encode()
            prefer = last_group(asked.body, opener(secret, key.account))
        now, health = self.world.clock(), self.world.health
        return order(
            candidates,
            health,
            now,
            random.random,
            prefer_group=prefer,
            only_group=group,
            prefer_protocol=asked.protocol,
        )

    async def _stream(self, request: Request, plan: Plan, pipe: ClientPipe) -> None:
        stream = Stream.of(request, pipe)
        self.checkpoints.add(stream)
        try:
            ended = await stream.run(plan)
            if isinstance(ended, Complete) and stream.owes_usage:
                pipe.finish(stream.closing(await self.settlement.usage_owed(stream)))
        except asyncio.CancelledError:
            self.settlement.stream_left(stream)
            raise
        except Exception:
            self.settlement.stream_ended(stream, stream.give_up(INTERNAL))
            raise
        finally:
            self.checkpoints.remove(stream)
        self.settlement.stream_ended(stream, ended)

    async def _whole(self, request: Request, plan: Plan, pipe: ClientPipe) -> None:
        exchange = WholeExchange(request=request)
        try:
            ended = await request.tries(exchange.once, lambda: None).run(plan)
        except asyncio.CancelledError:
            self.settlement.whole_left(exchange)
            raise
        except Exception:
            self._refuse(request, INTERNAL, pipe)
            raise
        pipe.warn(exchange.warnings)
        match ended:
            case Failover(failure) | Refuse(failure) | AppendError(failure):
                self._refuse(request, failure, pipe)
            case Complete():
                whole = exchange.answer
                pipe.answer(200, [], whole.body)
                self.settlement.whole_ended(exchange, whole)

    async def _count(self, request: Request, plan: Plan, pipe: ClientPipe) -> None:
        try:
            await Counting(request=request).run(plan, pipe)
        except asyncio.CancelledError:
            self._left(request.story)
            raise
        except Exception:
            self._refuse(request, INTERNAL, pipe)
            raise
        self.settlement.close(request.story)

    def _refuse(self, request: Request, failure: Failure, pipe: ClientPipe) -> None:
        status = request.refuse(pipe, failure)
        outcome = "failed" if request.story.attempts else "rejected"
        self.settlement.refused(request.story, request.dialect, failure, status, outcome)

    def _left(self, story: Story) -> None:
        story.status, story.outcome = CLIENT_CLOSED, "client_closed"
        self.settlement.close(story)

    @contextmanager
    def open(self) -> Iterator[None]:
        """A drain waits for what is done inside: a request from its headers to the end of its answer."""
        self.open_requests += 1
        try:
            yield
        finally:
            self.open_requests -= 1

    def _reject(self, story: Story, failure: Failure, pipe: ClientPipe) -> None:
        dialect = dialect_of(story.incoming.protocol)
        status, body = dialect.error_answer(failure, story.incoming.id)
        pipe.answer(status, error_headers(failure), body)
        self.settlement.refused(story, dialect, failure, status, "rejected")


def _has_a_choice(candidates: Sequence[Candidate]) -> bool:
    """Whether it matters which group's reasoning a request carries: one channel alone may refuse it too."""
    return len(candidates) > 1 or any(one.channel.duty is not Duty.ACTIVE for one in candidates)
