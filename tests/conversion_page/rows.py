"""The features of requests that docs/conversion.md tells about, each as the smallest request that has it."""

import base64
from typing import Any

from msgspec import Struct

from tidegate.core.events import Opaque
from tidegate.core.protocol import Protocol

Body = dict[str, Any]
Three = tuple[Body | None, Body | None, Body | None]
"""The same in Chat, Responses and Messages."""
GROUP = "up"
CARRIERS = {
    "tgr1.messages": Opaque(
        Protocol.MESSAGES, [{"type": "thinking", "thinking": "So be it.", "signature": "c2ln"}]
    ),
    "tgr1.responses": Opaque(
        Protocol.RESPONSES,
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"},
    ),
    "tgr1.chat": Opaque(Protocol.CHAT, "So be it."),
}
"""What a probe's `open_carrier` opens."""


class Row(Struct, frozen=True):
    """A feature as each client writes it; None: its protocol has no such thing.

    `beside` is the same request without the feature, if that is more than the smallest one. `able` are
    capabilities that differ from the defaults.
    """

    says: str
    chat: Body | None = None
    responses: Body | None = None
    messages: Body | None = None
    beside: dict[str, Body] = {}
    able: dict[str, Any] = {}

    def body(self, client: Protocol) -> Body | None:
        """The feature in the client's protocol."""
        found: Body | None = getattr(self, client.value)
        return found


def _alike(body: Body) -> Three:
    return body, body, body


def everywhere(says: str, name: str, value: Any, **able: Any) -> Row:
    """The same member in all three."""
    return Row(says, {name: value}, {name: value}, {name: value}, able=able)


def openai(says: str, name: str, value: Any) -> Row:
    """The same member in the two protocols of OpenAI."""
    return Row(says, {name: value}, {name: value})


LIMITS = [
    Row(
        "output limit",
        {"max_completion_tokens": 1000},
        {"max_output_tokens": 1000},
        {"max_tokens": 1000},
    ),
    Row("output limit below 16", {"max_completion_tokens": 8}, {"max_output_tokens": 8}, {"max_tokens": 8}),
    everywhere("temperature up to 1", "temperature", 0.5),
    openai("temperature above 1", "temperature", 1.5),
    everywhere("top_p", "top_p", 0.9),
    Row(
        "top_p beside temperature",
        *_alike({"top_p": 0.9, "temperature": 0.5}),
        beside={client.value: {"temperature": 0.5} for client in Protocol},
    ),
    everywhere("temperature, channel with `sampling = false`", "temperature", 0.5, sampling=False),
    Row("top_k", messages={"top_k": 5}),
    Row("up to four stop strings", {"stop": ["END"]}, messages={"stop_sequences": ["END"]}),
    Row("more than four stop strings", messages={"stop_sequences": list("ABCDE")}),
    Row("several choices (`n`)", {"n": 2}),
    Row("frequency and presence penalty", {"presence_penalty": 0.5}),
    Row("seed", {"seed": 7}),
    Row("logit_bias", {"logit_bias": {"50256": -100}}),
    Row(
        "log probabilities",
        {"logprobs": True, "top_logprobs": 2},
        {"include": ["message.output_text.logprobs"], "top_logprobs": 2},
    ),
    Row("verbosity", {"verbosity": "low"}, {"text": {"verbosity": "low"}}),
    Row(
        "end user (`safety_identifier`, `metadata.user_id`)",
        {"safety_identifier": "u1"},
        {"safety_identifier": "u1"},
        {"metadata": {"user_id": "u1"}},
    ),
    Row("end user longer than 128 characters", messages={"metadata": {"user_id": "u" * 200}}),
    openai("metadata", "metadata", {"team": "search"}),
    openai("store", "store", True),
    openai("service_tier `default`", "service_tier", "default"),
    openai("other service_tier", "service_tier", "flex"),
    Row("service_tier `standard_only`", messages={"service_tier": "standard_only"}),
    Row("speed", messages={"speed": "fast"}),
    Row(
        "cache hints",
        {"prompt_cache_key": "k"},
        {"prompt_cache_key": "k"},
        {"cache_control": {"type": "ephemeral"}},
    ),
    Row(
        "obfuscation",
        {"stream_options": {"include_obfuscation": True}},
        {"stream_options": {"include_obfuscation": True}},
    ),
    openai("moderation", "moderation", {"model": "omni-moderation-latest"}),
    Row("audio output", {"modalities": ["text", "audio"], "audio": {"voice": "a", "format": "wav"}}),
    Row("prediction", {"prediction": {"type": "content", "content": "x"}}),
    Row("previous_response_id", responses={"previous_response_id": "resp_1"}),
    Row("conversation", responses={"conversation": "conv_1"}),
    Row("prompt", responses={"prompt": {"id": "pmpt_1"}}),
    Row("background", responses={"background": True}),
    Row("truncation `auto`", responses={"truncation": "auto"}),
    Row("max_tool_calls", responses={"max_tool_calls": 3}),
    Row(
        "context_management",
        responses={"context_management": [{"type": "compaction"}]},
        messages={"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
    ),
    Row("container", messages={"container": "c1"}),
    Row("mcp_servers", messages={"mcp_servers": [{"type": "url", "url": "https://x", "name": "x"}]}),
    Row("inference_geo", messages={"inference_geo": "eu"}),
    everywhere("a member that nobody knows", "some_new_member", {"a": 1}),
]

_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}


