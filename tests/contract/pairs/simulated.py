"""A gateway with three channels of the simulated provider, and the official Python SDKs in front of it."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic
import openai
from pydantic import BaseModel
from tests.harness import settings
from tests.harness.dialects import CHAT, MESSAGES, SIDES, Side
from tests.harness.gateway import Gateway, environment, free_port
from tests.harness.heard import Heard, heard

CAPABILITIES: dict[str, Any] = {"chat": {}, "resp": {}, "msgs": {"thinking": "adaptive"}}
PROPERTIES = {"city": {"type": "string"}}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": ["city"], "additionalProperties": False}
HELLO = "Say hello."


class Place(BaseModel):
    """A structured answer."""

    city: str
    people: int


@dataclass(frozen=True)
class Simulated:
    """Where the gateway listens; `{tag}-sim;…` are the models of a protocol's channel."""

    base_url: str
    key: str

    def model(self, channel: Side, parameters: str = "") -> str:
        """The name that makes the simulated provider do this."""
        return f"{channel.tag}-sim" + (f";{parameters}" if parameters else "")


@contextmanager
def simulated(folder: Path) -> Iterator[Simulated]:
    """Runs provider and gateway as processes."""
    port = free_port()
    log_path = folder / "sim.log"
    with log_path.open("wb") as log:
        command = [sys.executable, "-m", "tidegate", "sim", "--port", str(port)]
        sim = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment())
    gateway = Gateway(_config(port, folder), folder)
    try:
        gateway.wait_ready()
        _wait_listening(sim, log_path)
        yield Simulated(f"http://127.0.0.1:{gateway.port}", settings.KEY)
        assert gateway.process.poll() is None, gateway.log[-3000:]
        assert "Traceback" not in gateway.log, gateway.log[-6000:]
    finally:
        gateway.stop()
        sim.terminate()
        sim.wait(60)


def _config(sim_port: int, folder: Path) -> settings.Config:
    config = settings.server(free_port(), str(folder))
    config["routing"]["failures_before_cooldown"] = 1000
    base = f"http://127.0.0.1:{sim_port}"
    config["channels"] = [
        settings.channel(
            f"sim-{side.tag}", side.tag, base, [f"{side.tag}-sim*"], capabilities=CAPABILITIES[side.tag]
        )
        for side in SIDES
    ]
    return config


