"""One request as it goes up on one channel: edited for the same protocol, converted for another."""

from msgspec import Struct, structs

from tidegate.core.capability import Conversion
from tidegate.core.conversation import Conversation, Loss, LossCode
from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols import abilities, warnings
from tidegate.protocols.base import Asked, Dialect, Repair
from tidegate.protocols.carrier import opener
from tidegate.protocols.conversion import Abilities, Target, Written
from tidegate.protocols.output_limits import limit_name, with_limit
from tidegate.protocols.pairs import halves_of
from tidegate.protocols.passthrough import lost_carriers
from tidegate.protocols.registry import dialect_of
from tidegate.routing.catalog import Candidate, Catalog, Channel, Key, UpstreamStream

LONG_ANSWER = 16_384
"""Tokens; whoever allows more gets a whole answer that was fetched as a stream, if the channel may."""


class Crossing(Struct, frozen=True):
    """What the way back of a conversion must know."""

    conversation: Conversation
    written: Written


class Prepared(Struct, frozen=True, kw_only=True):
    """A request for one channel. `asked` is what the channel's own dialect reads in it."""

    candidate: Candidate
    dialect: Dialect
    asked: Asked
    body: bytes
    losses: tuple[Loss, ...] = ()
    """What could not be said on the channel."""
    crossing: Crossing | None = None

    def repair(self, refusal: Failure) -> "tuple[Prepared, Repair] | None":
        """The request without what the upstream refused, if a repair can help."""
        repair = self.dialect.repair(self.asked, refusal)
        if repair is None:
            return None
        body = self.dialect.write_repaired(self.asked, self.candidate.upstream_model, repair)
        return structs.replace(self, body=body), repair


class Preparer:
    """Makes the requests of one caller's request; reads the conversation once, when it is first needed."""

    def __init__(self, dialect: Dialect, asked: Asked, key: Key, catalog: Catalog, secret: bytes) -> None:
        self._dialect = dialect
        self._asked = asked
        self._key = key
        self._catalog = catalog
        self._secret = secret
        self._conversation: Conversation | Failure | None = None
        self._limit: int | None = None

    def limit_output(self, limit: int) -> None:
        """Set an output limit that the caller did not set: more is not covered by the balance."""
        self._limit = limit

    def prepare(self, candidate: Candidate) -> Prepared | Failure:
        """The request for a channel; Failure: a 400 that names what cannot be said there."""
        if candidate.channel.protocol is self._asked.protocol:
            asked = self._limited(self._limit_name(candidate))
            body = self._dialect.write_request(asked, candidate.upstream_model)
            return Prepared(
                candidate=candidate,
                dialect=self._dialect,
                asked=asked,
                body=body,
                losses=(*lost_carriers(asked, body), *self._clamped()),
            )
        conversation = self._read()
        if isinstance(conversation, Failure):
            return conversation
        return self._convert(conversation, candidate)

    def _read(self) -> Conversation | Failure:
        if self._conversation is None:
            open_carrier = opener(self._secret, self._key.account)
            read = halves_of(self._asked.protocol).read_conversation
            self._conversation = read(self._limited(limit_name(self._asked.protocol)), open_carrier)
        return self._conversation

    def _limited(self, name: str) -> Asked:
        return (
            self._asked if self._limit is None else with_limit(self._dialect, self._asked, self._limit, name)
        )

    def _limit_name(self, candidate: Candidate) -> str:
        """The member that the channel knows the limit by; Chat has an old name and a new one."""
        if self._limit is None or self._asked.protocol is not Protocol.CHAT:
            return limit_name(self._asked.protocol)
        return self._abilities(candidate).max_tokens_field.value

    def _clamped(self) -> tuple[Loss, ...]:
        if self._limit is None:
            return ()
        return (Loss(LossCode.CLAMPED, limit_name(self._asked.protocol)),)

    def _convert(self, conversation: Conversation, candidate: Candidate) -> Prepared | Failure:
        channel = candidate.channel
        written = halves_of(channel.protocol).write_conversation(
            conversation, self._target(conversation, candidate)
        )
        if isinstance(written, Failure):
            return written
        refused = warnings.strict(written.losses) if self._key.conversion is Conversion.STRICT else None
        if refused is not None:
            return refused
        dialect = dialect_of(channel.protocol)
        asked = dialect.read_request(written.body)
        if isinstance(asked, Failure):
            detail = f"the converted request is not valid: {asked.message}"
            return Failure(kind=Kind.INTERNAL, message="The request could not be converted.", detail=detail)
        return Prepared(
            candidate=candidate,
            dialect=dialect,
            asked=asked,
            body=written.body,
            losses=(*written.losses, *self._clamped()),
            crossing=Crossing(conversation, written),
        )

    def _target(self, conversation: Conversation, candidate: Candidate) -> Target:
        channel = candidate.channel
        model = self._catalog.model(self._asked.model)
        return Target(
            model=candidate.upstream_model,
            group=channel.group or channel.name,
            abilities=self._abilities(candidate),
            max_output_tokens=model.max_output_tokens
            or abilities.default_max_output_tokens(candidate.upstream_model),
            stream=self._asked.stream or _may_be_long(conversation, channel),
        )

    def _abilities(self, candidate: Candidate) -> Abilities:
        channel = candidate.channel
        return abilities.resolve(
            channel.protocol,
            candidate.upstream_model,
            channel.capabilities,
            self._catalog.model(self._asked.model).capabilities,
            unsupported_tools=(channel.unsupported_tools, self._key.unsupported_tools),
        )


def _may_be_long(conversation: Conversation, channel: Channel) -> bool:
    """Whether a whole answer is better fetched as a stream: a long one would die on an idle connection."""
    limit = conversation.sampling.max_output_tokens
    long = limit is not None and limit.value > LONG_ANSWER
    return long and channel.upstream_stream is UpstreamStream.AUTO
