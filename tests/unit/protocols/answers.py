"""Recorded answers, and the official SDKs as judges of what is made of them."""

import json
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai

from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked

FIXTURES = Path(__file__).parents[2] / "fixtures"


def asked(protocol: Protocol, *, model: str = "public", choices: int = 1, stores: bool = False) -> Asked:
    return Asked(
        protocol=protocol,
        body=b"{}",
        members={},
        model=model,
        choices=choices,
        wants_usage=True,
        stores=stores,
    )


def names(protocol: str, suffix: str = "json") -> list[str]:
    return sorted(path.parent.name for path in (FIXTURES / "answers").glob(f"*/{protocol}.{suffix}"))


def whole(protocol: str, name: str) -> bytes:
    return (FIXTURES / "answers" / name / f"{protocol}.json").read_bytes()


def stream(protocol: str, name: str) -> bytes:
    return (FIXTURES / "answers" / name / f"{protocol}.sse").read_bytes()


def odd(name: str) -> bytes:
    return (FIXTURES / "odd-streams" / f"{name}.sse").read_bytes()


def told(value: object) -> Any:
    """The value without nulls and empty lists: what it says."""
    if isinstance(value, dict):
        inner = {name: told(member) for name, member in value.items()}
        return {name: member for name, member in inner.items() if member is not None and member != []}
    return [told(each) for each in value] if isinstance(value, list) else value


def said(body: bytes) -> Any:
    return told(json.loads(body))


def transport(body: bytes, status: int = 200, kind: str = "text/event-stream") -> httpx2.Client:
    return httpx2.Client(
        transport=httpx2.MockTransport(
            lambda _: httpx2.Response(status, headers={"content-type": kind}, content=body)
        )
    )


def openai_client(body: bytes, status: int = 200, kind: str = "text/event-stream") -> openai.OpenAI:
    return openai.OpenAI(
        api_key="k", base_url="http://x/v1", max_retries=0, http_client=transport(body, status, kind)
    )


def anthropic_client(body: bytes, status: int = 200, kind: str = "text/event-stream") -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key="k", base_url="http://x", max_retries=0, http_client=transport(body, status, kind)
    )


def chat_final(body: bytes) -> Any:
    with openai_client(body).chat.completions.stream(
        model="m", messages=[{"role": "user", "content": "x"}]
    ) as events:
        for _ in events:
            pass
        return events.current_completion_snapshot.to_dict(mode="json")


def responses_final(body: bytes) -> Any:
    with openai_client(body).responses.stream(model="m", input="x") as events:
        last = None
        for event in events:
            last = event
        assert last is not None
        return json.loads(last.to_json(warnings=False))["response"]


def messages_final(body: bytes) -> Any:
    with anthropic_client(body).messages.stream(
        model="m", messages=[{"role": "user", "content": "x"}], max_tokens=9
    ) as events:
        return events.get_final_message().to_dict(mode="json")
