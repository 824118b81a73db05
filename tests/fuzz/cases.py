"""What is tried, each with everything that it needs to be tried again, and what must hold for it."""

import json
import re
import warnings
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct
from tests.property.stream_grammars import accumulated, check, check_failed
from tests.unit.protocols.asking import target

from tidegate.core.conversation import Conversation
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.core.sse import Frame, Framer, Overflow
from tidegate.core.usage import Usage
from tidegate.engine.actions import AppendError, Complete, Failover, Refuse
from tidegate.engine.relay import Relay, Terms, Wording
from tidegate.engine.signals import Limits, Phase, Progress
from tidegate.protocols.base import Asked, Said, Seed, Whole
from tidegate.protocols.carrier import opener, sealer
from tidegate.protocols.conversion import AnswerContext, Written
from tidegate.protocols.converting import ConvertingWatcher
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.registry import dialect_of

Signature = frozenset[object]
"""How a case behaved; another one is worth keeping for further mutation."""

_TERMS = Terms(Limits(0, 0, 0, 0), Wording("timed out", "failed"), 1 << 20)
_SEED = Seed("Seed0123456789ABCDEFabcd", 1_700_000_000)
_SECRET = b"a secret of the fuzz target"
_SEAL = sealer(_SECRET, "default", "up")
_OPEN = opener(_SECRET, "default")
_ESTIMATE = Usage(input=7, cache_read=0, cache_write=0, output=3)
_KEYS = re.compile(rb'"([a-z_]{2,30})":|"type":"([a-z_.]{2,40})"')
_NUMBERS = re.compile(r"\d+|'.*'|`.*`")
_REFUSALS = {Kind.INVALID_REQUEST, Kind.UNSUPPORTED_PARAMETER, Kind.UNSUPPORTED_VALUE}
_ENDS = {
    Protocol.MESSAGES: {"message_stop"},
    Protocol.RESPONSES: {"response.completed", "response.incomplete"},
}


class Crossing(Struct, frozen=True):
    """A client's request as it went to a channel of another protocol."""

    client: Asked
    conversation: Conversation
    written: Written
    channel: Asked


