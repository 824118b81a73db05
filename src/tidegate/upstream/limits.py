"""What bounds the upstream adapter."""

from msgspec import Struct


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds of the adapter. Times are seconds, sizes bytes."""

    head_bytes: int = 65_536
    """Of one answer's head, 1xx heads before it included; also of trailers and chunk extensions in a row."""
    header_count: int = 256
    idle_timeout: float = 75.0
    """How long a connection waits for its next request."""
    idle_per_route: int = 512
    idle_total: int = 2_048
    drain_timeout: float = 0.1
    """How long a finished call waits for the end of its body."""
