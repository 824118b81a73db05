"""Reads the deployments of a LiteLLM `model_list`."""

import re
from collections.abc import Iterator
from decimal import Decimal

from msgspec import Struct

from tidegate.core.header_names import FRAMING, may_be_secret
from tidegate.core.protocol import Protocol
from tidegate.importing import reasons
from tidegate.importing.addresses import Address, address_of
from tidegate.importing.members import Members
from tidegate.importing.notes import ENVIRON, Notes
from tidegate.importing.prices import Pricing, pricing
from tidegate.importing.providers import AZURE, ELSEWHERE, PROVIDERS, Provider
from tidegate.importing.yaml_text import Value

_OF_THE_CONNECTION = FRAMING | {"content-type"}
_LAST_ORDER = 900
_AZURE_FAMILIES = ("o_series/", "gpt5_series/")
"""What LiteLLM has before the name of an Azure deployment to tell the model's family."""
_OF_OPENAI = re.compile(r"(gpt|chatgpt|codex|computer-use|ft:|o\d|omni|text-|dall-e|tts|whisper|sora)")
"""How names begin that need no provider before them."""
_HARMLESS = frozenset(
    {"anthropic-beta", "anthropic-version", "openai-beta", "http-referer", "x-title", "user-agent"}
)


class Deployment(Struct, frozen=True, kw_only=True):
    """One model on one upstream. Times are seconds; `weight` is as told, None where it is not."""

    path: str
    public: str
    upstream: str
    address: Address
    headers: tuple[tuple[str, str], ...]
    order: int | None
    """Lower first; those without one come after all that have one."""
    priority: int = 0
    weights: tuple[Decimal | None, ...]
    """weight, rpm and tpm: LiteLLM picks by the first that any deployment of a model has."""
    first_event_timeout: Decimal | None
    idle_timeout: Decimal | None
    max_output_tokens: int | None
    pricing: Pricing | None


def read_deployments(top: Members, notes: Notes) -> list[Deployment]:
    """All that can be a channel; of the others the notes tell why not."""
    credentials = dict(_credentials(top, notes))
    found = []
    for path, value in top.items("model_list"):
        entry = Members(value, path, notes)
        deployment = _deployment(entry, credentials, notes)
        entry.close({})
        if deployment is not None:
            found.append(deployment)
    return found


def _credentials(top: Members, notes: Notes) -> Iterator[tuple[str, dict[str, Value]]]:
    """Credentials that deployments name, by their names."""
    for path, value in top.items("credential_list"):
        entry = Members(value, path, notes)
        name, values = entry.text("credential_name"), entry.take("credential_values")
        entry.take("credential_info")
        if name is None or not isinstance(values, dict):
            notes.leave(path, "should have credential_name and credential_values")
        else:
            yield name, values
        entry.close({})


def _deployment(entry: Members, credentials: dict[str, dict[str, Value]], notes: Notes) -> Deployment | None:
    public, told, info = entry.text("model_name"), entry.take("litellm_params"), entry.inner("model_info")
    if public is None or not isinstance(told, dict):
        notes.leave(entry.path, "should have model_name and litellm_params")
        info.close(reasons.MODEL_INFO)
        return None
    named = told.get("litellm_credential_name")
    if isinstance(named, str) and named in credentials:
        told = {**credentials[named], **told}
        told.pop("litellm_credential_name")
    params = Members(told, entry.at("litellm_params"), notes)
    deployment = _read(entry.path, public, params, info, notes)
    if deployment is None:  # one reason is enough
        return None
    params.close(reasons.DEPLOYMENT)
    info.close(reasons.MODEL_INFO)
    return deployment


def _read(path: str, public: str, params: Members, info: Members, notes: Notes) -> Deployment | None:
    asked = _asked(params, notes)
    mode = info.text("mode") or params.text("mode") or "chat"
    if asked is None:
        return None
    provider, upstream = asked
    if mode not in ("chat", "responses"):
        notes.leave(path, f"is for {_word(mode)}: only the three generating protocols are served")
        return None
    pattern = _pattern(public, upstream)
    if isinstance(pattern, str):
        notes.leave(path, pattern)
        return None
    speaks_responses = mode == "responses" or upstream.startswith("responses/")
    protocol = (
        Protocol.RESPONSES if speaks_responses and provider.protocol is Protocol.CHAT else provider.protocol
    )
    upstream = _bare(upstream, provider)
    address = address_of(provider, protocol, upstream, params, notes)
    if address is None:
        return None
    stream, whole = params.number("stream_timeout"), params.number("timeout")
    if whole:
        notes.change(params.at("timeout"), reasons.SILENCE)
    return Deployment(
        path=path,
        public=public,
        upstream="*" if public.endswith("*") else upstream,
        address=address,
        headers=(*address.headers, *_headers(params, notes)),
        order=_order(params, info),
        weights=_weights(params, notes),
        first_event_timeout=stream or whole,
        idle_timeout=whole,
        max_output_tokens=_limit(params, info, protocol, notes),
        pricing=pricing((params, info), notes),
    )


