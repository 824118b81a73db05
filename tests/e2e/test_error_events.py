"""Errors that an upstream tells after a status of success: whose they are, how the caller hears of them."""

import json

import pytest
from tests.harness import notation as n
from tests.harness.dialects import SIDES, Side, check_error_form
from tests.harness.script import Answer, body, stream
from tests.harness.stage import Stage
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)


async def _b_answers(stage: Stage, side: Side, failing: Answer) -> None:
    model = stage.model(side, "ab")
    script = side.script(model, ("from", " B"))
    played = await stage.play(side, failing, b=[stream(script.all)], model=model)
    assert played.stream.bytes() == script.bytes()
    assert [attempt["outcome"] for attempt in (await played.row())["attempts"]] == ["failed", "served"]


@every_side
async def test_what_an_error_says_of_the_request_does_not_bind_it(stage: Stage, side: Side) -> None:
    """Only a status makes it the request's own fault; with no channel left the answer says so anyway."""
    error = side.error_body("no such role", "invalid_request_error", "invalid_value")
    failed = n.response("failed", error={"code": "invalid_prompt", "message": "no such role"})
    match side.name:
        case "chat":
            events = [n.data(error)]
        case "responses":
            events = n.r(n.created(), ("response.failed", failed))
        case _:
            events = [n.ms(), n.aerr("invalid_request_error", "no such role")]

    async def alone(answer: Answer) -> None:
        played = await stage.play(side, answer)
        assert played.reply.status == 400
        assert check_error_form(side, played.reply)["message"] == "no such role"
        assert (await played.row())["outcome"] == "failed"

    whole = json.dumps(error).encode()
    await together(
        {
            "event": _b_answers(stage, side, stream(events)),
            "body": _b_answers(stage, side, body(whole)),
            "event alone": alone(stream(events)),
            "body alone": alone(body(whole)),
        }
    )
