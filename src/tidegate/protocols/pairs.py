"""The halves of every conversion by protocol; nothing else knows all of them."""

from collections.abc import Callable

from msgspec import Struct

from tidegate.core.protocol import Protocol
from tidegate.protocols.chat.decoder import ChatDecoder
from tidegate.protocols.chat.encoder import ChatEncoder
from tidegate.protocols.chat.read_conversation import read_conversation as read_chat
from tidegate.protocols.chat.write_conversation import write_conversation as write_chat
from tidegate.protocols.conversion import (
    AnswerContext,
    Decoder,
    Encoder,
    ReadConversation,
    WriteConversation,
)
from tidegate.protocols.messages.decoder import MessagesDecoder
from tidegate.protocols.messages.encoder import MessagesEncoder
from tidegate.protocols.messages.read_conversation import read_conversation as read_messages
from tidegate.protocols.messages.write_conversation import write_conversation as write_messages
from tidegate.protocols.responses.decoder import ResponsesDecoder
from tidegate.protocols.responses.encoder import ResponsesEncoder
from tidegate.protocols.responses.read_conversation import read_conversation as read_responses
from tidegate.protocols.responses.write_conversation import write_conversation as write_responses


class Halves(Struct, frozen=True, kw_only=True):
    """What one protocol brings to a conversion, as client and as channel."""

    read_conversation: ReadConversation
    write_conversation: WriteConversation
    decoder: Callable[[], Decoder]
    encoder: Callable[[AnswerContext], Encoder]


_CHAT = Halves(
    read_conversation=read_chat, write_conversation=write_chat, decoder=ChatDecoder, encoder=ChatEncoder
)
_RESPONSES = Halves(
    read_conversation=read_responses,
    write_conversation=write_responses,
    decoder=ResponsesDecoder,
    encoder=ResponsesEncoder,
)
_MESSAGES = Halves(
    read_conversation=read_messages,
    write_conversation=write_messages,
    decoder=MessagesDecoder,
    encoder=MessagesEncoder,
)


def halves_of(protocol: Protocol) -> Halves:
    """The halves of a protocol."""
    match protocol:
        case Protocol.CHAT:
            return _CHAT
        case Protocol.RESPONSES:
            return _RESPONSES
        case Protocol.MESSAGES:
            return _MESSAGES
