"""Encrypts the credentials of channels for their place in the database."""

import os
from collections.abc import Mapping

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tidegate.core.secret import Secret

_PURPOSE = b"tidegate stored credential 1"
_FORMAT = b"\x01"
_NONCE_BYTES = 12


class Unsealable(Exception):
    """It was sealed with another secret, for another channel, or it is damaged."""


class Credentials(msgspec.Struct, frozen=True):
    """What of a channel nobody may be shown."""

    api_key: str
    headers: dict[str, str]

    def __repr__(self) -> str:
        return "Credentials(…)"

    __str__ = __repr__


NO_CREDENTIALS = Credentials("", {})


class Vault:
    """Seals and opens with a key derived from the gateway's own secret."""

    def __init__(self, secret: Secret) -> None:
        material = secret.reveal().encode("utf-8", "surrogateescape")
        self._cipher = AESGCM(HKDF(SHA256(), length=32, salt=None, info=_PURPOSE).derive(material))

    def seal(self, channel: str, credentials: Credentials) -> bytes:
        """The credentials so that they open for this channel only; they look different each time."""
        nonce = os.urandom(_NONCE_BYTES)
        text = msgspec.json.encode(credentials)
        return _FORMAT + nonce + self._cipher.encrypt(nonce, text, channel.encode())

    def open(self, channel: str, sealed: bytes) -> Credentials:
        """What was sealed for this channel. Raises Unsealable."""
        nonce, text = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        if sealed[:1] != _FORMAT:
            raise Unsealable("is of another version")
        try:
            opened = self._cipher.decrypt(nonce, text, channel.encode())
        except (InvalidTag, ValueError) as error:
            raise Unsealable("cannot be opened") from error
        return msgspec.json.decode(opened, type=Credentials)


def mapping_of(credentials: Credentials) -> Mapping[str, object]:
    """The settings of a channel that are sealed."""
    settings: dict[str, object] = {}
    if credentials.api_key:
        settings["api_key"] = credentials.api_key
    if credentials.headers:
        settings["headers"] = dict(credentials.headers)
    return settings
