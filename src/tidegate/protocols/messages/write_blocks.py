"""Writes the blocks of a conversation as blocks of Messages (conversion.md §3, §4)."""

from typing import Any

import msgspec

from tidegate.core.conversation import Call, File, Image, Result, Text, Thought
from tidegate.core.events import CallKind
from tidegate.core.protocol import Protocol
from tidegate.protocols import media
from tidegate.protocols.call_ids import call_id
from tidegate.protocols.custom_tools import wrapped_input
from tidegate.protocols.losses import Losses

Block = dict[str, Any]

_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_EMPTY = msgspec.Raw(b"{}")
_PICTURES = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg"}
_PLAIN_DETAIL = (None, "auto")


def text_block(text: str) -> Block:
    """A text block."""
    return {"type": "text", "text": text}


def says_something(text: str) -> bool:
    """Whether the API takes it as a text block: it refuses empty and blank ones."""
    return bool(text) and not text.isspace()


def content_block(part: Text | Image | File, protocol: Protocol, losses: Losses) -> tuple[Block, ...]:
    """A part that a user or a tool says; nothing for an empty text and for what is refused."""
    match part:
        case Text(text=text):
            return (text_block(text),) if says_something(text) else ()
        case Image():
            return _image(part, protocol, losses)
        case File():
            return _document(part, losses)


def call_block(call: Call, name: str, losses: Losses) -> Block:
    """A call. Arguments that are no JSON object go up as text, since `input` must be one."""
    arguments = wrapped_input(call.input) if call.kind is CallKind.CUSTOM else call.input
    given = _as_object(arguments)
    if given is None:
        losses.approximated(call.path)
        given = msgspec.Raw(msgspec.json.encode({"arguments": arguments}))
    return {"type": "tool_use", "id": call_id(call.id), "name": name, "input": given}


def result_block(result: Result, protocol: Protocol, losses: Losses) -> Block:
    """What a tool answered; a string stays a string."""
    block: Block = {"type": "tool_result", "tool_use_id": call_id(result.call_id)}
    if isinstance(result.content, str):
        block["content"] = result.content
    else:
        parts = [block for part in result.content for block in content_block(part, protocol, losses)]
        if parts:
            block["content"] = parts
    if result.is_error:
        block["is_error"] = True
    return block


def thinking_blocks(thought: Thought, group: str) -> list[Block]:
    """The reasoning that this upstream made, verbatim; nothing where it is another's (conversion.md §7)."""
    carried = thought.carried
    if carried is not None:
        return list(carried.value) if carried.origin is Protocol.MESSAGES and thought.group == group else []
    native = thought.native if isinstance(thought.native, list) else [thought.native]
    return [block for entry in native if (block := _of_another_gateway(entry)) is not None]


def _of_another_gateway(entry: object) -> Block | None:
    """Other gateways' forms of a signed thinking block, as Chat clients send them back."""
    if not isinstance(entry, dict):
        return None
    kind, signature = entry.get("type"), entry.get("signature")
    signed = isinstance(signature, str) and signature != ""
    match kind:
        case "reasoning.text" if signed and isinstance(entry.get("text"), str):
            return {"type": "thinking", "thinking": entry["text"], "signature": signature}
        case "thinking" if signed and isinstance(entry.get("thinking"), str):
            return {"type": "thinking", "thinking": entry["thinking"], "signature": signature}
        case "redacted_thinking" if isinstance(entry.get("data"), str):
            return {"type": "redacted_thinking", "data": entry["data"]}
        case _:  # what no Messages upstream can have made
            return None


def _as_object(arguments: str) -> msgspec.Raw | None:
    """The text itself if it is a JSON object, so that nothing in it changes; an empty one is `{}`."""
    if not arguments or arguments.isspace() or arguments == "{}":
        return _EMPTY
    text = arguments.encode()
    try:
        _OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    return msgspec.Raw(text)


def _image(image: Image, protocol: Protocol, losses: Losses) -> tuple[Block, ...]:
    if image.detail not in _PLAIN_DETAIL:
        inner = ".image_url" if protocol is Protocol.CHAT else ""
        losses.dropped(f"{image.path}{inner}.detail")
    if image.url is not None:
        return ({"type": "image", "source": {"type": "url", "url": image.url}},)
    if image.data is None:
        losses.refuse_value(image.path, f"`{image.path}`: the channels of this model take no stored files.")
        return ()
    media_type = _PICTURES.get(image.media_type or "", image.media_type or "")
    if media_type not in media.MESSAGES_IMAGES:
        losses.refuse_value(
            image.path, f"`{image.path}`: the channels of this model take JPEG, PNG, GIF and WebP only."
        )
    source = {"type": "base64", "media_type": media_type, "data": image.data}
    return ({"type": "image", "source": source},)


def _document(file: File, losses: Losses) -> tuple[Block, ...]:
    source = _source(file)
    if source is None:
        losses.refuse_value(
            file.path, f"`{file.path}`: the channels of this model take PDF and text, and no stored files."
        )
        return ()
    block: Block = {"type": "document", "source": source}
    if file.filename:
        block["title"] = file.filename
    if file.context:
        block["context"] = file.context
    if file.cited:
        block["citations"] = {"enabled": True}
    return (block,)


def _source(file: File) -> dict[str, str] | None:
    if file.url is not None:
        return {"type": "url", "url": file.url}
    media_type = file.media_type or ""
    text = file.text
    if text is None and file.data is not None and media.is_text(media_type):
        text = media.text_of(file.data)
    if text is not None:
        return {"type": "text", "media_type": media.PLAIN_TEXT, "data": text}
    if file.data is not None and media_type == media.PDF:
        return {"type": "base64", "media_type": media.PDF, "data": file.data}
    return None
