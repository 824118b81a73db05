"""The three dialects by name; nothing else knows all three."""

from msgspec import structs

from tidegate.core.protocol import Protocol
from tidegate.protocols import prompt_text
from tidegate.protocols.base import Dialect
from tidegate.protocols.chat import answer as chat_answer
from tidegate.protocols.chat import assemble as chat_assemble
from tidegate.protocols.chat import errors as chat_errors
from tidegate.protocols.chat import replay as chat_replay
from tidegate.protocols.chat import request as chat_request
from tidegate.protocols.chat.stream import ChatWatcher
from tidegate.protocols.messages import answer as messages_answer
from tidegate.protocols.messages import assemble as messages_assemble
from tidegate.protocols.messages import errors as messages_errors
from tidegate.protocols.messages import replay as messages_replay
from tidegate.protocols.messages import request as messages_request
from tidegate.protocols.messages.stream import MessagesWatcher
from tidegate.protocols.responses import answer as responses_answer
from tidegate.protocols.responses import assemble as responses_assemble
from tidegate.protocols.responses import errors as responses_errors
from tidegate.protocols.responses import replay as responses_replay
from tidegate.protocols.responses import request as responses_request
from tidegate.protocols.responses.stream import ResponsesWatcher

_CHAT = Dialect(
    protocol=Protocol.CHAT,
    path="/chat/completions",
    read_request=chat_request.read_request,
    write_request=chat_request.write_request,
    repair=chat_request.repair,
    write_repaired=chat_request.write_repaired,
    prompt_texts=chat_request.prompt_texts,
    image_count=prompt_text.image_count,
    watcher=ChatWatcher,
    read_whole=chat_answer.read_whole,
    replay=chat_replay.replay,
    assemble=chat_assemble.assemble,
    read_refusal=chat_errors.read_refusal,
    error_answer=chat_errors.error_answer,
)
_RESPONSES = Dialect(
    protocol=Protocol.RESPONSES,
    path="/responses",
    read_request=responses_request.read_request,
    write_request=responses_request.write_request,
    repair=responses_request.repair,
    write_repaired=responses_request.write_repaired,
    prompt_texts=responses_request.prompt_texts,
    image_count=prompt_text.image_count,
    watcher=ResponsesWatcher,
    read_whole=responses_answer.read_whole,
    replay=responses_replay.replay,
    assemble=responses_assemble.assemble,
    read_refusal=responses_errors.read_refusal,
    error_answer=responses_errors.error_answer,
)
_MESSAGES = Dialect(
    protocol=Protocol.MESSAGES,
    path="/v1/messages",
    read_request=messages_request.read_request,
    write_request=messages_request.write_request,
    repair=messages_request.repair,
    write_repaired=messages_request.write_repaired,
    prompt_texts=messages_request.prompt_texts,
    image_count=prompt_text.image_count,
    watcher=MessagesWatcher,
    read_whole=messages_answer.read_whole,
    replay=messages_replay.replay,
    assemble=messages_assemble.assemble,
    read_refusal=messages_errors.read_refusal,
    error_answer=messages_errors.error_answer,
)
_COUNT = structs.replace(_MESSAGES, read_request=messages_request.read_count_request)


def dialect_of(protocol: Protocol) -> Dialect:
    """The dialect of a protocol."""
    match protocol:
        case Protocol.CHAT:
            return _CHAT
        case Protocol.RESPONSES:
            return _RESPONSES
        case Protocol.MESSAGES:
            return _MESSAGES


def count_dialect() -> Dialect:
    """Messages as `count_tokens` reads it: a request without `max_tokens`."""
    return _COUNT
