"""What must be covered before a request goes up, and what happens where it is not."""

import asyncio
import json
from decimal import Decimal
from typing import Any

import pytest
from msgspec import structs
from tests.unit.exchange.said import ASK, DONE, HELLO, STOP, STREAM, USAGE, WHOLE, answers, says
from tests.unit.exchange.scene import KEY, Scene, channel, turns

from tidegate.core.price import Price
from tidegate.core.protocol import Protocol
from tidegate.exchange import holding
from tidegate.exchange.holding import budgets_of, scopes_of
from tidegate.exchange.ports import Intent
from tidegate.ledger.entries import Answer, Budget, Exhausted, Granted, Short, Unavailable
from tidegate.routing.catalog import Account, Key, Model
from tidegate.routing.quota import Admitted, Level, Levels, Limited, Scope

PRICE = Price(
    input=Decimal(1), output=Decimal(2), cache_read=Decimal("0.1"), service_tiers={"priority": Decimal(2)}
)
PREPAID = Account(name="acme", prepaid=True)
IN, OUT = 1_000, 2_000
"""nano-USD a token."""


def priced(**members: Any) -> Model:
    return Model(name="m", first_event_timeout=120, idle_timeout=360, price=PRICE, **members)


def scene(*channels: Any, account: Account = PREPAID, key: Key = KEY, **model: Any) -> Scene:
    return Scene(*channels, models=[priced(**model)], accounts=[account], key=key)


async def test_the_hold_comes_before_the_call_and_covers_the_most_it_can_cost() -> None:
    played = scene()
    played.books.gate = asyncio.get_running_loop().create_future()
    await played.start({**STREAM, "max_tokens": 50, "n": 1})
    assert played.upstream.calls == []
    played.books.gate.set_result(None)
    played.upstream.plays.append(says(HELLO, STOP, USAGE, DONE))
    await played.over()
    [intent] = played.books.intents
    size = len(json.dumps({**STREAM, "max_tokens": 50, "n": 1}))
    assert intent.amount == intent.least == size * IN + 50 * OUT
    assert intent.prepaid
    record = intent.record
    assert (record.id, record.account, record.key, record.model) == ("req_1", "acme", "laptop", "m")
    assert (record.outcome, record.cost, record.channel) == ("interrupted", 0, None)
    assert played.row.cost == 7 * IN + 2 * OUT
    assert [item.name for item in played.row.items] == ["input", "output"]


async def test_n_choices_are_held_each() -> None:
    played = scene()
    body = {**STREAM, "max_completion_tokens": 50, "n": 3}
    await played.start(body)
    assert played.books.intents[0].amount == len(json.dumps(body)) * IN + 3 * 50 * OUT
    await played.leave()


@pytest.mark.parametrize(("model", "most"), [({"max_output_tokens": 900}, 900), ({}, 32_000)])
async def test_without_a_limit_the_models_own_is_held_and_16_tokens_are_the_least(
    model: dict[str, Any], most: int
) -> None:
    played = scene(**model)
    await played.start(STREAM)
    [intent] = played.books.intents
    prompt = len(json.dumps(STREAM)) * IN
    assert (intent.amount, intent.least) == (prompt + most * OUT, prompt + 16 * OUT)
    await played.leave()


@pytest.mark.parametrize(
    ("channels", "limit", "most"),
    [
        ([Protocol.RESPONSES], 4, 16),
        ([Protocol.CHAT, Protocol.RESPONSES], 4, 16),
        ([Protocol.RESPONSES], 17, 17),
        ([Protocol.CHAT, Protocol.MESSAGES], 4, 4),
    ],
)
async def test_a_limit_that_a_conversion_raises_is_held_as_it_goes_up(
    channels: list[Protocol], limit: int, most: int
) -> None:
    played = scene(*(channel(f"c{place}", protocol) for place, protocol in enumerate(channels)))
    body = {**STREAM, "max_tokens": limit}
    await played.start(body)
    [intent] = played.books.intents
    assert intent.amount == intent.least == len(json.dumps(body)) * IN + most * OUT
    await played.leave()


