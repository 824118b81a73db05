"""What must hold of the money after every run."""

from tests.simulation import checks
from tests.simulation.checks import Told, words_in
from tests.simulation.disk import Disk
from tests.simulation.heard import Heard, hear
from tests.simulation.limits import LONGEST
from tests.simulation.real_disk import RealDisk
from tests.simulation.scenario import OUTPUT_PRICE, Errand, Scenario
from tests.simulation.speech import Told as ToldUsage
from tests.simulation.storage import PATIENCE
from tests.simulation.troubles import Troubles

from tidegate.exchange.holding import LAST_LOOK_FOR_MONEY, LOOKS_AGAIN, LOOKS_AGAIN_FOR_MONEY
from tidegate.exchange.ports import RequestRecord

_INPUT, _READ, _WRITE = 3_000, 300, 3_750
"""nano-USD per token, from the scenario's price."""
UNCHARGED = 1.0
"""Seconds of output that a kill may leave uncharged."""


def check_balances(scenario: Scenario, disk: Disk | RealDisk) -> None:
    """No prepaid account is overdrawn, unless an upstream told more than can be."""
    for account in scenario.accounts:
        balance = disk.balance(account.name)
        spent = sum(row.cost for row in disk.rows.values() if row.account == account.name)
        assert balance == scenario.balances.get(account.name, 0) - spent
        if account.prepaid and scenario.tastes.honest:
            assert balance >= 0, f"{account.name} is overdrawn: {balance}"
        one_day = abs(scenario.wall_jump) < 1000
        if account.budget_per_day is not None and scenario.tastes.honest and one_day:
            assert spent <= account.budget_per_day, f"{account.name} has spent {spent}"


def check_charge(told: Told, heard: Heard, row: RequestRecord) -> None:
    """The charge is for what was produced, and only then."""
    if row.outcome in ("rejected", "failed") or told.ask.errand is Errand.COUNT:
        assert row.cost == 0, f"{row.outcome}, but it costs {row.cost}"
        return
    accepted = bool(told.calls) and told.calls[-1].accepted
    if row.outcome == "client_closed" and not accepted:
        assert row.cost == 0, "no upstream had accepted it, but it costs something"
        return
    if not any(flag.startswith("clamped:usage") for flag in row.warnings):
        assert row.cost == _price(told, row), f"{row.cost}, but {_price(told, row)} is due"
    assert row.cost > 0 or told.calls[-1].play.speech.told is ToldUsage.ABSURD


def check_upstream_cost(told: Told, row: RequestRecord) -> None:
    """What the operator pays for the attempt that was served, by the channel's own price."""
    if row.outcome not in ("completed", "incomplete") or row.usage_source != "upstream" or not told.calls:
        return
    call, attempt = told.calls[-1], row.attempts[-1]
    if told.ask.errand is Errand.COUNT or call.play.speech.told is not ToldUsage.TRUE:
        return
    prompt = row.input_tokens + row.cache_read_tokens + row.cache_write_tokens
    due = None if call.channel.price is None else prompt * 2_000 + row.output_tokens * 8_000
    gone = told.reloaded_at is not None and attempt.upstream_cost is None
    assert attempt.upstream_cost == due or gone, f"{attempt.upstream_cost}, but the upstream costs {due}"


def check_turned_away(told: Told, row: RequestRecord, troubles: Troubles) -> None:
    """Nobody waits long to be turned away, and only who pays in advance is for the database's sake."""
    if row.outcome == "rejected":
        for_a_place = (1 + len(LOOKS_AGAIN)) * LONGEST + sum(LOOKS_AGAIN)
        for_money = LAST_LOOK_FOR_MONEY + max(LOOKS_AGAIN_FOR_MONEY) + PATIENCE
        longest = for_a_place + for_money + 0.1
        assert row.duration_ms <= 1000 * longest, f"turned away after {row.duration_ms} ms"
    if row.error_code == "accounting_unavailable":
        assert told.ask.key.account == "acme", "a postpaid account has to wait for the database"
        assert not troubles.none


def check_killed(told: Told, disk: Disk | RealDisk, troubles: Troubles, killed_at: float) -> None:
    """A request that the kill cut off: what it had produced until a second before is charged."""
    client, row = told.client, told.row
    heard = hear(told.ask.protocol, client)
    checks.check_one_answer(told, heard)
    if f"req_{told.ask.name}" in disk.admitted:
        assert row is not None, "admitted, but there is no row"
    if row is None:
        return
    if row.outcome != "interrupted":
        return  # its end was written just before
    assert row.cost == _price(told, row) or any(flag.startswith("clamped") for flag in row.warnings)
    call = told.calls[-1] if told.calls else None
    if call is None or not troubles.none or call.play.speech.told not in (ToldUsage.TRUE, ToldUsage.MISSING):
        return
    due = b"".join(data for time, data in client.writes if time < killed_at - UNCHARGED)
    words = words_in(due)
    assert row.output_tokens >= words, f"{words} words were heard in time, {row.output_tokens} are charged"


def check_kept(told: Told, disk: Disk | RealDisk) -> None:
    """The request was over when the process was killed, perhaps before its row was written."""
    if f"req_{told.ask.name}" in disk.admitted:
        assert told.row is not None, "admitted, but there is no row"


def _price(told: Told, row: RequestRecord) -> int:
    """What the row's counts cost by the prices in force when it was asked."""
    prompt = row.input_tokens * _INPUT + row.cache_read_tokens * _READ + row.cache_write_tokens * _WRITE
    later = told.reloaded_at is not None and told.client.asked_at >= told.reloaded_at
    return (prompt + row.output_tokens * OUTPUT_PRICE) * (2 if later else 1)
