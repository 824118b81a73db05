"""The list of models in the shapes of OpenAI and of Anthropic."""

from collections.abc import Sequence
from datetime import UTC, datetime

from msgspec import json


def openai_model(name: str, created: int) -> dict[str, object]:
    """One model, OpenAI's shape (`GET /v1/models/{name}`); `created` in Unix seconds."""
    return {"id": name, "object": "model", "created": created, "owned_by": "tidegate"}


def anthropic_model(name: str, created: int) -> dict[str, object]:
    """One model, Anthropic's shape."""
    at = datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "model", "id": name, "display_name": name, "created_at": at, "lifecycle": "active"}


def openai_list(names: Sequence[str], created: int) -> bytes:
    """`GET /v1/models` for OpenAI's clients."""
    return json.encode({"object": "list", "data": [openai_model(name, created) for name in names]})


def anthropic_list(names: Sequence[str], created: int) -> bytes:
    """`GET /v1/models` for Anthropic's clients: one page."""
    return json.encode(
        {
            "data": [anthropic_model(name, created) for name in names],
            "has_more": False,
            "first_id": names[0] if names else None,
            "last_id": names[-1] if names else None,
        }
    )