@pytest.mark.parametrize("protocol", [Protocol.CHAT, Protocol.MESSAGES, Protocol.RESPONSES])
async def test_a_smaller_grant_sets_the_limit_that_is_covered_and_says_so(protocol: Protocol) -> None:
    played = scene(channel("a", protocol))
    granted = len(json.dumps(STREAM)) * IN + 100 * OUT + OUT - 1
    played.books.answers.append(Granted(granted))
    await played.start(STREAM)
    sent = json.loads(played.call.request.body)
    name = {Protocol.CHAT: "max_completion_tokens", Protocol.MESSAGES: "max_tokens"}.get(
        protocol, "max_output_tokens"
    )
    assert sent[name] == 100
    await played.leave()
    assert "clamped:max_completion_tokens" in played.row.warnings


async def test_the_warning_is_in_the_header_of_the_answer() -> None:
    played = scene()
    played.books.answers.append(Granted(len(json.dumps(ASK)) * IN + 20 * OUT))
    await played.play(ASK, answers(WHOLE))
    assert played.pipe.warnings == "clamped:max_completion_tokens"


async def test_an_old_chat_channel_gets_the_limit_under_its_old_name() -> None:
    played = scene(channel(models={"m": "deepseek-chat"}))
    played.books.answers.append(Granted(len(json.dumps(STREAM)) * IN + 20 * OUT))
    await played.start(STREAM)
    assert json.loads(played.call.request.body)["max_tokens"] == 20
    await played.leave()


@pytest.mark.parametrize("limit", [{"max_tokens": 50}, {}])
async def test_where_the_books_can_hold_no_more_no_limit_is_set(limit: dict[str, int]) -> None:
    played = scene()
    played.books.answers.append(Granted(0))
    await played.play({**STREAM, **limit}, says(HELLO, STOP, USAGE, DONE))
    sent = json.loads(played.call.request.body)
    assert {name: sent[name] for name in sent if name.startswith("max_")} == limit
    assert played.pipe.warnings is None
    assert played.row.outcome == "completed"


async def test_what_is_not_covered_is_402_and_says_what_is_needed_and_there() -> None:
    played = scene()
    played.books.answers.append(Short(1_234_000, 99, 0))
    await played.play(STREAM)
    assert played.upstream.calls == []
    assert (played.pipe.status, played.pipe.error["code"]) == (402, "insufficient_balance")
    assert "$0.001234000 is needed" in played.pipe.error["message"]
    assert "$0.000000099 is available" in played.pipe.error["message"]
    assert (played.row.outcome, played.row.cost, played.row.status) == ("rejected", 0, 402)


async def test_a_used_up_budget_is_429_with_the_time_to_its_end() -> None:
    played = scene(key=structs.replace(KEY, budget_per_day=5))
    budget = Budget("key:laptop", "day", 5)
    played.books.answers.append(Exhausted(budget, 9, 2, 0, 3600.5))
    await played.play(STREAM)
    assert played.books.intents[0].budgets == (budget,)
    assert (played.pipe.status, played.pipe.error["code"]) == (429, "rate_limit_exceeded")
    assert played.pipe.headers["retry-after"] == "3601"
    assert "budget of this key for the day" in played.pipe.error["message"]


DAY = Budget("account:acme", "day", 9)
HELD_UP = [Short(9, 1, 8), Exhausted(DAY, 9, -1, 10, 3600.5)]
"""Refusals for what other requests hold."""


@pytest.mark.parametrize("refused", HELD_UP)
@pytest.mark.parametrize(("times", "outcome"), [(2, "completed"), (3, "rejected")])
async def test_money_that_others_hold_is_looked_for_again_twice(
    monkeypatch: pytest.MonkeyPatch, refused: Short | Exhausted, times: int, outcome: str
) -> None:
    monkeypatch.setattr(holding, "LOOKS_AGAIN_FOR_MONEY", (0.0, 0.0))
    played = scene()
    played.books.answers += [refused] * times
    answered = [says(HELLO, STOP, USAGE, DONE)] if outcome == "completed" else []
    await played.play(STREAM, *answered)
    assert played.row.outcome == outcome
    assert len(played.books.intents) == 3