def _schema_row(says: str, **able: Any) -> Row:
    shell = {"name": "answer", "strict": True, "schema": _SCHEMA}
    return Row(
        says,
        {"response_format": {"type": "json_schema", "json_schema": shell}},
        {"text": {"format": {"type": "json_schema", **shell}}},
        {"output_config": {"format": {"type": "json_schema", "schema": _SCHEMA}}},
        able=able,
    )


def _effort_row(says: str, effort: str, **able: Any) -> Row:
    wanted = None if effort in ("none", "minimal") else {"output_config": {"effort": effort}}
    return Row(says, {"reasoning_effort": effort}, {"reasoning": {"effort": effort}}, wanted, able=able)


_FEW = ["low", "medium", "high"]
REASONING = [
    _effort_row("effort, nothing set for the channel", "high"),
    _effort_row(
        'effort, channel with `thinking = "adaptive"` ',
        "high",
        thinking="adaptive",
        efforts=_FEW,
    ),
    _effort_row(
        'effort, channel with `thinking = "budget"` ',
        "high",
        thinking="budget",
        efforts=_FEW,
    ),
    _effort_row("effort above those of the channel", "max", thinking="adaptive", efforts=_FEW),
    _effort_row(
        'effort `none`, channel with `thinking = "adaptive"`',
        "none",
        thinking="adaptive",
        efforts=["none", *_FEW],
    ),
    Row(
        "thinking with a budget, channel with `efforts`",
        messages={"max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 8000}},
        beside={"messages": {"max_tokens": 9000}},
        able={"efforts": _FEW},
    ),
    Row("thinking `adaptive`, without an effort", messages={"thinking": {"type": "adaptive"}}),
    Row(
        "thinking `disabled`, channel with the effort `none`",
        messages={"thinking": {"type": "disabled"}},
        able={"efforts": ["none", *_FEW]},
    ),
    Row(
        "thinking `disabled`, channel without it",
        messages={"thinking": {"type": "disabled"}},
        able={"efforts": _FEW},
    ),
    Row("reasoning.summary", responses={"reasoning": {"summary": "auto"}}),
    _schema_row("a JSON schema for the answer"),
    _schema_row("the same, channel with `structured_output = false`", structured_output=False),
    Row(
        "any JSON object",
        {"response_format": {"type": "json_object"}},
        {"text": {"format": {"type": "json_object"}}},
    ),
]


def _said(text: str) -> Body:
    return {"role": "user", "content": text}


def _answered(content: Any) -> Body:
    return {"role": "assistant", "content": content}


_MORE = [_said("hi"), _answered("ho"), _said("so")]
_LATER_SYSTEM = [_said("hi"), _answered("ho"), _said("so"), {"role": "system", "content": "brief"}]


def _listed(*turns: Body) -> tuple[Body, Body, Body]:
    return {"messages": list(turns)}, {"input": list(turns)}, {"messages": list(turns)}


_BESIDE = dict(zip(("chat", "responses", "messages"), _listed(*_MORE), strict=True))
_CARRIER = {
    "chat": [_said("hi"), {**_answered("ho"), "reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": None}]}, _said("so")],
    "responses": [_said("hi"), {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": None}, _answered("ho"), _said("so")],
    "messages": [_said("hi"), _answered([{"type": "thinking", "thinking": "hm", "signature": None}, {"type": "text", "text": "ho"}]), _said("so")],
}  # fmt: skip


def _filled(value: Any, opaque: str) -> Any:
    """The value with its one None set to an opaque text."""
    match value:
        case dict():
            return {name: _filled(member, opaque) for name, member in value.items()}
        case list():
            return [_filled(element, opaque) for element in value]
        case None:
            return opaque
        case _:  # scalars
            return value


def _thought(says: str, opaque: str, **able: Any) -> Row:
    names = {"chat": "messages", "responses": "input", "messages": "messages"}
    told = {client: {names[client]: _filled(turns, opaque)} for client, turns in _CARRIER.items()}
    return Row(says, told["chat"], told["responses"], told["messages"], beside=_BESIDE, able=able)


TURNS = [
    Row(
        "system text at the start",
        *_listed({"role": "system", "content": "brief"}, _said("hi"))[:2],
        {"system": "brief"},
    ),
    Row("`instructions`", responses={"instructions": "brief"}),
    Row("role `developer` at the start", *_listed({"role": "developer", "content": "brief"}, _said("hi"))[:2]),
    Row("system text in the middle", *_listed(*_LATER_SYSTEM), beside=_BESIDE),
    Row("the same, channel with `mid_system`", *_listed(*_LATER_SYSTEM), beside=_BESIDE, able={"mid_system": True}),
    Row("a last message of the assistant", *_listed(_said("hi"), _answered("ho"))),
    Row("the same, channel with `prefill = false`", *_listed(_said("hi"), _answered("ho")), able={"prefill": False}),
    Row("`name` of a message", {"messages": [{**_said("hi"), "name": "bob"}]}),
    Row(
        "a refusal in the history",
        {"messages": [_said("hi"), {"role": "assistant", "content": None, "refusal": "no"}, _said("so")]},
        {"input": [_said("hi"), _answered([{"type": "refusal", "refusal": "no"}]), _said("so")]},
        beside={"chat": {"messages": [_said("hi"), _said("so")]}, "responses": {"input": [_said("hi"), _said("so")]}},
    ),
    Row(
        "what a hosted tool did",
        responses={"input": [_said("hi"), {"type": "web_search_call", "id": "ws_1", "status": "completed"}, *_MORE[1:]]},
        messages={"messages": [_said("hi"), _answered([{"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}, {"type": "text", "text": "ho"}]), _said("so")]},
        beside=_BESIDE,
    ),
    Row(
        "what belongs to a tool that the client runs for one provider",
        responses={"input": [_said("hi"), {"type": "computer_call", "id": "cu_1", "call_id": "c1", "action": {}}]},
        messages={"messages": [_said("hi"), _answered([{"type": "mcp_tool_use", "id": "m1", "name": "x", "server_name": "y", "input": {}}]), _said("so")]},
    ),
    Row("`item_reference`", responses={"input": [{"type": "item_reference", "id": "msg_1"}, _said("hi")]}),
    _thought("reasoning that a Messages channel of the same group made", "tgr1.messages"),
    _thought("reasoning that a Responses channel of the same group made", "tgr1.responses"),
    _thought("reasoning that a Chat channel made", "tgr1.chat"),
    _thought("the same, channel with `replay_reasoning = \"all\"`", "tgr1.chat", replay_reasoning="all"),
    _thought("reasoning of anybody else", "sig"),
]  # fmt: skip

_DATA = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 20).decode()
_PDF = base64.b64encode(b"%PDF-1.4 x").decode()
_TEXT = base64.b64encode(b"plain words").decode()


def _part(chat: Body | None = None, responses: Body | None = None, messages: Body | None = None) -> Three:
    """A part beside a text, in the user's message."""

    def told(name: str, text: str, part: Body | None) -> Body | None:
        content = [{"type": text, "text": "hi"}, part]
        return None if part is None else {name: [{"role": "user", "content": content}]}

    return (
        told("messages", "text", chat),
        told("input", "input_text", responses),
        told("messages", "text", messages),
    )


def _image(url: str, **members: Any) -> tuple[Body, Body]:
    return (
        {"type": "image_url", "image_url": {"url": url, **members}},
        {"type": "input_image", "image_url": url, **({"detail": "auto"} | members)},
    )


def _source(kind: str, **source: Any) -> Body:
    return {"type": kind, "source": source}


def _file(kind: str, data: str, name: str) -> tuple[Body, Body]:
    members = {"filename": name, "file_data": f"data:{kind};base64,{data}"}
    return {"type": "file", "file": members}, {"type": "input_file", **members}


CONTENT = [
    Row("text", *_part({"type": "text", "text": "so"}, {"type": "input_text", "text": "so"}, {"type": "text", "text": "so"})),
    Row("image by URL", *_part(*_image("https://x/y.png"), _source("image", type="url", url="https://x/y.png"))),
    Row("image as PNG, JPEG, GIF or WebP", *_part(*_image(f"data:image/png;base64,{_DATA}"), _source("image", type="base64", media_type="image/png", data=_DATA))),
    Row("image of another type", *_part(*_image(f"data:image/bmp;base64,{_DATA}"))),
    Row("`detail` of an image", *_part(*_image("https://x/y.png", detail="low"))),
    Row("`detail` `original`", *_part(*_image("https://x/y.png", detail="original"))),
    Row("image by file id", *_part(None, {"type": "input_image", "file_id": "f1", "detail": "auto"}, _source("image", type="file", file_id="f1"))),
    Row("PDF", *_part(*_file("application/pdf", _PDF, "a.pdf"), _source("document", type="base64", media_type="application/pdf", data=_PDF))),
    Row("PDF by URL", *_part(None, {"type": "input_file", "file_url": "https://x/a.pdf"}, _source("document", type="url", url="https://x/a.pdf"))),
    Row("plain text file", *_part(*_file("text/plain", _TEXT, "a.txt"), _source("document", type="text", media_type="text/plain", data="plain words"))),
    Row("file of another type", *_part(*_file("application/zip", _TEXT, "a.zip"))),
    Row("file by id", *_part({"type": "file", "file": {"file_id": "f1"}}, {"type": "input_file", "file_id": "f1"}, _source("document", type="file", file_id="f1"))),
    Row("document of parts", *_part(messages={"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "x"}]}})),
    Row("`context` of a document", *_part(messages={**_source("document", type="text", media_type="text/plain", data="x"), "context": "c"})),
    Row("`citations` of a document", *_part(messages={**_source("document", type="text", media_type="text/plain", data="x"), "citations": {"enabled": True}})),
    Row("search result", *_part(messages={"type": "search_result", "source": "https://x", "title": "t", "content": [{"type": "text", "text": "x"}]})),
    Row("audio input", *_part({"type": "input_audio", "input_audio": {"data": _DATA, "format": "wav"}})),
    Row("a part of an unknown type", *_part({"type": "hologram"}, {"type": "hologram"}, {"type": "hologram"})),
]  # fmt: skip


def result_row(
    says: str, *, chat: Any = None, responses: Any = None, messages: Any = None, **members: Any
) -> Row:
    """A tool's result with this content."""
    called = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"}
    use = _answered([{"type": "tool_use", "id": "call_1", "name": "f", "input": {}}])
    output = {"type": "function_call_output", "call_id": "call_1", "output": responses}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": messages, **members}
    return Row(
        says,
        None if chat is None else {"messages": [_said("hi"), called, {"role": "tool", "tool_call_id": "call_1", "content": chat}]},
        None if responses is None else {"input": [_said("hi"), call, output]},
        None if messages is None else {"messages": [_said("hi"), use, {"role": "user", "content": [result]}]},
    )  # fmt: skip


_PICTURE = _image("https://x/y.png")[1]
RESULTS = [
    result_row("result of a tool: text", chat="ok", responses="ok", messages="ok"),
    result_row(
        "result of a tool: text and an image",
        responses=[{"type": "input_text", "text": "ok"}, _PICTURE],
        messages=[{"type": "text", "text": "ok"}, _source("image", type="url", url="https://x/y.png")],
    ),
    result_row("`is_error`", messages="no", is_error=True),
]
