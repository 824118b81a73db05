"""The shapes in which servers tell errors."""

import pytest

from tidegate.core.protocol import Protocol
from tidegate.protocols.told import Told, read_told

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
DEEP: dict[str, object] = {}
for _ in range(300):
    DEEP = {"message": DEEP, "error": DEEP}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (
            {"error": {"message": "m", "type": "t", "param": "p", "code": "c"}},
            Told(message="m", type="t", param="p", code="c", origin=CHAT, in_form=True),
        ),
        (
            {"type": "error", "error": {"type": "t", "message": "m"}, "request_id": "r"},
            Told(message="m", type="t", origin=MESSAGES, in_form=True),
        ),
        (
            {"type": "error", "error": {"type": "t", "message": "m", "code": "c", "param": None}},
            Told(message="m", type="t", code="c", origin=CHAT, in_form=True),
        ),
        (
            {"type": "error", "code": "c", "message": "m", "param": None, "sequence_number": 3},
            Told(message="m", code="c", origin=CHAT, in_form=True),
        ),
        (
            {"object": "error", "message": "m", "type": "NotFoundError", "param": "model", "code": 404},
            Told(message="m", type="NotFoundError", param="model", code="404", origin=CHAT, in_form=True),
        ),
        (
            {"type": "response.failed", "response": {"error": {"code": "c", "message": "m"}}},
            Told(message="m", code="c", origin=CHAT, in_form=True),
        ),
        (
            [{"error": {"code": 400, "message": "m"}}],
            Told(message="m", code="400", origin=CHAT, in_form=True),
        ),
        ({"error": {"error": {"message": "m"}}}, Told(message="m", origin=CHAT, in_form=True)),
        ({"error": "text"}, Told(message="text")),
        ({"error": "Bad Request", "message": "m"}, Told(message="m")),
        ({"message": "m", "code": "c"}, Told(message="m", code="c")),
        ({"detail": "m"}, Told(message="m")),
        ({"detail": {"message": "m"}}, Told(message="m")),
        (
            {"detail": [{"loc": ["body", "messages", 0], "msg": "Field required"}, {"msg": "and more"}]},
            Told(message="messages.0: Field required; and more", param="messages.0", origin=CHAT),
        ),
        ({"errors": [{"message": "m", "code": 7}]}, Told(message="m")),
        ({"title": "m", "status": 400}, Told(message="m")),
        ({"error": {}}, Told()),
        ({"error": {"message": 5, "type": ["x"], "code": True}}, Told(origin=CHAT, in_form=True)),
        ({"error": None, "type": "x"}, Told()),
        ("m", Told()),
        (None, Told()),
        ([], Told()),
    ],
)
def test_shapes(value: object, told: Told) -> None:
    assert read_told(value, CHAT) == told


def test_the_words_are_those_of_the_channel_unless_the_shape_is_foreign() -> None:
    assert read_told({"error": {"message": "m"}}, RESPONSES).origin is RESPONSES
    assert read_told({"error": {"message": "m"}}, MESSAGES).origin is CHAT
    assert read_told({"type": "error", "error": {"message": "m"}}, RESPONSES).origin is MESSAGES
    own = {"type": "error", "error": {"type": "server_error", "message": "m"}}
    assert read_told(own, RESPONSES).origin is RESPONSES


def test_depth_is_no_danger() -> None:
    assert read_told(DEEP, CHAT).message is None
