"""Blocks for a messages channel: pictures, documents, calls and results."""

import base64
from typing import Any

import pytest
from tests.unit.protocols.messages.conversing import (
    C,
    R,
    assistant,
    chat,
    converted,
    refused,
    responses,
    tool,
    user,
)

PNG = "data:image/png;base64,iVBORw0KGgo="
SOURCE = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
PDF = "data:application/pdf;base64,JVBERi0="


def picture(url: str, **more: Any) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **more}}


def file(**members: Any) -> dict[str, Any]:
    return {"type": "file", "file": members}


def plain(text: bytes, kind: str = "text/plain") -> str:
    return f"data:{kind};base64,{base64.b64encode(text).decode()}"


def said(*parts: Any) -> tuple[list[Any], list[str]]:
    body, lost = converted(C, chat(user(list(parts))))
    return body["messages"][0]["content"], lost


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (picture(PNG), {"type": "image", "source": SOURCE}),
        (picture(PNG.replace("gpY", "gpY").rstrip("=")), {"type": "image", "source": SOURCE}),
        (
            picture("data:image/jpg;base64,iVBORw0KGgo="),
            {"type": "image", "source": {**SOURCE, "media_type": "image/jpeg"}},
        ),
        (
            picture("https://x.example/p.bmp", detail="auto"),
            {"type": "image", "source": {"type": "url", "url": "https://x.example/p.bmp"}},
        ),
        (
            file(file_data=PDF, filename="a.pdf"),
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
                "title": "a.pdf",
            },
        ),
        (
            file(file_data=plain("é".encode()), filename="a.txt"),
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "é"},
                "title": "a.txt",
            },
        ),
        (
            file(file_data=plain(b"a,b", "text/csv")),
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a,b"}},
        ),
    ],
)
def test_a_part_of_chat_becomes_a_block(part: Any, block: Any) -> None:
    assert said(part) == ([block], [])


def test_parts_keep_their_order() -> None:
    blocks, _ = said({"type": "text", "text": "a"}, picture(PNG), {"type": "text", "text": "b"})
    assert [block["type"] for block in blocks] == ["text", "image", "text"]


def test_detail_is_dropped_by_its_path() -> None:
    assert said(picture(PNG, detail="low"))[1] == ["dropped:messages[0].content[0].image_url.detail"]
    image = {"type": "input_image", "image_url": PNG, "detail": "high"}
    assert converted(R, responses(user([image])))[1] == ["dropped:input[0].content[0].detail"]


def test_the_address_of_a_document_is_passed_on() -> None:
    part = {"type": "input_file", "file_url": "https://x.example/a.pdf", "filename": "a.pdf"}
    body, _ = converted(R, responses(user([part])))
    assert body["messages"][0]["content"] == [
        {"type": "document", "source": {"type": "url", "url": "https://x.example/a.pdf"}, "title": "a.pdf"}
    ]


@pytest.mark.parametrize(
    "part",
    [
        picture("data:image/tiff;base64,iVBORw0KGgo="),
        file(file_id="file-1"),
        file(file_data="data:application/zip;base64,UEsDBA==", filename="a.zip"),
        file(file_data=plain(b"\xff\xfe"), filename="a.txt"),
    ],
)
def test_what_messages_does_not_take_is_refused_by_its_path(part: Any) -> None:
    assert (refused(C, chat(user([part]))) or "").startswith("messages[0].content[0]")


def test_a_stored_picture_is_refused() -> None:
    part = {"type": "input_image", "file_id": "file-1"}
    assert (refused(R, responses(user([part]))) or "").startswith("input[0].content[0]")


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("", {}),
        (" ", {}),
        ("{}", {}),
        ('{"a": 1.0, "b": 12345678901234567890123}', {"a": 1.0, "b": 12345678901234567890123}),
        ('{"cmd":"ls', {"arguments": '{"cmd":"ls'}),
        ("[1]", {"arguments": "[1]"}),
        ("null", {"arguments": "null"}),
        ("[" * 5000, {"arguments": "[" * 5000}),
        ('{"a":' * 3000 + "1" + "}" * 3000, None),
    ],
)
def test_arguments_are_an_object_and_nothing_of_them_is_lost(arguments: str, given: Any) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    body, lost = converted(C, chat(user(), assistant(tool_calls=[call]), tool("a")))
    sent = body["messages"][1]["content"][0]["input"]
    if given is not None:
        assert sent == given
    assert lost == (["approximated:messages[1].tool_calls[0]"] if "arguments" in sent else [])


def test_an_id_that_not_everyone_takes_is_replaced_alike_in_call_and_result() -> None:
    call = {"id": "call|1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    body, _ = converted(C, chat(user(), assistant(tool_calls=[call]), tool("call|1")))
    id_ = body["messages"][1]["content"][0]["id"]
    assert id_.startswith("call_")
    assert len(id_) == 29
    assert body["messages"][2]["content"][0]["tool_use_id"] == id_


@pytest.mark.parametrize(
    ("output", "content"),
    [
        ("ok", "ok"),
        ("", ""),
        ([{"type": "input_text", "text": "ok"}], [{"type": "text", "text": "ok"}]),
        ([{"type": "input_text", "text": ""}], None),
        ([{"type": "input_image", "image_url": PNG}], [{"type": "image", "source": SOURCE}]),
    ],
)
def test_a_result_is_a_string_or_blocks_as_it_was(output: Any, content: Any) -> None:
    items = (
        user(),
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": output},
    )
    body, lost = converted(R, responses(*items))
    assert body["messages"][2]["content"][0].get("content") == content
    assert not lost
