"""Finds out where a deployment is reached, and with what credential."""

import re
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.importing.members import Members
from tidegate.importing.notes import ENVIRON, Notes
from tidegate.importing.providers import ANTHROPIC, AZURE, Provider

_NO_KEYS = frozenset({"", "none", "null", "empty", "dummy", "no-key", "not-needed", "na", "n/a"})
_AZURE_PATH = re.compile(r"/openai(?:/(?:v1|responses|deployments(?:/(?P<deployment>[^/]+))?)(?:/.*)?)?/*")
"""What Azure's own paths begin with, at the end of an address that may have a path before it."""


class Address(Struct, frozen=True, kw_only=True):
    """Where a channel is; `api_key` and header values are settings that name a variable, or empty."""

    provider: str
    protocol: Protocol
    base_url: str
    api_key: str
    headers: tuple[tuple[str, str], ...] = ()


def address_of(
    provider: Provider, protocol: Protocol, upstream: str, params: Members, notes: Notes
) -> Address | None:
    """None where it cannot be found out, which is then noted."""
    version = params.text("api_version")
    told = (params.text("api_base") or params.text("base_url") or "").strip() or None
    params.take("api_type")
    if provider is AZURE:
        return _azure(protocol, upstream, told, version, params, notes)
    if version is not None:
        notes.leave(params.at("api_version"), "is known of Azure only")
    base_url = _base_url(provider, told, params, notes)
    if base_url is None:
        return None
    key = _key(provider, params, notes, implied=told is None)
    return Address(provider=provider.name, protocol=protocol, base_url=base_url, api_key=key)


def _base_url(provider: Provider, told: str | None, params: Members, notes: Notes) -> str | None:
    if told is None:
        if provider.base_url is None:
            notes.leave(params.path, "api_base is missing, so it is not known where the model is")
        return provider.base_url
    if told.startswith(ENVIRON):
        what = f"as before ({params.at('api_base')})"
        if provider.suffix:
            what += f", with {provider.suffix} at its end"
        elif provider is ANTHROPIC:
            what += ", without /v1 at its end"
        return notes.variable(told.removeprefix(ENVIRON), what)
    base = _checked(told, params, notes)
    if base is None:
        return None
    if provider is ANTHROPIC:
        return base.removesuffix("/messages").removesuffix("/v1")
    base = base.removesuffix("/chat/completions")
    return base if not provider.suffix or base.endswith(provider.suffix) else base + provider.suffix


def _azure(
    protocol: Protocol, upstream: str, told: str | None, version: str | None, params: Members, notes: Notes
) -> Address | None:
    """A deployment has a URL of its own, with the version as a query; the key is in a header."""
    key = params.text("api_key") or f"{ENVIRON}{AZURE.key}"
    headers = (("api-key", notes.secret(key, params.at("api_key"), ("azure", upstream, "key"))),)
    told = told or f"{ENVIRON}AZURE_API_BASE"
    base, deployment = told, upstream
    if not told.startswith(ENVIRON):
        whole = _azure_parts(told)
        checked = _checked(whole[0], params, notes)
        if checked is None:
            return None
        base, deployment, version = checked, whole[1] or upstream, version or whole[2]
    path, query = f"/openai/deployments/{quote(deployment, safe='')}", ""
    if version is None or version.startswith(ENVIRON) or protocol is Protocol.RESPONSES:
        path = "/openai/v1"
        notes.change(params.path, "is called at Azure's /openai/v1, which needs no api_version")
    else:
        query = f"?api-version={quote(version, safe='')}"
    place = f"{base}{path}{query}"
    if base.startswith(ENVIRON):
        name = base.removeprefix(ENVIRON)
        place = notes.derived(
            f"{told} {path}{query}", (name, upstream), f"{name} with {path}{query} at its end"
        )
    return Address(provider="azure", protocol=protocol, base_url=place, api_key="", headers=headers)


def _azure_parts(told: str) -> tuple[str, str | None, str | None]:
    """An address without Azure's own path, and the deployment and the version that it names."""
    try:
        parts = urlsplit(told)
    except ValueError:
        return told, None, None
    query = dict(parse_qsl(parts.query))
    version = query.pop("api-version", None)
    before, openai, _ = parts.path.partition("/openai")
    own = _AZURE_PATH.fullmatch(parts.path, len(before)) if openai else None
    kept = parts._replace(path=before if own else parts.path, query="" if not query else parts.query)
    named = own["deployment"] if own else None
    return kept.geturl(), named and unquote(named), version


def _key(provider: Provider, params: Members, notes: Notes, *, implied: bool) -> str:
    """`implied`: where no key is told the provider's usual variable is read."""
    told = params.text("api_key")
    if told is None:
        if provider.key is None:
            return ""
        if not implied:
            notes.change(
                params.at("api_key"), f"is not told, so none is sent; LiteLLM would send {provider.key}"
            )
            return ""
        return notes.variable(provider.key, f"the key of {provider.name}, which LiteLLM reads by itself")
    if told.lower() in _NO_KEYS:
        return ""
    return notes.secret(told, params.at("api_key"), (provider.name, "key"))


def _checked(told: str, params: Members, notes: Notes) -> str | None:
    """A URL without user, password, query and closing slash."""
    try:
        parts = urlsplit(told)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good, parts = False, urlsplit("")
    if not good or "@" in parts.netloc or parts.query or parts.fragment:
        notes.leave(params.at("api_base"), "is no plain http:// or https:// address")
        return None
    return told.rstrip("/")