def _wait_listening(process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 90
    while not re.search(r"listening on http", log.read_text()):
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def tool(side: Side, name: str = "get_weather") -> Any:
    """A function of the caller, as the protocol declares it."""
    if side is MESSAGES:
        return {"name": name, "description": "The weather.", "input_schema": SCHEMA}
    function = {"name": name, "description": "The weather.", "parameters": SCHEMA, "strict": True}
    return {"type": "function", "function": function} if side is CHAT else {"type": "function", **function}


class Caller:
    """The official SDK of one protocol; every answer as what was heard."""

    def __init__(self, side: Side, where: Simulated, *, strict: bool = True) -> None:
        """With `strict`, an answer that the SDK's types do not take is an error."""
        self.side = side
        options: dict[str, Any] = {"api_key": where.key, "max_retries": 0, "timeout": 15}
        options["_strict_response_validation"] = strict
        self.openai = openai.OpenAI(base_url=f"{where.base_url}/v1", **options)
        self.anthropic = anthropic.Anthropic(base_url=where.base_url, **options)

    def close(self) -> None:
        self.openai.close()
        self.anthropic.close()

    def arguments(self, model: str, **asked: Any) -> dict[str, Any]:
        """The SDK call's arguments for what the three protocols share.

        `turns`, `tools` (names), `limit`, `thinks`.
        """
        side = self.side
        turns = asked.get("turns") or [{"role": "user", "content": HELLO}]
        result: dict[str, Any] = {"model": model}
        result["input" if side.name == "responses" else "messages"] = turns
        if asked.get("tools"):
            result["tools"] = [tool(side, name) for name in asked["tools"]]
        limits = {"chat": "max_completion_tokens", "responses": "max_output_tokens", "messages": "max_tokens"}
        limit = asked.get("limit") or (5000 if side is MESSAGES else None)
        if limit:
            result[limits[side.name]] = limit
        if asked.get("thinks"):
            result |= _thinking(side)
        return result

    def streamed(self, model: str, *, place: bool = False, **asked: Any) -> Heard:
        """With the SDK's stream helper; its final object."""
        return heard(self.side, self.final(model, place=place, **asked))

    def final(self, model: str, *, place: bool = False, **asked: Any) -> Any:
        """The stream helper's final object as JSON."""
        arguments = self.arguments(model, **asked)
        match self.side.name:
            case "chat":
                more: dict[str, Any] = {"response_format": Place} if place else {}
                more["stream_options"] = {"include_usage": True}
                helper = self.openai.chat.completions.stream(**arguments, **more)
                with helper as stream:
                    for _ in stream:
                        pass
                    completion = _completion(stream)
                assert not place or isinstance(completion.choices[0].message.parsed, Place)
                return completion.to_dict(warnings=False)
            case "responses":
                more = {"text_format": Place} if place else {}
                with self.openai.responses.stream(**arguments, **more) as events:
                    last: Any = list(events)[-1]
                assert not place or isinstance(last.response.output_parsed, Place)
                return last.response.to_dict(warnings=False)
            case _:
                more = {"output_format": Place} if place else {}
                with self.anthropic.messages.stream(**arguments, **more) as messages:
                    message: Any = messages.get_final_message()
                assert not place or isinstance(message.parsed_output, Place)
                return message.to_dict(warnings=False)

    def whole(self, model: str, *, place: bool = False, **asked: Any) -> Heard:
        """Without a stream."""
        arguments = self.arguments(model, **asked)
        answer: Any
        match self.side.name:
            case "chat" if place:
                answer = self.openai.chat.completions.parse(**arguments, response_format=Place)
                assert isinstance(answer.choices[0].message.parsed, Place)
            case "chat":
                answer = self.openai.chat.completions.create(**arguments)
            case "responses" if place:
                answer = self.openai.responses.parse(**arguments, text_format=Place)
                assert isinstance(answer.output_parsed, Place)
            case "responses":
                answer = self.openai.responses.create(**arguments)
            case _ if place:
                answer = self.anthropic.messages.parse(**arguments, output_format=Place)
                assert isinstance(answer.parsed_output, Place)
            case _:
                answer = self.anthropic.messages.create(**arguments)
        return heard(self.side, answer.to_dict(warnings=False))

    def following(self, final: Any, result: str) -> list[Any]:
        """The next request's turns: what the caller was told, and the result of its call."""
        hello = {"role": "user", "content": HELLO}
        call = heard(self.side, final).calls[0]
        match self.side.name:
            case "chat":
                message = {name: value for name, value in final["choices"][0]["message"].items() if value}
                for each in message["tool_calls"]:
                    each["function"].pop("parsed_arguments", None)
                    each.pop("index", None)
                message.pop("parsed", None)
                return [hello, message, {"role": "tool", "tool_call_id": call.id, "content": result}]
            case "responses":
                items = [
                    {name: value for name, value in item.items() if name != "parsed_arguments"}
                    for item in final["output"]
                ]
                return [hello, *items, {"type": "function_call_output", "call_id": call.id, "output": result}]
            case _:
                turn = {"role": "assistant", "content": final["content"]}
                answer = {"type": "tool_result", "tool_use_id": call.id, "content": result}
                return [hello, turn, {"role": "user", "content": [answer]}]


def _completion(stream: Any) -> Any:
    """The final object; the helper raises it where it may not be parsed."""
    try:
        return stream.get_final_completion()
    except (openai.LengthFinishReasonError, openai.ContentFilterFinishReasonError) as cut:
        return cut.completion


def _thinking(side: Side) -> dict[str, Any]:
    match side.name:
        case "chat":
            return {"reasoning_effort": "high"}
        case "responses":
            return {"reasoning": {"effort": "high", "summary": "auto"}, "store": False} | {
                "include": ["reasoning.encrypted_content"]
            }
        case _:
            return {"thinking": {"type": "enabled", "budget_tokens": 2048}}