async def test_slow_books_are_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three answers of a slow database in a row would keep a caller for many seconds."""
    played = scene()
    played.books.answers += [Short(9, 1, 8)] * 3
    hold = played.books.hold

    async def slowly(intent: Intent) -> Answer:
        played.clock.now += 0.3
        return await hold(intent)

    monkeypatch.setattr(played.books, "hold", slowly)
    monkeypatch.setattr(holding, "LOOKS_AGAIN_FOR_MONEY", (0.0, 0.0))
    await played.play(STREAM)
    assert (played.row.outcome, played.pipe.status) == ("rejected", 402)
    assert len(played.books.intents) == 2


@pytest.mark.parametrize(
    "refused", [Short(9, 1, 7), Exhausted(Budget("account:acme", "day", 9), 9, -2, 10, 1)]
)
async def test_who_would_not_be_covered_even_then_is_refused_at_once(refused: Short | Exhausted) -> None:
    played = scene()
    played.books.answers.append(refused)
    await played.play(STREAM)
    assert played.row.outcome == "rejected"
    assert len(played.books.intents) == 1


async def test_books_that_cannot_be_asked_are_503_with_a_time_to_wait() -> None:
    played = scene()
    played.books.answers.append(Unavailable("the database is away", 3))
    await played.play(STREAM)
    assert (played.pipe.status, played.pipe.headers["retry-after"]) == (503, "3")
    assert played.pipe.error["code"] == "accounting_unavailable"


async def test_a_fault_in_the_books_is_answered_and_noted() -> None:
    played = scene()
    played.books.fault = RuntimeError("a bug")
    await played.start(STREAM)
    with pytest.raises(RuntimeError, match="a bug"):
        await played.over()
    assert (played.pipe.status, played.row.outcome) == (500, "rejected")


async def test_a_client_that_leaves_while_the_hold_is_placed_has_its_row() -> None:
    played = scene(account=Account(name="acme", requests_per_minute=5))
    played.books.gate = asyncio.get_running_loop().create_future()
    await played.start(STREAM)
    await played.leave()
    assert (played.row.outcome, played.row.cost) == ("client_closed", 0)
    assert played.limits.finished == [("req_1", played.limits.admitted[0][2], 0)]


async def test_the_time_that_a_hold_takes_counts_in_the_silence_of_a_stream() -> None:
    played = Scene(commit_after=3.0)
    played.books.gate = asyncio.get_running_loop().create_future()
    await played.start(STREAM)
    played.clock.now += 2.5
    played.books.gate.set_result(None)
    await turns()
    played.call.head()
    played.pass_time(0.4)
    assert played.pipe.status is None
    played.pass_time(0.5)
    assert played.pipe.written == b": tidegate-keepalive\n"
    await played.leave()


async def test_a_service_tier_without_a_price_is_refused_for_prepaid_accounts_only() -> None:
    played = scene()
    await played.play({**STREAM, "service_tier": "flex"})
    assert (played.pipe.status, played.pipe.error["param"]) == (400, "service_tier")
    postpaid = scene(account=Account(name="acme"))
    await postpaid.play({**STREAM, "service_tier": "flex"}, says(HELLO, STOP, USAGE, DONE))
    assert postpaid.row.cost == 7 * IN + 2 * OUT


async def test_a_service_tier_with_a_price_multiplies() -> None:
    played = scene()
    await played.play({**STREAM, "service_tier": "priority"}, says(HELLO, STOP, USAGE, DONE))
    assert played.row.cost == 2 * (7 * IN + 2 * OUT)


async def test_a_model_without_a_price_has_an_intent_all_the_same() -> None:
    played = Scene(accounts=[PREPAID])
    await played.play(STREAM, says(HELLO, STOP, USAGE, DONE))
    [intent] = played.books.intents
    assert (intent.amount, intent.least, played.row.cost) == (0, 0, 0)


async def test_limits_come_first_and_get_the_true_count_at_the_end() -> None:
    played = scene(key=structs.replace(KEY, tokens_per_minute=1000))
    levels = Levels(requests=Level(60, 59, 1.0))
    played.limits.verdicts.append(Admitted(levels))
    body = {**STREAM, "max_tokens": 40}
    await played.play(body, says(HELLO, STOP, USAGE, DONE))
    scopes = (Scope(name="key:laptop", tokens_per_minute=1000),)
    estimated = len(json.dumps(body)) // 4 + 40
    assert played.limits.admitted == [("req_1", scopes, estimated)]
    assert played.limits.finished == [("req_1", estimated, 9)]
    assert dict(played.pipe.extra)["x-ratelimit-remaining-requests"] == "59"


async def test_a_full_limit_is_429_and_nothing_is_held() -> None:
    played = scene(key=structs.replace(KEY, requests_per_minute=60))
    levels = Levels(requests=Level(60, 0, 60.0))
    played.limits.verdicts.append(
        Limited(what="requests", scope="key:laptop", limit=60, retry_after=0.4, levels=levels)
    )
    await played.play(STREAM)
    assert (played.pipe.status, played.pipe.headers["retry-after"]) == (429, "1")
    assert dict(played.pipe.extra)["x-ratelimit-remaining-requests"] == "0"
    assert played.books.intents == []


def no_place() -> Limited:
    return Limited(what="concurrency", scope="key:laptop", limit=1, retry_after=1.0, levels=Levels())


async def test_a_place_that_is_free_a_moment_later_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "LOOKS_AGAIN", (0.0, 0.0))
    played = scene(key=structs.replace(KEY, max_concurrency=1))
    played.limits.verdicts += [no_place(), no_place()]
    await played.play(STREAM, says(HELLO, STOP, USAGE, DONE))
    assert played.row.outcome == "completed"
    assert len(played.limits.admitted) == 3


async def test_a_place_that_stays_taken_is_429(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "LOOKS_AGAIN", (0.0, 0.0))
    played = scene(key=structs.replace(KEY, max_concurrency=1))
    played.limits.verdicts += [no_place()] * 3
    await played.play(STREAM)
    assert played.pipe.status == 429
    assert len(played.limits.admitted) == 3


async def test_counting_tokens_takes_a_place_and_holds_nothing() -> None:
    played = scene(channel("a", Protocol.MESSAGES), key=structs.replace(KEY, max_concurrency=2))
    await played.start({"model": "m", "messages": ASK["messages"]}, Protocol.MESSAGES, counts=True)
    played.call.answer(200, b'{"input_tokens":3}')
    await played.over()
    assert played.books.intents == []
    assert len(played.limits.finished) == 1
    assert played.row.cost == 0


async def test_a_long_body_is_bounded_off_the_loop() -> None:
    played = scene()
    body = {**STREAM, "messages": [{"role": "user", "content": "x" * 70_000}]}
    await played.start(body)
    for _ in range(3_000):
        await asyncio.sleep(0.01)
        if played.books.intents:
            break
    assert played.books.intents[0].amount > 70_000 * IN
    await turns()
    await played.leave()


def test_scopes_and_budgets_are_those_that_are_set() -> None:
    key = structs.replace(KEY, max_concurrency=1, budget_per_month=7)
    account = Account(name="acme", tokens_per_minute=9, budget_per_day=8)
    assert scopes_of(key, account) == (
        Scope(name="key:laptop", max_concurrency=1),
        Scope(name="account:acme", tokens_per_minute=9),
    )
    assert budgets_of(key, account) == (
        Budget("key:laptop", "month", 7),
        Budget("account:acme", "day", 8),
    )
    assert scopes_of(KEY, Account(name="acme")) == ()


async def test_a_place_is_free_before_the_tokens_of_an_answer_are_counted() -> None:
    played = scene(account=Account(name="acme", max_concurrency=1))
    played.upstream.plays.append(says(HELLO, STOP, DONE))
    played.tokenizer.gate = asyncio.get_running_loop().create_future()
    await played.start(STREAM)
    await turns()
    assert played.pipe.ended
    assert [identifier for identifier, _, _ in played.limits.finished] == ["req_1"]
    assert not played.rows, "its row waits for the tokenizer"
    played.tokenizer.gate.set_result(None)
    await played.over()
    assert played.row.usage_source == "estimated"
