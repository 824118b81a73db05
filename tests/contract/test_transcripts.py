"""Golden transcripts: what an upstream of each protocol says must reach a caller of the same protocol."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.harness import sse
from tests.harness.dialects import CHAT, MESSAGES, RESPONSES, Side
from tests.harness.notation import Json
from tests.harness.script import Answer, body, pieces, stream
from tests.harness.stage import Stage

FOLDER = Path(__file__).parents[1] / "fixtures" / "transcripts"
SIDES = {side.name: side for side in (CHAT, RESPONSES, MESSAGES)}
STREAMS = sorted(FOLDER.glob("*/upstream.*.sse"))
WHOLES = sorted(FOLDER.glob("*/upstream.*.json"))


def _side(path: Path) -> Side:
    return SIDES[path.name.split(".")[1]]


def _expected(path: Path, model: str) -> bytes:
    """The transcript for the caller; where there is none, the upstream's with the caller's model name."""
    side = _side(path)
    told = path.with_name(f"{side.name}_to_{side.name}.sse")
    if told.exists():
        return told.read_bytes().replace(b"MODEL_ID", model.encode())
    return path.read_bytes().replace(f"up-{side.name}-model".encode(), model.encode())


def _pruned(value: Any) -> Any:
    """Without members that are null: they are the same as absent."""
    if isinstance(value, dict):
        return {key: _pruned(member) for key, member in value.items() if member is not None}
    return [_pruned(member) for member in value] if isinstance(value, list) else value


def _comparable(event: sse.Event) -> tuple[str | None, str | None, Any]:
    return event.name, event.id, event.data if event.data == "[DONE]" else _pruned(event.json())


def _name(path: Path) -> str:
    return f"{path.parent.name}-{_side(path).name}"


@pytest.mark.parametrize("size", [1, 7, 64, 0], ids=lambda size: f"by-{size or 'all'}")
@pytest.mark.parametrize("path", STREAMS, ids=_name)
async def test_streams(stage: Stage, path: Path, size: int) -> None:
    side, model = _side(path), stage.model(_side(path))
    content = path.read_bytes()
    played = await stage.play(side, Answer(pieces(content, size or len(content))), model=model)
    expected = sse.read(_expected(path, model))
    got = [_comparable(event) for event in played.stream.events]
    wanted = [_comparable(event) for event in expected.events]
    if path.parent.name == "10-upstream-cut":
        _check_cut(got.pop(), wanted.pop())
    else:
        assert played.stream.bytes() == expected.bytes()
    assert got == wanted


def _check_cut(got: tuple[str | None, str | None, Any], wanted: tuple[str | None, str | None, Any]) -> None:
    """The gateway's own last event: it may tell more about the response than the transcript does."""
    assert got[:2] == wanted[:2]
    more: Json = got[2]
    if "response" not in more:
        assert more == wanted[2]
        return
    assert {**more, "response": None} == {**wanted[2], "response": None}
    assert wanted[2]["response"].items() <= more["response"].items()


@pytest.mark.parametrize("path", WHOLES, ids=_name)
async def test_whole_answers(stage: Stage, path: Path) -> None:
    side = _side(path)
    upstream: Json = json.loads(path.read_text())
    played = await stage.play(side, body(path.read_bytes()), stream=False)
    assert played.reply.status == 200
    assert played.reply.json() == {**upstream, "model": played.model}


@pytest.mark.parametrize("path", WHOLES, ids=_name)
async def test_streams_are_gathered_to_whole_answers(stage: Stage, path: Path) -> None:
    """A caller who did not ask for a stream gets what the whole answer would have been."""
    side = _side(path)
    transcript = path.with_suffix(".sse").read_bytes()
    played = await stage.play(side, stream([transcript]), stream=False)
    assert played.reply.status == 200
    got, wanted = _pruned(played.reply.json()), _pruned(json.loads(path.read_text()))
    assert _essence(side, got) == _essence(side, wanted)


@pytest.mark.parametrize("path", WHOLES, ids=_name)
async def test_whole_answers_are_told_as_streams(stage: Stage, path: Path) -> None:
    """And the same stream, gathered again, is the same answer."""
    side = _side(path)
    content = path.read_bytes()
    told = await stage.play(side, body(content))
    gathered = await stage.play(side, stream([told.stream.bytes()]), stream=False)
    got, wanted = _pruned(gathered.reply.json()), _pruned(json.loads(content))
    assert _essence(side, got) == _essence(side, wanted)


def _essence(side: Side, answer: Any) -> Any:
    """What was said, why it ended and what it cost; ids, times and echoes may differ between the forms."""
    match side.name:
        case "chat":
            return [_chat_choice(choice) for choice in answer["choices"]], answer["usage"]
        case "responses":
            return answer["output"], answer["status"], answer.get("incomplete_details"), answer["usage"]
        case _:
            counts = {name: count for name, count in answer["usage"].items() if name.endswith("tokens")}
            return answer["content"], answer["stop_reason"], answer.get("stop_details"), counts


def _chat_choice(choice: Json) -> Json:
    """Empty text is no text: a stream's first chunk says `""` where a whole answer says null."""
    message = {key: value for key, value in choice["message"].items() if (key, value) != ("content", "")}
    return {**choice, "message": message, "logprobs": None}
