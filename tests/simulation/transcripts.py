"""A speech in each protocol: as the events of a stream and as one JSON answer."""

from typing import Any

from tests.harness import notation as n
from tests.harness.notation import Json
from tests.simulation.speech import Speech, Stop, Tokens

from tidegate.core.protocol import Protocol

_CHAT_STOPS = {Stop.END: "stop", Stop.LIMIT: "length", Stop.TOOL: "tool_calls"}
_MESSAGES_STOPS = {Stop.END: "end_turn", Stop.LIMIT: "max_tokens", Stop.TOOL: "tool_use"}


def stream(protocol: Protocol, speech: Speech) -> list[bytes]:
    """The events, end mark included."""
    match protocol:
        case Protocol.CHAT:
            return _chat_stream(speech)
        case Protocol.MESSAGES:
            return _messages_stream(speech)
        case Protocol.RESPONSES:
            return _responses_stream(speech)


def whole(protocol: Protocol, speech: Speech) -> bytes:
    """The JSON answer."""
    match protocol:
        case Protocol.CHAT:
            return n.dumps(_chat_whole(speech)).encode()
        case Protocol.MESSAGES:
            return n.dumps(_messages_whole(speech)).encode()
        case Protocol.RESPONSES:
            return n.dumps(_final(speech)["response"]).encode()


def error_event(protocol: Protocol, message: str, number: int) -> bytes:
    """The protocol's own error after `number` events of a stream."""
    match protocol:
        case Protocol.CHAT:
            return n.data({"error": {"message": message, "type": "server_error", "code": None}})
        case Protocol.MESSAGES:
            return n.aerr("overloaded_error", message)
        case Protocol.RESPONSES:
            error = {"code": "server_error", "message": message}
            return n.r(("response.failed", n.response("failed", error=error)), start=number)[0]


# Chat


def _chat_stream(speech: Speech) -> list[bytes]:
    events = [n.k({"role": "assistant", "content": ""})]
    events += [n.k({"reasoning_content": piece}) for piece in speech.thoughts]
    events += [n.k({"content": piece}) for piece in speech.texts]
    if speech.arguments:
        events.append(n.k(n.t(0, f"call_{speech.tag}", "look", "")))
        events += [n.k(n.t(0, None, None, piece)) for piece in speech.arguments]
    events.append(n.k({}, _CHAT_STOPS[speech.stop]))
    usage = _chat_usage(speech.tokens)
    if usage is not None:
        events.append(n.u(usage))
    return [*events, n.DONE]


def _chat_whole(speech: Speech) -> Json:
    message: Json = {"role": "assistant", "content": speech.text or None, "refusal": None}
    if speech.thoughts:
        message["reasoning_content"] = speech.thought
    if speech.arguments:
        function = {"name": "look", "arguments": speech.call}
        message["tool_calls"] = [{"id": f"call_{speech.tag}", "type": "function", "function": function}]
    choice = {"index": 0, "message": message, "finish_reason": _CHAT_STOPS[speech.stop], "logprobs": None}
    answer: Json = {"id": "c1", "object": "chat.completion", "created": 1, "model": "up", "choices": [choice]}
    usage = _chat_usage(speech.tokens)
    return answer if usage is None else {**answer, "usage": usage}


def _chat_usage(tokens: Tokens | None) -> Json | None:
    if tokens is None:
        return None
    prompt = _sum(tokens.fresh, tokens.read, tokens.write)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": _sum(prompt, tokens.output),
        "prompt_tokens_details": {"cached_tokens": tokens.read, "cache_write_tokens": tokens.write},
    }


# Messages


def _messages_stream(speech: Speech) -> list[bytes]:
    usage = _messages_usage(speech.tokens)
    events = [n.ms({**(usage or {}), "output_tokens": 1})]
    for index, block in enumerate(_messages_blocks(speech)):
        match block["type"]:
            case "thinking":
                events.append(n.bs(index, "thinking"))
                events += [n.bd(index, n.think(piece)) for piece in speech.thoughts]
                events.append(n.bd(index, n.sig("c2ln")))
            case "text":
                events.append(n.bs(index, "text"))
                events += [n.bd(index, n.text(piece)) for piece in speech.texts]
            case _:  # tool_use
                events.append(n.bs(index, {**block, "input": {}}))
                events += [n.bd(index, n.args(piece)) for piece in speech.arguments]
        events.append(n.be(index))
    told = {"output_tokens": usage["output_tokens"]} if usage else {}
    return [*events, n.md(_MESSAGES_STOPS[speech.stop], told or {"x": 0}), n.me]


