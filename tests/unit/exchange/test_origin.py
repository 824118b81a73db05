"""A request that builds on a stored response goes where that is, if it is its account's."""

import pytest
from tests.unit.exchange.scene import FakeOwnership

from tidegate.core.failure import Failure, Kind, TidegateError
from tidegate.core.protocol import Protocol
from tidegate.exchange.origin import find_group
from tidegate.protocols.base import Asked

WITHIN = {"g", "h"}


def asked(responses: tuple[str, ...] = (), items: tuple[str, ...] = ()) -> Asked:
    return Asked(
        protocol=Protocol.RESPONSES, body=b"", members={}, model="m", response_ids=responses, item_ids=items
    )


def owners() -> FakeOwnership:
    known = FakeOwnership()
    known.remember(["resp_1", "msg_1"], "acme", "g")
    known.remember(["resp_2"], "acme", "h")
    known.remember(["resp_3"], "other", "g")
    return known


@pytest.mark.parametrize(
    "named", [asked(("resp_1",)), asked(items=("msg_1",)), asked(("resp_1",), ("msg_1",))]
)
async def test_the_one_group(named: Asked) -> None:
    assert await find_group(owners(), named, "acme", WITHIN) == "g"


@pytest.mark.parametrize(
    ("named", "what", "param"),
    [
        (asked(("resp_9",)), "Previous response with id 'resp_9' not found.", "previous_response_id"),
        (asked(("resp_3",)), "Previous response with id 'resp_3' not found.", "previous_response_id"),
        (asked(items=("msg_9",)), "Item with id 'msg_9' not found.", "input"),
        (asked(("resp_1",), ("msg_9",)), "Item with id 'msg_9' not found.", "input"),
        (asked(("resp_1",), ("resp_2",)), "Item with id 'resp_2' not found.", "input"),
    ],
)
async def test_anything_else_is_not_found(named: Asked, what: str, param: str) -> None:
    found = await find_group(owners(), named, "acme", WITHIN)
    assert isinstance(found, Failure)
    assert (found.kind, found.message, found.param) == (Kind.RESPONSE_NOT_FOUND, what, param)


async def test_a_group_that_does_not_serve_the_model_is_out_of_reach() -> None:
    found = await find_group(owners(), asked(("resp_1",)), "acme", {"h"})
    assert isinstance(found, Failure)
    assert found.kind is Kind.RESPONSE_NOT_FOUND


async def test_a_long_id_is_told_shortly() -> None:
    found = await find_group(owners(), asked(("x" * 9_000,)), "acme", WITHIN)
    assert isinstance(found, Failure)
    assert len(found.message) < 200


async def test_what_cannot_be_found_out_is_no_lie() -> None:
    broken = owners()
    broken.fault = TidegateError(Failure(kind=Kind.INTERNAL, message="no database"))
    found = await find_group(broken, asked(("resp_1",)), "acme", WITHIN)
    assert isinstance(found, Failure)
    assert found.kind is Kind.INTERNAL
