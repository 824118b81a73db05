"""Which answer the simulated provider has for one HTTP request."""

from collections import OrderedDict
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.core.secret import Secret
from tidegate.simulator import chat_request, messages, messages_request, responses_request
from tidegate.simulator.ask import Json, invalid
from tidegate.simulator.compression import Unreadable, unpacked
from tidegate.simulator.parameters import BadParameter, parse, spared
from tidegate.simulator.plot import plot
from tidegate.simulator.script import Steps
from tidegate.simulator.staging import document, refused, staged
from tidegate.simulator.trouble import Kind, Trouble, trouble_of

MAX_BODY = 64 * 1024 * 1024
MODELS = ("sim", "sim;rate=20", "sim;reasoning=40;rate=20", "sim;ttft=2s;words=200;rate=50")
"""The names that the model list shows; any other name is served as well."""
_COUNTED_MODELS = 10_000
_CREATED = 1_767_225_600
_POSTED = {
    "/v1/chat/completions": Protocol.CHAT,
    "/v1/responses": Protocol.RESPONSES,
    "/v1/messages": Protocol.MESSAGES,
    "/v1/messages/count_tokens": Protocol.MESSAGES,
}
_READ = {
    Protocol.CHAT: chat_request.read,
    Protocol.RESPONSES: responses_request.read,
    Protocol.MESSAGES: messages_request.read,
}


class Received(Struct, frozen=True):
    """A request as it came. `path` is without the query; header names are in lower case."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        return next((value for key, value in self.headers if key == name), None)

    def json(self) -> Any:
        """The body's JSON value, decompressed. Raises Unreadable or msgspec.DecodeError."""
        return msgspec.json.decode(unpacked(self.body, self.header("content-encoding") or "", MAX_BODY))

    def __repr__(self) -> str:
        # The headers hold credentials.
        return f"Received({self.method} {self.path}, {len(self.body)} bytes)"


class Tally(Struct):
    """How many requests came, how many streams are open, and how many answers the client left early."""

    requests: int = 0
    open_streams: int = 0
    abandoned: int = 0


class Provider:
    """Answers requests; keeps no more than counters between them."""

    def __init__(self, tally: Tally, require_key: Secret | None = None) -> None:
        self._tally = tally
        self._require_key = require_key
        self._seen: OrderedDict[str, int] = OrderedDict()

    def answer(self, received: Received) -> Steps:
        """The steps of the answer; the last is a Cut or a Close, unless it stalls for ever."""
        self._tally.requests += 1
        request_id = f"req_sim{self._tally.requests}"
        reply = self._routed(received, request_id)
        if isinstance(reply, Trouble):
            return refused(_protocol_of(received), reply, request_id)
        return reply

    def _routed(self, received: Received, request_id: str) -> Steps | Trouble:
        path = received.path.rstrip("/") or "/"
        if path in _POSTED:
            return self._posted(received, path, request_id)
        if path in ("/", "/sim/state"):
            value = msgspec.to_builtins(self._tally) if path != "/" else {"simulated": "provider"}
            return _shown(received, request_id, value)
        if path != "/v1/models" and not path.startswith("/v1/models/"):
            return Trouble(Kind.NOT_FOUND, 404, f"No such route: {received.path}")
        if not self._admits(received):
            return trouble_of(_protocol_of(received), kind=Kind.AUTH, status=None)
        return _shown(
            received, request_id, _models(received, unquote(path.removeprefix("/v1/models").strip("/")))
        )

    def _posted(self, received: Received, path: str, request_id: str) -> Steps | Trouble:
        protocol = _POSTED[path]
        if received.method != "POST":
            return _not_allowed(received, request_id, "POST")
        if not self._admits(received):
            return trouble_of(protocol, kind=Kind.AUTH, status=None)
        body = _body(received)
        if isinstance(body, Trouble):
            return body
        parameters = parse(body["model"])
        if isinstance(parameters, BadParameter):
            return invalid(parameters.why, "model", "invalid_simulator_parameter")
        parameters = spared(parameters, self._nth(body["model"]))
        if path.endswith("/count_tokens"):
            counted = messages_request.read_for_count(body, received.body)
            if isinstance(counted, Trouble) or parameters.status is not None:
                return counted if isinstance(counted, Trouble) else staged(counted, parameters, request_id)
            return document(messages.count(plot(counted, parameters).tokens.prompt), request_id)
        salt = str(self._tally.requests) if parameters.unique_ids else ""
        ask = _READ[protocol](body, received.body, salt)
        return ask if isinstance(ask, Trouble) else staged(ask, parameters, request_id)

    def _admits(self, received: Received) -> bool:
        if self._require_key is None:
            return True
        bearer = (received.header("authorization") or "").removeprefix("Bearer ").strip()
        return self._require_key in (Secret(bearer), Secret(received.header("x-api-key") or ""))

    def _nth(self, model: str) -> int:
        nth = self._seen.pop(model, 0)
        self._seen[model] = nth + 1
        if len(self._seen) > _COUNTED_MODELS:
            self._seen.popitem(last=False)
        return nth


def _protocol_of(received: Received) -> Protocol:
    """Whose error form an answer takes; on shared routes the version header tells."""
    if received.path.startswith("/v1/messages") or received.header("anthropic-version") is not None:
        return Protocol.MESSAGES
    return Protocol.RESPONSES if received.path.startswith("/v1/responses") else Protocol.CHAT


def _body(received: Received) -> Json | Trouble:
    """The request's object, whose `model` is a string."""
    try:
        body = received.json()
    except (Unreadable, msgspec.DecodeError, UnicodeDecodeError) as broken:
        return invalid(f"We could not parse the JSON body of your request: {broken}", None, "invalid_json")
    if not isinstance(body, dict):
        return invalid("The body must be a JSON object.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        return invalid("you must provide a model parameter", "model")
    return body


def _not_allowed(received: Received, request_id: str, allowed: str) -> Steps:
    trouble = Trouble(Kind.INVALID, 405, f"{received.path} takes {allowed}.", None, "method_not_allowed")
    return refused(_protocol_of(received), trouble, request_id, headers=(("allow", allowed),))


def _shown(received: Received, request_id: str, value: object) -> Steps:
    if received.method not in ("GET", "HEAD"):
        return _not_allowed(received, request_id, "GET, HEAD")
    return document(msgspec.json.encode(value), request_id, head_only=received.method == "HEAD")


def _models(received: Received, name: str) -> Json:
    """The list, or the one model that is named, in the form of the caller's family."""
    if _protocol_of(received) is Protocol.MESSAGES:
        if name:
            return _anthropic_model(name)
        models = [_anthropic_model(model) for model in MODELS]
        return {"data": models, "has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}
    if name:
        return _openai_model(name)
    return {"object": "list", "data": [_openai_model(model) for model in MODELS]}


def _anthropic_model(name: str) -> Json:
    return {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}


def _openai_model(name: str) -> Json:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "simulator"}
