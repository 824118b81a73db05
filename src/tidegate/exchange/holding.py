"""Places a request in its limits and holds the money that it may cost, before any channel is called."""

import asyncio
from collections.abc import Iterable, Sequence
from functools import partial

from msgspec import Struct, structs

from tidegate.core.failure import Failure, Kind
from tidegate.core.protocol import Protocol
from tidegate.exchange.estimates import BYTES_A_TOKEN
from tidegate.exchange.ports import ClientPipe, Intent, Limits
from tidegate.exchange.request import Request, World
from tidegate.exchange.snapshot import Snapshot
from tidegate.exchange.story import NOTHING
from tidegate.exchange.tab import Tab
from tidegate.ledger.books import may_pass
from tidegate.ledger.entries import Answer, Budget, Exhausted, Granted, Short, Unavailable
from tidegate.ledger.holds import LEAST_OUTPUT, Bounds, affordable_output, worst
from tidegate.ledger.money import usd
from tidegate.ledger.pricing import Tariff
from tidegate.protocols import output_limits
from tidegate.protocols.abilities import default_max_output_tokens
from tidegate.protocols.input_bound import Bound, input_bound
from tidegate.protocols.service_tier import asked_tier
from tidegate.routing.catalog import Account, Key
from tidegate.routing.plan import Plan
from tidegate.routing.quota import Admitted, Limited, Scope, Verdict
from tidegate.routing.rate_limit_headers import limited_failure, rate_limit_headers

INLINE_BODY = 65_536
"""Bytes of a request that are bounded at once, in less than a millisecond; longer ones on a thread."""


LOOKS_AGAIN = (0.01, 0.05)
"""Seconds between looks for a free place: that a request has ended is told a moment after its last byte."""

LOOKS_AGAIN_FOR_MONEY = (0.02, 0.08)
"""The same for money that is held: another process books the end of a request up to 60 ms later."""

LAST_LOOK_FOR_MONEY = 0.5
"""Seconds after which a refusal stands: books that answer so slowly would keep the caller for nothing."""


class Need(Struct, frozen=True):
    """What a request may cost at most and what must be covered at least, in nano-USD."""

    amount: int
    least: int


async def open_tab(request: Request, plan: Plan, pipe: ClientPipe) -> Failure | None:
    """Take a request into its limits and hold its money; the Failure turns it away.

    What was taken is given back when the request's row is written. May be cancelled.
    """
    account = request.snapshot.catalog.account(request.key.account)
    body = request.asked.body
    if len(body) > INLINE_BODY:
        bound = await asyncio.to_thread(input_bound, body, request.asked.protocol)
    else:
        bound = input_bound(body, request.asked.protocol)
    limit = output_limits.asked_limit(request.asked)
    limited = await _take_place(request, account, bound, limit, pipe)
    if limited is not None or request.counts:
        return limited
    return await _hold(request, plan, account, bound, limit)


async def _take_place(
    request: Request, account: Account, bound: Bound, limit: int | None, pipe: ClientPipe
) -> Failure | None:
    scopes = scopes_of(request.key, account)
    if not scopes:
        return None
    story, world = request.story, request.world
    estimated = bound.tokens // BYTES_A_TOKEN + (limit or 0) * request.asked.choices
    verdict = await _admit(world.limits, story.incoming.id, scopes, estimated)
    pipe.add_headers(rate_limit_headers(verdict.levels, request.asked.protocol, world.wall()))
    match verdict:
        case Limited():
            world.tally.refuse(verdict.what, verdict.scope.partition(":")[0])
            return limited_failure(verdict)
        case Admitted():
            empty = Bounds(input=bound.tokens, firm=bound.firm, output=limit or 0, choices=1)
            story.tab = Tab(
                cost_of=partial(_cost_of, request.snapshot), bounds=empty, scopes=scopes, estimated=estimated
            )
            return None


async def _admit(limits: Limits, request_id: str, scopes: Sequence[Scope], tokens: int) -> Verdict:
    """A caller that asks again as soon as it has its answer must find its place free, on any worker."""
    verdict = await limits.admit(request_id, scopes, tokens)
    for pause in LOOKS_AGAIN:
        if not isinstance(verdict, Limited) or verdict.what != "concurrency":
            break
        await asyncio.sleep(pause)
        verdict = await limits.admit(request_id, scopes, tokens)
    return verdict


async def _hold(
    request: Request, plan: Plan, account: Account, bound: Bound, limit: int | None
) -> Failure | None:
    snapshot, story = request.snapshot, request.story
    tariff = snapshot.tariffs.of(snapshot.catalog.model(request.asked.model).price)
    tier = asked_tier(request.asked)
    if tariff is not None and account.prepaid and not tariff.has_tier(tier):
        message = f"The service tier `{tier}` has no price here."
        return Failure(kind=Kind.UNSUPPORTED_VALUE, message=message, param="service_tier")
    place = story.tab
    story.tab = tab = Tab(
        cost_of=partial(_cost_of, snapshot),
        bounds=Bounds(
            input=bound.tokens,
            firm=bound.firm and not (request.asked.response_ids or request.asked.item_ids),
            output=_bound_of_output(request, plan, limit),
            choices=request.asked.choices,
            searches=bound.searches,
        ),
        tariff=tariff,
        tier=tier,
        scopes=() if place is None else place.scopes,
        estimated=0 if place is None else place.estimated,
    )
    need = needed(tab, may_shrink=limit is None)
    intent = Intent(
        record=story.interrupted(story.incoming.accepted_at, NOTHING),
        amount=need.amount,
        least=need.least,
        prepaid=account.prepaid,
        budgets=budgets_of(request.key, account),
    )
    return _answered(await _booked(request.world, intent), need, tab, request)


