"""Finds out where a deployment is reached, and with what credential."""

from urllib.parse import quote, urlsplit

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.importing.members import Members
from tidegate.importing.notes import ENVIRON, Notes
from tidegate.importing.providers import ANTHROPIC, AZURE, Provider

_NO_KEYS = frozenset({"", "none", "null", "empty", "dummy", "no-key", "not-needed", "na", "n/a"})


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
    told = params.text("api_base") or params.text("base_url")
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
    if told is None:
        told = f"{ENVIRON}AZURE_API_BASE"
    path = f"/openai/deployments/{quote(upstream, safe='')}"
    query = "" if version is None else f"?api-version={quote(version, safe='')}"
    if version is None or version.startswith(ENVIRON) or protocol is Protocol.RESPONSES:
        path, query = "/openai/v1", ""
        notes.change(params.path, "is called at Azure's /openai/v1, which needs no api_version")
    if told.startswith(ENVIRON):
        name = told.removeprefix(ENVIRON)
        holds = f"{name} with {path}{query} at its end"
        place = notes.derived(f"{told} {path}{query}", (name, upstream), holds)
        return Address(provider="azure", protocol=protocol, base_url=place, api_key="", headers=headers)
    base = _checked(told, params, notes)
    if base is None:
        return None
    base = base.partition("/openai")[0]
    return Address(
        provider="azure", protocol=protocol, base_url=f"{base}{path}{query}", api_key="", headers=headers
    )


def _key(provider: Provider, params: Members, notes: Notes, *, implied: bool) -> str:
    """`implied`: where no key is told the provider's usual variable is read."""
    told = params.text("api_key")
    if told is None:
        if provider.key is None or not implied:
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
