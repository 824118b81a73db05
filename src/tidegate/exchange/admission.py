"""Who asks, and may they."""

from collections.abc import Mapping

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.request_body import glimpse
from tidegate.routing.catalog import Candidate, Catalog, Key

NO_KEY = Failure(kind=Kind.CLIENT_AUTH, message="Incorrect API key provided.")


def identify(catalog: Catalog, headers: Mapping[str, str]) -> Key | Failure:
    """The key of `authorization: Bearer` or `x-api-key`, on any route; the first that is known wins."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    for secret in (bearer, headers.get("x-api-key", "").strip()):
        key = catalog.find_key(secret) if secret else None
        if key is not None:
            return key
    return NO_KEY


def admit(catalog: Catalog, key: Key, asked: Asked, *, counts: bool) -> tuple[Candidate, ...] | Failure:
    """The channels that may serve the request: known model first, then the key's right to it.

    A request that only counts tokens (`counts`) needs no channel of its protocol: it can be served here.
    """
    if not catalog.known(asked.model):
        return _unknown(asked, f"The model `{asked.model}` does not exist.", f"model: {asked.model}")
    if not catalog.allows(key, asked.model):
        message = f"This key may not use model {asked.model}."
        return Failure(kind=Kind.PERMISSION, message=message)
    if counts or asked.response_ids or asked.item_ids:  # only there exists what the request needs
        return catalog.candidates(asked.model, asked.protocol)
    return catalog.all_candidates(asked.model)


def claimed(catalog: Catalog, body: bytes) -> tuple[str | None, bool]:
    """Model and stream for the row of a refused body; of a model that nobody serves not even the name."""
    model, stream = glimpse(body)
    return model if model is not None and catalog.known(model) else None, stream


def _unknown(asked: Asked, message: str, messages_form: str) -> Failure:
    text = messages_form if asked.protocol is Protocol.MESSAGES else message
    return Failure(kind=Kind.MODEL_NOT_FOUND, message=text, param="model")