async def _booked(world: World, intent: Intent) -> Answer:
    """A caller that asks again as soon as it has its answer must find that hold freed, on any worker."""
    last_look = world.clock() + LAST_LOOK_FOR_MONEY
    answer = await world.books.hold(intent)
    for pause in LOOKS_AGAIN_FOR_MONEY:
        passes = isinstance(answer, Short | Exhausted) and may_pass(answer)
        if not passes or world.clock() >= last_look:
            break
        await asyncio.sleep(pause)
        answer = await world.books.hold(intent)
    return answer


def _answered(answer: Answer, need: Need, tab: Tab, request: Request) -> Failure | None:
    match answer:
        case Granted(amount):
            if amount:
                tab.held = amount
                request.world.tally.hold(amount)
            # Less than the least is held where the books can hold no more: that is no limit of the answer.
            if tab.tariff is not None and need.least <= amount < need.amount:
                lower = affordable_output(tab.tariff, tab.tier, tab.bounds, amount)
                tab.bounds = structs.replace(tab.bounds, output=lower)
                request.preparer.limit_output(lower)
            return None
        case Short(needed=least, available=available):
            request.world.tally.refuse("balance", "account")
            return _not_covered(least, available)
        case Exhausted() as exhausted:
            budget = exhausted.budget
            request.world.tally.refuse(f"budget_{budget.period}", budget.scope.partition(":")[0])
            return _over_budget(exhausted)
        case Unavailable(why, retry_after):
            message = "The request cannot be booked now; try again."
            return Failure(kind=Kind.ACCOUNTING, message=message, retry_after=retry_after, detail=why)


def needed(tab: Tab, *, may_shrink: bool) -> Need:
    """What to hold. `may_shrink`: the caller set no output limit, so a lower one can be set."""
    tariff, tier, bounds = tab.tariff, tab.tier, tab.bounds
    if tariff is None:
        return Need(0, 0)
    amount = worst(tariff, tier, bounds)
    if not may_shrink or bounds.output <= LEAST_OUTPUT:
        return Need(amount, amount)
    return Need(amount, worst(tariff, tier, structs.replace(bounds, output=LEAST_OUTPUT)))


def scopes_of(key: Key, account: Account) -> tuple[Scope, ...]:
    """The key and the account as far as they have limits."""
    scopes = (
        Scope(
            name=f"{kind}:{owner.name}",
            max_concurrency=owner.max_concurrency,
            requests_per_minute=owner.requests_per_minute,
            tokens_per_minute=owner.tokens_per_minute,
        )
        for kind, owner in (("key", key), ("account", account))
        if owner.max_concurrency is not None
        or owner.requests_per_minute is not None
        or owner.tokens_per_minute is not None
    )
    return tuple(scopes)


def budgets_of(key: Key, account: Account) -> tuple[Budget, ...]:
    """The budgets that a request counts in."""
    return tuple(_budgets("key", key.name, key.budget_per_day, key.budget_per_month)) + tuple(
        _budgets("account", account.name, account.budget_per_day, account.budget_per_month)
    )


def _budgets(kind: str, name: str, day: int | None, month: int | None) -> Iterable[Budget]:
    if day is not None:
        yield Budget(f"{kind}:{name}", "day", day)
    if month is not None:
        yield Budget(f"{kind}:{name}", "month", month)


def _cost_of(snapshot: Snapshot, channel: str) -> Tariff | None:
    found = snapshot.catalog.channel(channel)
    return None if found is None else snapshot.tariffs.of(found.price)


def _bound_of_output(request: Request, plan: Plan, limit: int | None) -> int:
    """The most tokens of one choice: the limit that the channels can be told, else the model's maximum."""
    if limit is None:
        return _most_output(request, plan)
    asked, least = request.asked.protocol, output_limits.LEAST_ON_RESPONSES
    if limit >= least or asked is Protocol.RESPONSES:
        return limit
    planned = {planned.candidate.channel.protocol for planned in plan.attempts}
    return least if Protocol.RESPONSES in planned else limit


def _most_output(request: Request, plan: Plan) -> int:
    """The model's own limit: what is set for it, else what is known of the planned upstream models."""
    own = request.snapshot.catalog.model(request.asked.model).max_output_tokens
    if own is not None:
        return own
    names = {planned.candidate.upstream_model for planned in plan.attempts}
    return max((default_max_output_tokens(name) for name in names), default=LEAST_OUTPUT)


def _not_covered(needed_: int, available: int) -> Failure:
    message = (
        f"The balance does not cover this request: up to ${usd(needed_)} is needed,"
        f" ${usd(max(0, available))} is available beside what is held for running requests."
    )
    return Failure(kind=Kind.BILLING, message=message)


def _over_budget(exhausted: Exhausted) -> Failure:
    budget = exhausted.budget
    owner = "key" if budget.scope.startswith("key:") else "account"
    message = (
        f"The budget of this {owner} for the {budget.period} does not cover this request: up to"
        f" ${usd(exhausted.needed)} is needed, ${usd(max(0, exhausted.available))} of"
        f" ${usd(budget.limit)} is left."
    )
    return Failure(kind=Kind.RATE_LIMIT, message=message, retry_after=exhausted.retry_after)
