"""What answers cost, to the last digit, in every pair and form: row, books, the operator's own cost."""

from decimal import Decimal

import pytest
from tests.harness import notation as n
from tests.harness.crossing import MODES
from tests.harness.dialects import CHAT, MESSAGES, SIDES, Side
from tests.harness.pairs import NINE, Pair
from tests.harness.till import Till, chat_steps, cost, messages_steps, responses_steps
from tests.harness.together import together

every_side = pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
B078: dict[str, tuple[list[bytes], str, str]] = {
    "chat": (
        chat_steps(
            {"prompt_tokens": 10000, "completion_tokens": 100, "total_tokens": 10100}
            | {"prompt_tokens_details": {"cached_tokens": 9000}}
        ),
        "0.024000000",
        "0.020800000",
    ),
    "messages": (
        messages_steps(
            {"input_tokens": 6, "cache_creation_input_tokens": 159217, "cache_read_input_tokens": 0}
            | {"output_tokens": 1},
            {"output_tokens": 2745},
        ),
        "2.127522500",
        "0.340406000",
    ),
    "responses": (
        responses_steps(
            {"input_tokens": 1000, "output_tokens": 50, "total_tokens": 1050}
            | {"input_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 40}}
        ),
        "0.004500000",
        "0.002400000",
    ),
}
"""Events of an answer, what the caller pays for it, and what it costs the operator."""


async def test_b078_the_billing_matrix(priced: Till) -> None:
    purse = await priced.purse("1000")

    async def charged(pair: Pair, mode: str) -> None:
        steps, price, own = B078[pair.channel.name]
        row = await (await purse.asked(pair, mode=mode, steps=steps)).row()
        assert (row["cost"], row["usage_source"], row["warnings"]) == (price, "upstream", [])
        assert [attempt["upstream_cost"] for attempt in row["attempts"]] == [own]
        assert sum(Decimal(item["amount"]) for item in row["items"]) == Decimal(price)

    await together({f"{pair.name}, {mode}": charged(pair, mode) for pair in NINE for mode in MODES})
    spent = sum(Decimal(B078[pair.channel.name][1]) for pair in NINE for _ in MODES)
    await purse.settled(1000 - spent)


CHAT_USAGE = {"prompt_tokens": 9, "completion_tokens": 50, "total_tokens": 59}
COUNTED: dict[str, tuple[Side, list[bytes], str]] = {
    "b070": (
        CHAT,
        chat_steps(
            {"prompt_tokens": 1000, "completion_tokens": 7}
            | {"prompt_tokens_details": {"cached_tokens": 900}}
        ),
        cost(fresh=100, read=900, output=7),
    ),
    "b073": (
        CHAT,
        [n.data({**n.chunk([]), "id": "", "object": ""}), n.data(n.chunk(None)), *chat_steps(CHAT_USAGE)],
        cost(fresh=9, output=50),
    ),
    "b075": (
        MESSAGES,
        messages_steps(
            {"input_tokens": 27, "cache_read_input_tokens": 100, "output_tokens": 1},
            {"input_tokens": 27, "cache_read_input_tokens": 100, "output_tokens": 47},
        ),
        cost(fresh=27, read=100, output=47),
    ),
    "b076": (
        MESSAGES,
        messages_steps(
            {"input_tokens": 2230, "output_tokens": 1},
            {"input_tokens": 12284, "output_tokens": 9, "server_tool_use": {"web_search_requests": 1}},
        ),
        cost(fresh=12284, output=9, searches=1),
    ),
    "b081": (
        CHAT,
        chat_steps({**CHAT_USAGE, "completion_tokens_details": {"reasoning_tokens": 30}}),
        cost(fresh=9, output=50),
    ),
    "b084 total": (CHAT, chat_steps({**CHAT_USAGE, "total_tokens": 7}), cost(fresh=9, output=50)),
    "b084 floats": (
        CHAT,
        chat_steps({"prompt_tokens": 9.0, "completion_tokens": 50.0, "total_tokens": None}),
        cost(fresh=9, output=50),
    ),
    "told twice": (
        CHAT,
        [*chat_steps(CHAT_USAGE)[:-1], n.u(CHAT_USAGE), n.u(CHAT_USAGE), n.DONE],
        cost(fresh=9, output=50),
    ),
    "cumulative": (
        CHAT,
        [
            n.k({"role": "assistant", "content": ""}),
            *(
                n.data(
                    n.chunk(
                        [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}],
                        usage={"prompt_tokens": 9, "completion_tokens": said, "total_tokens": 9 + said},
                    )
                )
                for said in range(1, 6)
            ),
            n.k({}, "stop"),
            n.u({"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}),
            n.DONE,
        ],
        cost(fresh=9, output=5),
    ),
    "an hour": (
        MESSAGES,
        messages_steps(
            {"input_tokens": 10, "cache_creation_input_tokens": 500, "cache_read_input_tokens": 7}
            | {"cache_creation": {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 200}}
            | {"output_tokens": 1},
            {"output_tokens": 12},
        ),
        cost(fresh=10, read=7, write=300, hour=200, output=12),
    ),
}


async def test_what_is_counted_costs_the_same_for_every_caller(priced: Till) -> None:
    purse = await priced.purse("1000")

    async def charged(pair: Pair, mode: str, steps: list[bytes], price: str) -> None:
        row = await (await purse.asked(pair, mode=mode, steps=steps)).row()
        assert (row["cost"], row["usage_source"]) == (price, "upstream"), row

    cases = {
        f"{name}, {pair.name}, {mode}": charged(pair, mode, steps, price)
        for name, (channel, steps, price) in COUNTED.items()
        for pair in NINE
        if pair.channel is channel
        for mode in MODES
    }
    await together(cases)
