"""How much a request is held for before the call, and how much of what is told after it is believed."""

from msgspec import Struct
from msgspec.structs import replace

from tidegate.core.usage import Usage
from tidegate.ledger.money import MOST, NANO, rounded
from tidegate.ledger.pricing import Rates, Tariff

LEAST_OUTPUT = 16
"""A request that cannot pay for so many tokens of output is refused."""
UNSEEN_INPUT = 200_000
"""What a provider may add to a prompt that came whole in the request: instructions, tools, what it cached."""
UNSEEN_OUTPUT = 32_768
"""What a model may produce beyond its limit and not show: thinking, which some do not count against it."""
MOST_INPUT = 10_000_000
"""No model reads more; the bound for a prompt that is not all in the request."""
MOST_OUTPUT = 10_000_000
"""No answer has more tokens, whatever limit its caller wrote."""
MOST_SEARCHES = 100
"""No answer takes more web searches."""


class Bounds(Struct, frozen=True, kw_only=True):
    """The most that a request can use.

    `firm` False: it refers to content that is not in its bytes (stored responses, file ids, URLs, tools that
    the provider runs), so that `input` is a guess.
    """

    input: int
    """Prompt tokens, of any class."""
    firm: bool
    output: int
    """Tokens for each choice."""
    choices: int = 1
    searches: int = 0
    """Web searches."""

    @property
    def credible_output(self) -> int:
        """Tokens of all choices that may be told without a doubt."""
        return min(self.output * self.choices, MOST_OUTPUT)


def worst(tariff: Tariff, tier: str | None, bounds: Bounds) -> int:
    """The most that a usage within the bounds can cost, whatever its classes and context tier; nano-USD."""
    tokens = bounds.output * bounds.choices
    return max(rounded(start + tokens * rates.output) for rates, start in _starts(tariff, tier, bounds))


def affordable_output(tariff: Tariff, tier: str | None, bounds: Bounds, granted: int) -> int:
    """The largest output limit for each choice that `granted` nano-USD cover, `bounds.output` at most.

    Zero where not even the prompt is covered.
    """
    if granted >= MOST:
        return bounds.output
    room = granted * NANO + NANO // 2 - 1  # the most atto-USD that are still rounded to `granted`
    least = bounds.output
    for rates, start in _starts(tariff, tier, bounds):
        if start > room:
            return 0
        if rates.output:
            least = min(least, (room - start) // (rates.output * bounds.choices))
    return least


def believed(usage: Usage, bounds: Bounds, produced: int) -> tuple[Usage, tuple[str, ...]]:
    """What of the told usage is charged, and a flag for each count that is more than possible.

    An impossible count says nothing, so the bound that the hold was made with is charged in its place; of
    the prompt fresh input is reduced first, then cache writes, then cache reads. `produced` is the bytes of
    output that came: a token is at least one byte.
    """
    flags = []
    prompt = (usage.input or 0) + (usage.cache_read or 0) + (usage.cache_write or 0)
    seen = bounds.input + UNSEEN_INPUT
    if prompt > (seen if bounds.firm else max(seen, MOST_INPUT)):
        flags.append("clamped:usage.input_tokens")
        usage = _with_prompt(usage, prompt, bounds.input)
    output = max(bounds.credible_output, produced)
    if (usage.output or 0) > output + UNSEEN_OUTPUT:
        flags.append("clamped:usage.output_tokens")
        reasoning = None if usage.reasoning is None else min(usage.reasoning, output)
        usage = replace(usage, output=output, reasoning=reasoning)
    if (usage.web_searches or 0) > max(bounds.searches, MOST_SEARCHES):
        flags.append("clamped:usage.web_searches")
        usage = replace(usage, web_searches=bounds.searches)
    return usage, tuple(flags)


def _starts(tariff: Tariff, tier: str | None, bounds: Bounds) -> list[tuple[Rates, int]]:
    """Each context tier that the prompt can reach; the most that all but output costs in it, in atto-USD."""
    longest = bounds.input
    starts = []
    for rates in tariff.rates(tier):
        if bounds.input > rates.above:
            starts.append((rates, longest * rates.prompt + bounds.searches * rates.search))
        longest = min(bounds.input, rates.above)
    return starts


def _with_prompt(usage: Usage, told: int, most: int) -> Usage:
    excess = told - most
    left = []
    for count in (usage.input, usage.cache_write, usage.cache_read):
        taken = min(count or 0, excess)
        excess -= taken
        left.append(None if count is None else count - taken)
    fresh, written, read = left
    hour = None if usage.cache_write_1h is None else min(usage.cache_write_1h, written or 0)
    return replace(usage, input=fresh, cache_write=written, cache_read=read, cache_write_1h=hour)
