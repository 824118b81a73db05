"""Seals reasoning of an upstream into an opaque field of the client, to come back (conversion.md §7)."""

import base64
import binascii
from functools import lru_cache
from typing import Any

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol
from tidegate.protocols.conversion import Carried, OpenCarrier, Seal
from tidegate.protocols.passthrough import CARRIER_MARK, CARRIER_PREFIX

MAX_CARRIER = 1 << 20
"""Longest carrier in characters; a longer one counts as foreign."""

MAX_DEPTH = 32
"""Deepest nesting of what a carrier holds."""

_KEY_BYTES = 64
_PURPOSE = b"tidegate reasoning carrier 1\0"
_BOUND = [CARRIER_MARK]
_QUOTED = b'"' + CARRIER_MARK
_LETTERS = {Protocol.MESSAGES: "m", Protocol.RESPONSES: "r", Protocol.CHAT: "c"}
_ORIGINS = {letter: origin for origin, letter in _LETTERS.items()}
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")


class _Payload(msgspec.Struct, frozen=True):
    """Origin, channel group, opaque value."""

    o: str
    k: str
    d: Any


_DECODER = msgspec.json.Decoder(_Payload)


def sealer(secret: bytes, account: str, group: str) -> Seal:
    """Makes carriers for an account out of what the channels of a group said.

    A carrier shows neither which channel answered nor what it said, and nobody else can make one: AES-SIV
    with a key of the account. The same payload always gives the same carrier, so that a history that is
    sent again does not upset an upstream's prompt cache.
    """
    cipher = _cipher(secret, account)

    def seal(opaque: Opaque) -> str:
        """What could not be taken back is left out here already: an empty carrier counts as foreign."""
        if _is_shallow(opaque.value):
            carrier = _sealed(cipher, _Payload(_LETTERS[opaque.origin], group, opaque.value))
            if len(carrier) <= MAX_CARRIER:
                return carrier
        return _sealed(cipher, _Payload("", "", None))

    return seal


def opener(secret: bytes, account: str) -> OpenCarrier:
    """Opens carriers of an account; whatever is not one of them, or holds what it must not, is None."""
    cipher = _cipher(secret, account)

    def open_carrier(carrier: str) -> Carried | None:
        sealed = _sealed_bytes(carrier)
        if sealed is None:
            return None
        try:
            return _carried(_DECODER.decode(cipher.decrypt(sealed, _BOUND)))
        except (InvalidTag, ValueError, RecursionError):
            return None

    return open_carrier


def last_group(body: bytes, open_carrier: OpenCarrier) -> str | None:
    """The channel group that made the last carrier in a request's JSON text; None where it does not open."""
    start = body.rfind(_QUOTED)
    if start < 0:
        return None
    end = body.find(b'"', start + 1)
    carried = open_carrier(body[start + 1 : max(end, 0)].decode("latin-1"))
    return None if carried is None else carried.group


@lru_cache(maxsize=1024)
def _cipher(secret: bytes, account: str) -> AESSIV:
    """Deriving a key costs more than the carriers of most requests."""
    info = _PURPOSE + account.encode("utf-8", "surrogatepass")
    return AESSIV(HKDF(SHA256(), length=_KEY_BYTES, salt=None, info=info).derive(secret))


def _sealed(cipher: AESSIV, payload: _Payload) -> str:
    sealed = cipher.encrypt(msgspec.json.encode(payload), _BOUND)
    return CARRIER_PREFIX + base64.urlsafe_b64encode(sealed).rstrip(b"=").decode("ascii")


def _sealed_bytes(carrier: str) -> bytes | None:
    if not carrier.startswith(CARRIER_PREFIX) or len(carrier) > MAX_CARRIER or not carrier.isascii():
        return None
    text = carrier[len(CARRIER_PREFIX) :].encode("ascii").translate(_TO_STANDARD)
    try:
        return binascii.a2b_base64(text + b"=" * (-len(text) % 4), strict_mode=True)
    except binascii.Error:
        return None


def _carried(payload: _Payload) -> Carried | None:
    origin = _ORIGINS.get(payload.o)
    if origin is None or not _is_shallow(payload.d):
        return None
    return Carried(Opaque(origin, payload.d), payload.k) if _is_reasoning(origin, payload.d) else None


def _is_reasoning(origin: Protocol, value: object) -> bool:
    """Whether the value is what that protocol's reasoning looks like, and nothing else."""
    match origin:
        case Protocol.CHAT:
            return isinstance(value, str)
        case Protocol.RESPONSES:
            return isinstance(value, dict) and value.get("type") == "reasoning"
        case Protocol.MESSAGES:
            return isinstance(value, list) and bool(value) and all(map(_is_thinking, value))


def _is_thinking(block: object) -> bool:
    if not isinstance(block, dict):
        return False
    match block.get("type"):
        case "thinking":
            return isinstance(block.get("thinking"), str) and isinstance(block.get("signature"), str)
        case "redacted_thinking":
            return isinstance(block.get("data"), str)
        case _:  # nothing else may ride in a carrier
            return False


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for each in level for child in _children(each)]
        if not level:
            return True
    return False


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
