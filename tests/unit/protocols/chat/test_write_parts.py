"""Pictures and documents for chat upstreams."""

from typing import Any

import pytest
from tests.unit.protocols.asking import MESSAGES_TO_CHAT, RESPONSES_TO_CHAT

PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}
WRITTEN_PDF = {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}


def document(**members: Any) -> dict[str, Any]:
    content = [{"type": "document", "title": "a.pdf", "source": PDF, **members}]
    return {"messages": [{"role": "user", "content": content}]}


def item(**part: Any) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [part]}]}


def parts(body: dict[str, Any]) -> Any:
    return body["messages"][0]["content"]


def test_a_document_is_a_file() -> None:
    assert parts(MESSAGES_TO_CHAT.sent(document())) == [{"type": "file", "file": WRITTEN_PDF}]


def test_what_is_told_about_a_document_stands_before_it() -> None:
    body = document(context="From Ann.", citations={"enabled": True})
    assert parts(MESSAGES_TO_CHAT.sent(body))[0] == {"type": "text", "text": "From Ann."}
    at = "messages[0].content[0]"
    assert MESSAGES_TO_CHAT.lost(body) == [f"approximated:{at}.context", f"dropped:{at}.citations"]


def test_a_text_document_is_a_file_of_plain_text() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "hi"}
    [part] = parts(MESSAGES_TO_CHAT.sent(document(source=source, title="a.txt")))
    assert part["file"] == {"filename": "a.txt", "file_data": "data:text/plain;base64,aGk="}


@pytest.mark.parametrize(
    "source", [{"type": "url", "url": "https://h.test/a.pdf"}, {"type": "file", "file_id": "f"}]
)
def test_documents_without_their_data_are_refused(source: dict[str, Any]) -> None:
    assert MESSAGES_TO_CHAT.refused(document(source=source)) == (
        "unsupported_value",
        "messages[0].content[0]",
    )


def test_a_stored_file_of_an_openai_client_keeps_its_id() -> None:
    assert parts(RESPONSES_TO_CHAT.sent(item(type="input_file", file_id="f"))) == [
        {"type": "file", "file": {"file_id": "f"}}
    ]


def test_a_file_by_address_and_a_stored_picture_are_refused() -> None:
    at = ("unsupported_value", "input[0].content[0]")
    assert RESPONSES_TO_CHAT.refused(item(type="input_file", file_url="https://h.test/a.pdf")) == at
    assert RESPONSES_TO_CHAT.refused(item(type="input_image", file_id="f")) == at


@pytest.mark.parametrize(("detail", "sent"), [("low", "low"), ("auto", "auto"), ("original", "high")])
def test_detail(detail: str, sent: str) -> None:
    body = item(type="input_image", image_url="https://h.test/a", detail=detail)
    assert parts(RESPONSES_TO_CHAT.sent(body))[0]["image_url"] == {"url": "https://h.test/a", "detail": sent}
    lost = ["approximated:input[0].content[0].detail"] if detail == "original" else []
    assert RESPONSES_TO_CHAT.lost(body) == lost
