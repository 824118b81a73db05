"""An immutable snapshot of channels, models and keys, with every lookup that a request needs."""

import hashlib
from collections.abc import Iterable, Mapping
from enum import Enum

from msgspec import Struct

from tidegate.core.capability import Capabilities, Conversion, UnsupportedTools
from tidegate.core.header_names import may_be_secret
from tidegate.core.price import Price
from tidegate.core.protocol import Protocol
from tidegate.core.query_secrets import query_secrets
from tidegate.core.secret import Secret
from tidegate.routing.names import Lookup, covers, is_pattern, visible


class Duty(Enum):
    """What the operator wants of a channel at present."""

    ACTIVE = "active"
    """It takes requests."""
    PAUSED = "paused"
    """It takes no new request at all; open ones go on."""
    DRAINING = "draining"
    """It takes only requests that can go nowhere else: what they build on is kept by its upstream."""


class UpstreamStream(Enum):
    """Whether a whole answer may be fetched from the channel as a stream."""

    AUTO = "auto"
    NEVER = "never"


class Headers(dict[str, str]):
    """Headers of the operator's; only their names are shown, since a value may be a credential."""

    def __repr__(self) -> str:
        return f"Headers({', '.join(self)})"

    __str__ = __repr__


class Channel(Struct, frozen=True, kw_only=True):
    """One upstream account. Durations are seconds; zero switches a limit off.

    An empty `api_key` means that the upstream asks for no credential.
    """

    name: str
    protocol: Protocol
    base_url: str
    api_key: Secret
    models: dict[str, str]
    """Public name or pattern ending in "*" -> upstream name; a pattern's caller name goes up whole."""
    priority: int = 0
    weight: int = 1
    connect_timeout: float = 10.0
    ca_file: str | None = None
    headers: dict[str, str] = Headers()
    forward_headers: tuple[str, ...] = ()
    group: str = ""
    """Channels that share an upstream account; the config fills in the name where none is set."""
    capabilities: Capabilities = Capabilities()
    unsupported_tools: UnsupportedTools = UnsupportedTools.DROP
    upstream_stream: UpstreamStream = UpstreamStream.AUTO
    price: Price | None = None
    """The channel's own cost."""
    duty: Duty = Duty.ACTIVE
    """Not a setting: what is in force of it is kept beside the catalog."""

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """What of the channel nobody may be shown: its credential, and what may be one elsewhere."""
        values = (
            *(value.rpartition(" ")[2] for name, value in self.headers.items() if may_be_secret(name, value)),
            *query_secrets(self.base_url),
        )
        return tuple(secret for secret in (self.api_key, *map(Secret, values)) if secret)


class Model(Struct, frozen=True, kw_only=True):
    """What is set for a public model name or pattern. Durations are seconds; zero switches a limit off."""

    name: str
    """The configured name or pattern, not the caller's: fit for a metric's label."""
    first_event_timeout: float
    idle_timeout: float
    max_output_tokens: int | None = None
    price: Price | None = None
    capabilities: Capabilities = Capabilities()


class Key(Struct, frozen=True, kw_only=True):
    """A caller's credential, known only by its hash; `models` None means all, a limit None means none."""

    name: str
    account: str
    models: tuple[str, ...] | None = None
    conversion: Conversion = Conversion.LENIENT
    unsupported_tools: UnsupportedTools = UnsupportedTools.DROP
    max_concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    budget_per_day: int | None = None
    """nano-USD in a UTC day."""
    budget_per_month: int | None = None
    capture: float = 0.0
    """The share of its requests whose content is kept, from 0 to 1."""


class Account(Struct, frozen=True, kw_only=True):
    """Who pays. A prepaid account spends only what it has; limits and budgets (nano-USD) as of a key."""

    name: str
    prepaid: bool = False
    max_concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    budget_per_day: int | None = None
    budget_per_month: int | None = None


class Candidate(Struct, frozen=True):
    """A channel that can serve a model, with the name that the upstream knows it by."""

    channel: Channel
    upstream_model: str