def _bare(upstream: str, provider: Provider) -> str:
    """The upstream's name without what LiteLLM writes before it to tell the route or the family."""
    for prefix in ("responses/", *(_AZURE_FAMILIES if provider is AZURE else ())):
        upstream = upstream.removeprefix(prefix)
    return upstream


def _asked(params: Members, notes: Notes) -> tuple[Provider, str] | None:
    """The provider and its own name of the model."""
    model, told = params.text("model"), params.text("custom_llm_provider")
    if model is None:
        notes.leave(params.at("model"), "is missing")
        return None
    if model == "*" and told is None:
        notes.leave(params.path, "stands for every model of every provider: list those that you use")
        return None
    if model.startswith(ENVIRON):
        notes.leave(
            params.at("model"), "is read from the environment, which no model is here: write its name"
        )
        return None
    name, upstream = _provider_and_name(model, told, addressed="api_base" in params or "base_url" in params)
    if name is None:
        notes.leave(params.at("model"), "names no provider, and is none of OpenAI's: write it before a slash")
        return None
    provider = PROVIDERS.get(name)
    if provider is None:
        why = ELSEWHERE.get(name, "is not known here: use openai/ with api_base")
        notes.leave(params.path, f"the provider {_word(name)} {why}")
        return None
    return provider, upstream


def _provider_and_name(model: str, told: str | None, *, addressed: bool) -> tuple[str | None, str]:
    """`addressed`: it is told where the model is, which without a provider is one that speaks like OpenAI."""
    first, slash, rest = model.partition("/")
    if told is not None:
        return told, rest if first == told else model
    if slash:
        return first, rest
    if model.startswith("claude"):
        return "anthropic", model
    return "openai" if addressed or _OF_OPENAI.match(model) else None, model


def _pattern(public: str, upstream: str) -> str | None:
    """Why a pattern cannot be carried; None where it can, or where there is none."""
    if "*" not in public and "*" not in upstream:
        return None
    if "*" in public[:-1] or "*" in upstream[:-1]:
        return 'a "*" stands elsewhere than at the end of the name'
    if public != upstream:
        return (
            "a pattern passes the caller's whole name on, and the upstream has another: list the models,"
            " or use one pattern for both"
        )
    return None


def _headers(params: Members, notes: Notes) -> Iterator[tuple[str, str]]:
    """Headers of the operator's; a value that may be a credential is read from the environment."""
    organization = params.take("organization")
    if isinstance(organization, str) and organization:
        yield "openai-organization", _public(organization)
    elif organization is not None:
        notes.leave(params.at("organization"), "make a channel for each organization")
    for member in ("extra_headers", "headers", "default_headers"):
        inner = params.inner(member)
        for name in inner.names():
            value = inner.text(name)
            if value is None:
                continue
            if name.lower() in _OF_THE_CONNECTION or not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name):
                notes.leave(inner.at(name), "is a header that the gateway sets itself, or none at all")
            elif value.startswith(ENVIRON) or (name.lower() not in _HARMLESS and may_be_secret(name, value)):
                yield name.lower(), notes.secret(value, inner.at(name), ("header", name))
            else:
                yield name.lower(), value


def _public(value: str) -> str:
    return f"env:{value.removeprefix(ENVIRON)}" if value.startswith(ENVIRON) else value


def _order(params: Members, info: Members) -> int | None:
    told, known = params.number("order"), info.number("order")
    order = known if told is None else told
    return None if order is None else min(int(order), _LAST_ORDER)


def _weights(params: Members, notes: Notes) -> tuple[Decimal | None, ...]:
    for name in ("rpm", "tpm"):
        if name in params:
            notes.change(params.at(name), "is a weight here and no limit: limits belong to keys and accounts")
    return tuple(params.number(name) for name in ("weight", "rpm", "tpm"))


def _limit(params: Members, info: Members, protocol: Protocol, notes: Notes) -> int | None:
    told, known = params.number("max_tokens"), info.number("max_output_tokens")
    if protocol is Protocol.MESSAGES:
        limit = told or known
        return int(limit) if limit and limit >= 1 else None
    if told is not None:
        notes.leave(params.at("max_tokens"), "the gateway adds no limit where the protocol demands none")
    return None


def _word(text: str) -> str:
    """A word of the source that is no secret, shortened."""
    return repr(text[:40])
