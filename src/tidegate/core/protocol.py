"""The three wire protocols by name."""

from enum import Enum


class Protocol(Enum):
    """A wire protocol; the value is its name in the config, the API and the journal."""

    CHAT = "chat"
    RESPONSES = "responses"
    MESSAGES = "messages"
