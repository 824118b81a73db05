"""An immutable snapshot of channels, models and keys, with every lookup that a request needs."""

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret


class Channel(Struct, frozen=True, kw_only=True):
    """One upstream account. Durations are seconds; zero switches a limit off."""

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
    headers: dict[str, str] = {}
    forward_headers: tuple[str, ...] = ()
    group: str = ""


class Model(Struct, frozen=True, kw_only=True):
    """What is set for a public model name or pattern. Durations are seconds; zero switches a limit off."""

    name: str
    first_event_timeout: float
    idle_timeout: float
    max_output_tokens: int | None = None


class Key(Struct, frozen=True, kw_only=True):
    """A caller's credential, known only by its hash; `models` None means all."""

    name: str
    account: str
    models: tuple[str, ...] | None = None


class Candidate(Struct, frozen=True):
    """A channel that can serve a model, with the name that the upstream knows it by."""

    channel: Channel
    upstream_model: str