class Answer(Struct, frozen=True, tag=True):
    """A client's request, and the bytes that the upstream answers with in pieces; `cuts` are offsets."""

    client: Protocol
    upstream: Protocol
    request: bytes
    body: bytes
    cuts: tuple[int, ...] = ()

    def run(self) -> Signature:
        """Raises where a promise is broken."""
        found = crossing(self.client, self.upstream, self.request)
        out, relay, progress = self._relayed(found)
        match relay.ended:
            case Complete():
                self._check_success(found, out)
            case AppendError():
                assert progress.phase is Phase.SPOKEN
                check_failed(self.client, out)
            case Failover() | Refuse():
                assert out == b"", "an attempt that failed before its first word has written"
            case None:
                raise AssertionError("the stream has no end")
        if self.cuts:
            assert out == Answer(self.client, self.upstream, self.request, self.body)._relayed(found)[0]
        failure = getattr(relay.ended, "failure", None)
        reason = None if failure is None else (failure.kind, _NUMBERS.sub("", failure.message))
        return frozenset({self.client, self.upstream, type(relay.ended), reason, *_KEYS.findall(out)})

    def _relayed(self, found: Crossing) -> tuple[bytes, Relay, Progress]:
        watcher = converting(found)
        progress = Progress(accepted_at=0, attempt_at=0, heard_at=0, wrote_at=0)
        relay = Relay(watcher, progress, _TERMS, lambda body: replayed(found.channel, body))
        places = sorted({0, *(cut % (len(self.body) + 1) for cut in self.cuts), len(self.body)})
        out = b"".join(relay.feed(self.body[start:end], 0) for start, end in pairwise(places))
        out += relay.end(0)
        if isinstance(relay.ended, Complete):
            out += watcher.closing(_ESTIMATE if watcher.owes_usage else None)
        return out, relay, progress

    def _check_success(self, found: Crossing, out: bytes) -> None:
        check(self.client, out)
        if not found.written.stops:
            assert _is_ended(self.upstream, self.body), "success without the end mark"
        self._check_sdk(out)
        whole = dialect_of(self.client).assemble(found.client, out)
        if isinstance(whole, bytes):
            assert isinstance(dialect_of(self.client).read_whole(found.client, whole), Whole)
        else:  # input that was cut is no JSON, which a Messages block cannot tell
            assert self.client is Protocol.MESSAGES, whole

    def _check_sdk(self, out: bytes) -> None:
        """The official SDK takes it; of input that is no JSON it says so itself, as for its own provider."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                accumulated(self.client, out)
            except ValueError as error:
                if not str(error).startswith("Unable to parse tool parameter JSON"):
                    raise


class WholeAnswer(Struct, frozen=True, tag=True):
    """As Answer, but neither side streams."""

    client: Protocol
    upstream: Protocol
    request: bytes
    body: bytes

    def run(self) -> Signature:
        """Raises where a promise is broken."""
        found = crossing(self.client, self.upstream, self.request)
        answer = self._answer(found)
        if isinstance(answer, Failure):
            assert answer.message
            return frozenset({"whole", self.client, self.upstream, _NUMBERS.sub("", answer.message)})
        read = dialect_of(self.client).read_whole(found.client, answer)
        assert isinstance(read, Whole), read
        return frozenset({"whole", self.client, self.upstream, *_KEYS.findall(answer)})

    def _answer(self, found: Crossing) -> bytes | Failure:
        channel = dialect_of(self.upstream)
        whole = channel.read_whole(found.channel, self.body)
        if isinstance(whole, Failure) or whole.failure is not None:
            return whole if isinstance(whole, Failure) else whole.failure or whole.body
        watcher = converting(found)
        out = b""
        for frame in Framer(1 << 24).feed(channel.replay(found.channel, whole.body)):
            said = watcher.read(frame)
            if said in (Said.ERROR, Said.BROKEN, Said.SPOILT):
                return watcher.failure or Failure(kind=Kind.UPSTREAM, message="broken")
            out += b"" if said is Said.DROPPED else watcher.outgoing(frame)
            if said is Said.END:
                break
        out += watcher.closing(_ESTIMATE if watcher.owes_usage else whole.usage)
        return dialect_of(self.client).assemble(found.client, out)


class Request(Struct, frozen=True, tag=True):
    """What a client sends, for a channel of every other protocol; `abilities` differ from the defaults."""

    client: Protocol
    body: bytes
    abilities: dict[str, bool] = {}

    def run(self) -> Signature:
        """Raises where a promise is broken."""
        asked = dialect_of(self.client).read_request(self.body)
        if isinstance(asked, Failure):
            return frozenset({"request", self.client, _NUMBERS.sub("", asked.message)})
        found: set[object] = {"request", self.client}
        for text in dialect_of(self.client).prompt_texts(asked):
            assert isinstance(text, str)
        conversation = halves_of(self.client).read_conversation(asked, _OPEN)
        for channel in Protocol:
            if channel is self.client:
                continue
            written: Written | Failure = (
                conversation
                if isinstance(conversation, Failure)
                else halves_of(channel).write_conversation(conversation, target(channel, **self.abilities))
            )
            found |= self._judged(channel, written)
        return frozenset(found)

    def _judged(self, channel: Protocol, written: Written | Failure) -> set[object]:
        if isinstance(written, Failure):
            assert written.kind in _REFUSALS, written
            assert written.message
            return {(channel, written.kind, _NUMBERS.sub("", written.message))}
        read = dialect_of(channel).read_request(written.body)
        assert isinstance(read, Asked), read
        assert read.stream or not json.loads(written.body).get("stream")
        return {(channel, key) for key in _KEYS.findall(written.body)} | {
            (channel, loss.code, re.sub(r"\d+", "", loss.path)) for loss in written.losses
        }


Case = Answer | WholeAnswer | Request


def written_down(case: Case) -> bytes:
    """The case as JSON, to be read by `read_back`."""
    return msgspec.json.encode(case)


def read_back(text: bytes) -> Case:
    """The case again."""
    case: Case = msgspec.json.decode(text, type=Case)
    return case


@lru_cache(maxsize=4096)
def crossing(client: Protocol, upstream: Protocol, request: bytes) -> Crossing:
    """A request that is known to be good, on its way up."""
    asked = dialect_of(client).read_request(request)
    assert isinstance(asked, Asked), asked
    conversation = halves_of(client).read_conversation(asked, _OPEN)
    assert isinstance(conversation, Conversation), conversation
    written = halves_of(upstream).write_conversation(conversation, target(upstream))
    assert isinstance(written, Written), written
    channel = dialect_of(upstream).read_request(written.body)
    assert isinstance(channel, Asked), channel
    return Crossing(asked, conversation, written, channel)


def converting(found: Crossing) -> ConvertingWatcher:
    """A reader of one answer to it."""
    client, upstream = found.client.protocol, found.channel.protocol
    context = AnswerContext(
        asked=found.client,
        conversation=found.conversation,
        upstream=upstream,
        seed=_SEED,
        seal=_SEAL,
        names=found.written.names,
        input_estimate=11,
    )
    return ConvertingWatcher(
        dialect_of(upstream).watcher(found.channel, str, _SEED),
        halves_of(upstream).decoder(),
        halves_of(client).encoder(context),
        found.written.stops,
        str,
        wants_usage=found.client.wants_usage,
    )


def replayed(channel: Asked, body: bytes) -> bytes | Failure:
    """A whole answer where a stream was asked for, as a stream."""
    dialect = dialect_of(channel.protocol)
    whole = dialect.read_whole(channel, body)
    if isinstance(whole, Failure):
        return whole
    return whole.failure or dialect.replay(channel, body)


def _is_ended(upstream: Protocol, body: bytes) -> bool:
    """Whether anything in the bytes ends an answer of the protocol; a whole answer does by itself.

    For Messages the stop reason does where only the end mark behind it is missing.
    """
    if body.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return True
    framer = Framer(1 << 22)
    try:
        frames = [*framer.feed(body), framer.end()]
    except Overflow as overflow:
        frames = list(overflow.frames)
    return any(frame is not None and _ends(upstream, frame) for frame in frames)


def _ends(upstream: Protocol, frame: Frame) -> bool:
    try:
        value: Any = json.loads(frame.data)
    except (ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return False
    if upstream is Protocol.CHAT:
        return "finish_reason" in json.dumps(value)
    told = value.get("type")
    name = told if isinstance(told, str) and told else (frame.event or b"").decode()
    delta = value.get("delta")
    stopped = isinstance(delta, dict) and delta.get("stop_reason") is not None
    return name in _ENDS[upstream] or (name == "message_delta" and stopped)
