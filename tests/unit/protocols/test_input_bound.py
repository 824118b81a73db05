"""The most tokens that a prompt can have: its bytes, with pictures, files and what is kept elsewhere."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.protocol import Protocol
from tidegate.protocols.input_bound import IMAGE_TOKENS, MOST_FILE_TOKENS, SEARCHES, Bound, input_bound

CHAT, RESPONSES, MESSAGES = Protocol.CHAT, Protocol.RESPONSES, Protocol.MESSAGES
PNG, JPEG, GIF = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"GIF89a"
WEBP, WAVE, PDF = b"RIFF\x10\x20\x30\x00WEBPVP8 ", b"RIFF\x10\x20\x30\x00WAVEfmt ", b"%PDF-1.7\n"


def encoded(magic: bytes, size: int) -> str:
    """Base64 of `size` characters, a multiple of four."""
    return base64.b64encode(magic + bytes(range(256)) * (size // 300))[:size].decode().ljust(size, "A")


def written(content: Any, **more: Any) -> list[bytes]:
    """The same request in every layout that clients write."""
    request = {"model": "m", "messages": [{"role": "user", "content": content}], **more}
    plain = json.dumps(request)
    compact = json.dumps(request, separators=(",", ":"), ensure_ascii=False)
    return [
        each.encode() for each in (plain, compact, json.dumps(request, indent=2), plain.replace("/", "\\/"))
    ]


ORDINARY: list[tuple[Any, dict[str, Any]]] = [
    ("hi", {}),
    ("see http://example.com/a_20250101 and file_id, web_search", {}),
    ("Grüße, 世界 < > &", {"temperature": 0.5}),
    ("a word in quotes: \"file_id\" 'url'", {}),
    ([{"type": "text", "text": "hi"}], {"metadata": {"user_id": "x", "id": "y", "z": 1}}),
    (
        "call it",
        {
            "tools": [
                {
                    "type": "function",
                    "function": {
                        "name": "web_search",
                        "parameters": {
                            "$schema": "http://json-schema.org/draft-07/schema#",
                            "type": "object",
                            "properties": {"url": {"type": "string"}, "data": {"type": "string"}},
                        },
                    },
                }
            ]
        },
    ),
]


@pytest.mark.parametrize("protocol", [CHAT, MESSAGES])
@pytest.mark.parametrize(("content", "more"), ORDINARY)
def test_every_token_is_at_least_one_byte(protocol: Protocol, content: Any, more: dict[str, Any]) -> None:
    for body in written(content, **more):
        assert input_bound(body, protocol) == Bound(len(body), firm=True)


@given(
    st.text(st.characters(codec="utf-8", exclude_characters='"\\'), max_size=500), st.sampled_from(Protocol)
)
def test_text_that_names_nothing_is_counted_by_its_bytes(text: str, protocol: Protocol) -> None:
    for body in written(text):
        assert input_bound(body, protocol).tokens == len(body)


ELSEWHERE = [
    (CHAT, {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}, 1),
    (CHAT, {"type": "image_url", "image_url": {"detail": "high", "url": "HTTP://example.com/a.png"}}, 0),
    (CHAT, {"type": "file", "file": {"file_id": "file-1"}}, 1),
    (CHAT, {"type": "video_url", "video_url": {"url": "gs://a"}}, 0),
    (CHAT, {"audio": {"id": "audio_1"}}, 0),
    (RESPONSES, {"type": "input_image", "image_url": "https://example.com/a.png"}, 1),
    (RESPONSES, {"type": "input_image", "file_id": "file-1"}, 1),
    (RESPONSES, {"type": "input_file", "file_url": "https://example.com/a.pdf"}, 1),
    (RESPONSES, {"type": "item_reference", "id": "msg_1"}, 0),
    (RESPONSES, {"id": "msg_1"}, 0),
    (RESPONSES, {"id": "msg_1", "type": None}, 0),
    (MESSAGES, {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}, 1),
    (MESSAGES, {"type": "document", "source": {"type": "file", "file_id": "file_1"}}, 1),
    (MESSAGES, {"type": "web_fetch_20250910", "name": "web_fetch"}, 0),
    (MESSAGES, {"type": "code_execution_20250825", "name": "code_execution"}, 0),
    (MESSAGES, {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}, 0),
]


@pytest.mark.parametrize(("protocol", "part", "remote"), ELSEWHERE, ids=str)
def test_what_is_kept_elsewhere_makes_it_a_guess(
    protocol: Protocol, part: dict[str, Any], remote: int
) -> None:
    for body in written([part]):
        assert input_bound(body, protocol) == Bound(len(body) + remote * IMAGE_TOKENS, firm=False)


@pytest.mark.parametrize(
    ("protocol", "members"),
    [
        (RESPONSES, {"previous_response_id": "resp_1"}),
        (RESPONSES, {"conversation": "conv_1"}),
        (RESPONSES, {"prompt": {"id": "pmpt_1"}}),
        *(
            (RESPONSES, {"tools": [{"type": type_}]})
            for type_ in (
                *("file_search", "code_interpreter", "image_generation", "computer_use_preview"),
                *("mcp", "tool_search", "shell", "computer"),
            )
        ),
        (MESSAGES, {"mcp_servers": []}),
        (MESSAGES, {"container": {"skills": []}}),
        (MESSAGES, {"tools": [{"type": "mcp_toolset"}]}),
        (CHAT, {"model": "gpt-5-search-api"}),
    ],
)
def test_members_that_refer_to_content_elsewhere(protocol: Protocol, members: dict[str, Any]) -> None:
    for body in written("hi", **members):
        assert input_bound(body, protocol) == Bound(len(body), firm=False)


def test_a_member_that_refers_to_nothing_is_no_reference() -> None:
    [body, *_] = written("hi", previous_response_id=None)
    assert input_bound(body, RESPONSES).firm


@pytest.mark.parametrize(
    ("protocol", "members", "searches"),
    [
        (CHAT, {"web_search_options": {}}, SEARCHES),
        (RESPONSES, {"tools": [{"type": "web_search"}]}, SEARCHES),
        (RESPONSES, {"tools": [{"type": "web_search_preview"}]}, SEARCHES),
        (RESPONSES, {"tools": [{"type": "web_search_preview_2025_03_11"}]}, SEARCHES),
        (MESSAGES, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, SEARCHES),
        (RESPONSES, {"input": [{"type": "web_search_call", "query": "x"}]}, 0),
        (MESSAGES, {"tools": [{"type": "web_fetch_20250910"}]}, 0),
    ],
)
def test_searches_are_held_for_where_the_model_may_search(
    protocol: Protocol, members: dict[str, Any], searches: int
) -> None:
    for body in written("hi", **members):
        assert input_bound(body, protocol).searches == searches


@pytest.mark.parametrize(
    "body",
    [rb'{"file\u005fid":"x"}', rb'{"\u0066ile_id":"x"}', rb'{"previous_response\u005fid":"x"}'],
)
@pytest.mark.parametrize("protocol", Protocol)
def test_spelling_a_letter_out_hides_nothing(body: bytes, protocol: Protocol) -> None:
    assert input_bound(body, protocol) == Bound(len(body), firm=False)


def test_escapes_that_json_writers_use_hide_nothing_either() -> None:
    body = rb'{"a":"\u003c\u00e9\u0026\u001f\u4e16\n\""}'
    assert input_bound(body, CHAT) == Bound(len(body), firm=True)


def chat_image(data: str, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}}


def responses_image(data: str, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "input_image", "image_url": f"data:{mime};base64,{data}"}


def messages_image(data: str, mime: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "data": data, "media_type": mime}}


@pytest.mark.parametrize("magic", [PNG, JPEG, GIF, WEBP])
@pytest.mark.parametrize("size", [80, 1000, 40_000])
@pytest.mark.parametrize(
    ("protocol", "form"),
    [(CHAT, chat_image), (RESPONSES, responses_image), (MESSAGES, messages_image)],
)
def test_a_picture_counts_what_it_can_come_to(protocol: Protocol, form: Any, magic: bytes, size: int) -> None:
    data = encoded(magic, size)
    for body in written([form(data), {"type": "text", "text": "what is it?"}, form(data)]):
        escaped = len(data.replace("/", "\\/")) if b"\\/" in body else size
        assert input_bound(body, protocol) == Bound(len(body) + 2 * (IMAGE_TOKENS - escaped), firm=True)


def test_a_picture_of_another_kind_is_known_by_its_data_url() -> None:
    [body, *_] = written([chat_image(encoded(b"....ftypavif", 4000), "image/avif")])
    assert input_bound(body, CHAT) == Bound(len(body) - 4000 + IMAGE_TOKENS, firm=True)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,%s"}},
        {"type": "input_file", "filename": "a.pdf", "file_data": "%s"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "%s"}},
    ],
)
def test_a_pdf_counts_by_its_bytes_up_to_a_hundred_pages_and_is_a_guess(part: dict[str, Any]) -> None:
    for size in (4000, MOST_FILE_TOKENS, 2_000_000):
        body = json.dumps([part]).replace("%s", encoded(PDF, size)).encode()
        most = len(body) - size + min(size, MOST_FILE_TOKENS)
        assert input_bound(body, CHAT) == Bound(most, firm=False)


def test_sound_counts_by_its_bytes_and_a_long_one_is_a_guess() -> None:
    for size, firm in ((40_000, True), (1_000_000, False)):
        part = {"type": "input_audio", "input_audio": {"data": encoded(WAVE, size), "format": "wav"}}
        [body, *_] = written([part])
        assert input_bound(body, CHAT) == Bound(len(body) - size + min(size, MOST_FILE_TOKENS), firm=firm)


@pytest.mark.parametrize(
    "text",
    [
        "data:image/png;base64," + "iVBORw0KGgo" + "A" * 2000 + " and then words",
        "data:image/png;base64," + "世界" * 1000,
        "data:image/png;base64,iVBORw0KGgo" + "A" * 1100 + "世界" * 1000,
        "data:image/png;base64,",
        "data:image/png;base64,iVBORw0KGgo" + "A" * 3000,
        "iVBORw0KGgo" + "A" * 3000,
    ],
)
def test_text_is_no_picture(text: str) -> None:
    for body in written(text):
        assert input_bound(body, CHAT) == Bound(len(body), firm=True)


def test_words_after_a_picture_s_beginning_are_counted() -> None:
    for rest in ("世界" * 1000, " and then words" * 300):
        for body in written([chat_image(encoded(PNG, 2000) + rest)]):
            assert input_bound(body, CHAT) == Bound(len(body), firm=True)


def test_what_stands_in_a_file_is_not_counted_twice() -> None:
    data = "A" * 2000 + ";base64," + "A" * 2000
    body = json.dumps({"data": data}).encode()
    assert input_bound(body, MESSAGES).tokens == len(body)


def test_a_request_beside_a_picture_is_looked_at_too() -> None:
    [body, *_] = written([chat_image(encoded(PNG, 4000))], web_search_options={})
    assert input_bound(body, CHAT) == Bound(len(body) - 4000 + IMAGE_TOKENS, firm=False, searches=SEARCHES)


def test_a_string_without_an_end_is_no_file() -> None:
    for body in (b'{"data":"' + b"A" * 5000, b'{"data"', b'{"url":"data:image/png;base64,', b""):
        assert input_bound(body, CHAT) == Bound(len(body), firm=True)


def test_a_crowd_of_files_is_counted_by_bytes_in_the_end() -> None:
    tiny = json.dumps(chat_image(encoded(PNG, 12))).encode()
    body = b"[" + b",".join([tiny] * 1500) + b"]"
    assert input_bound(body, CHAT).tokens == len(body) + 1000 * (IMAGE_TOKENS - 12)
