"""Writes log probabilities so that both OpenAI protocols' clients take them."""

from collections.abc import Iterable

from tidegate.protocols.loose import mapping, mappings

Entry = dict[str, object]


def logprob_entries(told: Iterable[object]) -> list[Entry]:
    """Entries with every member that either protocol's types require; what tells no token is left out.

    Chat lets `bytes` be null and Responses leaves it out of deltas, while the final text must have it.
    """
    entries = ((_entry(mapping(each)), mapping(each)) for each in told)
    return [
        entry | {"top_logprobs": [top for each in mappings(raw.get("top_logprobs")) if (top := _entry(each))]}
        for entry, raw in entries
        if entry
    ]


def _entry(told: Entry) -> Entry:
    token, logprob = told.get("token"), told.get("logprob")
    if not isinstance(token, str) or not isinstance(logprob, int | float):
        return {}
    raw = told.get("bytes")
    return {
        "token": token,
        "logprob": logprob,
        "bytes": raw if isinstance(raw, list) else list(token.encode("utf-8", "replace")),
    }
