"""What counts as prompt in any shape of request, hostile ones included."""

import json

import pytest

from tidegate.core.json_text import members
from tidegate.core.protocol import Protocol
from tidegate.protocols.base import Asked
from tidegate.protocols.prompt_text import image_count, texts

DATA_URL = "data:image/png;base64,AAAA"


def asked(body: bytes) -> Asked:
    return Asked(protocol=Protocol.CHAT, body=body, members=members(body), model="m")


def of(**values: object) -> Asked:
    return asked(json.dumps(values).encode())


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "low"}},
        {"type": "input_image", "image_url": DATA_URL},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}},
        {"type": "input_file", "file_data": DATA_URL},
        {"type": "image_generation_call", "id": "ig_1", "result": "AAAA", "status": "completed"},
        {"type": "other", "somewhere": DATA_URL},
    ],
)
def test_base64_and_addresses_are_left_out(part: object) -> None:
    request = of(messages=[{"role": "user", "content": [part, {"type": "text", "text": "what is it?"}]}])
    assert list(texts(request, ["messages"])) == ["what is it?"]


def test_plain_text_documents_count() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "the book"}
    request = of(
        messages=[{"role": "user", "content": [{"type": "document", "title": "T", "source": source}]}]
    )
    assert list(texts(request, ["messages"])) == ["T", "the book"]


def test_quoted_sources_do_not_count_twice() -> None:
    block = {"type": "text", "text": "so it is", "citations": [{"cited_text": "it is so"}]}
    assert list(texts(of(messages=[{"content": [block]}]), ["messages"])) == ["so it is"]


@pytest.mark.parametrize("value", [None, 7, True, {}, [], [[[[]]]], [None, 1, {"content": 3}]])
def test_shapes_without_text_have_none(value: object) -> None:
    assert list(texts(of(messages=value, tools=value), ["messages", "absent"])) == []


def test_lone_surrogates_can_be_counted() -> None:
    (text,) = texts(of(messages=[{"content": "a\ud800b"}]), ["messages"])
    assert text.encode("utf-8").decode() == "a\ufffdb"


def test_deep_nesting_is_bounded() -> None:
    deep = b'{"content":' * 400 + b'"end"' + b"}" * 400
    assert list(texts(asked(b'{"messages":[' + deep + b"]}"), ["messages"])) == ["end"]


def test_what_is_beyond_decoding_is_given_as_it_stands() -> None:
    number = b"9" * 5000
    request = asked(b'{"messages":[' + number + b"]}")
    assert list(texts(request, ["messages"])) == [f"[{number.decode()}]"]
    assert image_count(asked(b'{"messages":["image",' + number + b"]}")) == 0


@pytest.mark.parametrize("depth", range(880, 1001, 3))
def test_schemas_nested_to_the_limit_are_counted(depth: int) -> None:
    start = b'{"parameters":' * depth + b'"' + b"T"
    body = b'{"tools":' + start + b'"' + b"}" * depth + b"}"
    request = Asked(protocol=Protocol.CHAT, body=body, members={"tools": (9, len(body) - 1)}, model="m")
    assert "T" in "".join(texts(request, ["tools"]))


def test_images_are_counted_in_every_form_and_place() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    chat = of(messages=[{"content": [{"type": "image_url", "image_url": {"url": "u"}}] * 2}])
    inside = of(messages=[{"content": [{"type": "tool_result", "content": [image, {"type": "text"}]}]}])
    items = of(
        input=[{"content": [{"type": "input_image", "image_url": "u"}]}, {"type": "computer_screenshot"}]
    )
    assert [image_count(request) for request in (chat, inside, items)] == [2, 1, 2]
    assert image_count(of(messages=[{"content": "no image here"}])) == 0
    assert image_count(of(messages='an "image"', input=[{"type": ["image"]}])) == 0