def digest(secret: str) -> bytes:
    """The SHA-256 that a key is kept and looked up by."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Catalog:
    """Every lookup a request needs, built once; nothing in it changes or grows.

    `keys` are by `digest` of their secret. The two timeouts hold for models that `models` does not list.
    """

    __slots__ = (
        "_accounts",
        "_by_name",
        "_keys",
        "_models",
        "_named",
        "_offers",
        "_public",
        "channels",
        "groups",
        "unknown",
    )

    def __init__(
        self,
        channels: Iterable[Channel],
        models: Iterable[Model] = (),
        keys: Mapping[bytes, Key] | None = None,
        accounts: Iterable[Account] = (),
        *,
        first_event_timeout: float = 120.0,
        idle_timeout: float = 360.0,
    ) -> None:
        listed = {model.name: model for model in models}
        self.channels = tuple(channels)
        self.groups = frozenset(channel.group or channel.name for channel in self.channels)
        self.unknown = Model(name="*", first_event_timeout=first_event_timeout, idle_timeout=idle_timeout)
        self._by_name = {channel.name: channel for channel in self.channels}
        self._keys = dict(keys or {})
        self._accounts = {account.name: account for account in accounts}
        self._models = Lookup(listed)
        self._offers = {protocol: Lookup(_offers(self.channels, protocol)) for protocol in Protocol}
        offered = {name for channel in self.channels for name in channel.models}
        self._named = Lookup({name: _named(self.unknown, name) for name in offered})
        self._public = _public(offered, listed)

    def find_key(self, secret: str) -> Key | None:
        """The key with this secret. Looked up by hash, so time tells nothing about the stored ones."""
        return self._keys.get(digest(secret))

    def key_named(self, name: str) -> Key | None:
        """The key of this name. All are looked through: that is for operators, not for each request."""
        return next((key for key in self._keys.values() if key.name == name), None)

    def account(self, name: str) -> Account:
        """Who pays; an account that is nowhere listed is unlimited."""
        return self._accounts.get(name) or Account(name=name)

    def allows(self, key: Key, model: str) -> bool:
        """Whether the key may use the public name `model`."""
        return key.models is None or any(covers(name, model) for name in key.models)

    def model(self, name: str) -> Model:
        """What is set for `name`: exactly, else by the longest pattern, else the defaults.

        With the defaults `Model.name` is the channels' name or pattern, and "*" where nobody serves `name`.
        """
        return self._models.first(name) or self._named.first(name) or self.unknown

    def candidates(self, model: str, protocol: Protocol) -> tuple[Candidate, ...]:
        """The channels of `protocol` that serve `model`; each once, by its most specific name."""
        found: dict[str, Candidate] = {}
        for offers in self._offers[protocol].all(model):
            for channel, upstream_model in offers:
                found.setdefault(channel.name, Candidate(channel, upstream_model or model))
        return tuple(found.values())

    def all_candidates(self, model: str) -> tuple[Candidate, ...]:
        """The channels that serve `model`, whatever they speak."""
        return tuple(found for protocol in Protocol for found in self.candidates(model, protocol))

    def known(self, model: str) -> bool:
        """Whether any channel serves `model`."""
        return self._named.first(model) is not None

    def public_models(self, key: Key) -> tuple[str, ...]:
        """Sorted names that the key may use; what only a pattern stands for is shown as that pattern."""
        return visible(self._public, key.models)

    def channel(self, name: str) -> Channel | None:
        """The channel of this name."""
        return self._by_name.get(name)

    def serves(self, channel: str, upstream_model: str) -> bool:
        """Whether the named channel can ask its upstream for this model."""
        return self.offered_as(channel, upstream_model) is not None

    def offered_as(self, channel: str, upstream_model: str) -> str | None:
        """The name or pattern by which a channel lists a model of its upstream; None: it does not."""
        found = self._by_name.get(channel)
        patterns: list[str] = []
        for public, upstream in () if found is None else found.models.items():
            if not is_pattern(public):
                if upstream == upstream_model:
                    return upstream
            elif covers(public, upstream_model):
                patterns.append(public)
        return max(patterns, key=len, default=None)


def _offers(
    channels: Iterable[Channel], protocol: Protocol
) -> dict[str, tuple[tuple[Channel, str | None], ...]]:
    """Public name or pattern -> channels with the upstream's name; None stands for the caller's own."""
    offers: dict[str, tuple[tuple[Channel, str | None], ...]] = {}
    for channel in channels:
        if channel.protocol is protocol:
            for public, upstream in channel.models.items():
                offer = (channel, None if is_pattern(public) else upstream)
                offers[public] = (*offers.get(public, ()), offer)
    return offers


def _named(unknown: Model, name: str) -> Model:
    return Model(
        name=name, first_event_timeout=unknown.first_event_timeout, idle_timeout=unknown.idle_timeout
    )


def _public(offered: Iterable[str], listed: Iterable[str]) -> tuple[str, ...]:
    """What channels offer, and names of the operator's list that only their patterns cover."""
    names = tuple(offered)
    own = (name for name in listed if not is_pattern(name) and any(covers(offer, name) for offer in names))
    return (*names, *own)
