"""Whom a TLS connection trusts: the system's roots, plus those a channel names."""

import asyncio
import os
import ssl

from msgspec import Struct

_MAX_CONTEXTS = 64


class Roots(Struct, frozen=True):
    """A file of extra trusted roots as it was at one time (`changed` is in ns), so that a new one is read."""

    path: str
    changed: int


def roots_of(ca_file: str | None) -> Roots | None:
    """The version of a channel's `ca_file` on disk now. Raises OSError if it is not there."""
    return Roots(ca_file, os.stat(ca_file).st_mtime_ns) if ca_file else None


class Trust:
    """Makes TLS contexts, each once. Every one verifies chain and host name: nothing can turn that off."""

    def __init__(self) -> None:
        self._contexts: dict[Roots | None, ssl.SSLContext] = {}

    async def context(self, roots: Roots | None) -> ssl.SSLContext:
        """The context for a route. Raises OSError (also ssl.SSLError) if the file holds no certificates.

        Reading the system's roots takes tens of milliseconds, so it is done off the loop.
        """
        known = self._contexts.get(roots)
        if known is not None:
            return known
        loop = asyncio.get_running_loop()
        made = await loop.run_in_executor(None, _make, roots)
        if len(self._contexts) >= _MAX_CONTEXTS:
            self._contexts.clear()
        self._contexts[roots] = made
        return made


def _make(roots: Roots | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if roots is not None:
        context.load_verify_locations(cafile=roots.path)
    return context