def _messages_blocks(speech: Speech) -> list[Json]:
    blocks: list[Json] = []
    if speech.thoughts:
        blocks.append({"type": "thinking", "thinking": speech.thought, "signature": "c2ln"})
    if speech.texts:
        blocks.append({"type": "text", "text": speech.text})
    if speech.arguments:
        blocks.append(
            {
                "type": "tool_use",
                "id": f"toolu_{speech.tag}",
                "name": "look",
                "input": {"q": f"{speech.tag}.c"},
            }
        )
    return blocks


def _messages_whole(speech: Speech) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "up",
        "content": _messages_blocks(speech),
        "stop_reason": _MESSAGES_STOPS[speech.stop],
        "stop_sequence": None,
        "usage": _messages_usage(speech.tokens) or {},
    }


def _messages_usage(tokens: Tokens | None) -> Json | None:
    if tokens is None:
        return None
    return {
        "input_tokens": tokens.fresh,
        "cache_read_input_tokens": tokens.read,
        "cache_creation_input_tokens": tokens.write,
        "output_tokens": tokens.output,
    }


# Responses


def _responses_stream(speech: Speech) -> list[bytes]:
    events = [n.created(), n.in_progress()]
    for index, item in enumerate(_items(speech)):
        match item["type"]:
            case "reasoning":
                events += _reasoning_events(speech, item, index)
            case "message":
                events += [n.added(n.message_item(), index), n.part_added(index=index)]
                events += [n.text_delta(piece, index=index) for piece in speech.texts]
                events += n.text_done(speech.text, index=index)
            case _:  # function_call
                events += _call_events(speech, item, index)
    return n.r(*events, (_terminal(speech), _final(speech)))


def _reasoning_events(speech: Speech, item: Json, index: int) -> list[tuple[str, Json]]:
    at = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    part = {"type": "summary_text", "text": speech.thought}
    return [
        n.added({**item, "summary": []}, index),
        ("response.reasoning_summary_part.added", {**at, "part": {**part, "text": ""}}),
        *(("response.reasoning_summary_text.delta", {**at, "delta": piece}) for piece in speech.thoughts),
        ("response.reasoning_summary_text.done", {**at, "text": speech.thought}),
        ("response.reasoning_summary_part.done", {**at, "part": part}),
        n.item_done(item, index),
    ]


def _call_events(speech: Speech, item: Json, index: int) -> list[tuple[str, Json]]:
    at = {"item_id": item["id"], "output_index": index}
    delta = "response.function_call_arguments.delta"
    return [
        n.added({**item, "arguments": "", "status": "in_progress"}, index),
        *((delta, {**at, "delta": piece}) for piece in speech.arguments),
        ("response.function_call_arguments.done", {**at, "arguments": speech.call}),
        n.item_done(item, index),
    ]


def _items(speech: Speech) -> list[Json]:
    items: list[Json] = []
    if speech.thoughts:
        summary = [{"type": "summary_text", "text": speech.thought}]
        items.append({"id": "rs_1", "type": "reasoning", "summary": summary})
    if speech.texts:
        items.append(n.message_item(speech.text, "completed"))
    if speech.arguments:
        call = {"call_id": f"call_{speech.tag}", "name": "look", "arguments": speech.call}
        items.append({"type": "function_call", "id": "fc_1", "status": "completed", **call})
    return items


def _terminal(speech: Speech) -> str:
    return "response.incomplete" if speech.stop is Stop.LIMIT else "response.completed"


def _final(speech: Speech) -> Json:
    usage = _responses_usage(speech.tokens)
    if speech.stop is Stop.LIMIT:
        reason = {"reason": "max_output_tokens"}
        return n.response("incomplete", output=_items(speech), usage=usage, incomplete_details=reason)
    return n.response("completed", output=_items(speech), usage=usage)


def _responses_usage(tokens: Tokens | None) -> Json | None:
    if tokens is None:
        return None
    prompt = _sum(tokens.fresh, tokens.read, tokens.write)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": tokens.read, "cache_write_tokens": tokens.write},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": _sum(prompt, tokens.output),
    }


def _sum(*counts: Any) -> Any:
    """Their sum, or the first that is no number to add."""
    odd = [count for count in counts if type(count) is not int]
    return odd[0] if odd else sum(counts)
