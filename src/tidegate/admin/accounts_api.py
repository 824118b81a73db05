"""What accounts have besides their settings: balances, payments, refunds, and the ledger."""

from collections.abc import Sequence
from http import HTTPStatus

from aiohttp import web

from tidegate.admin.amounts import read_opening, read_payment, read_refund
from tidegate.admin.answers import json_answer
from tidegate.admin.authors import author_of
from tidegate.admin.bodies import read_object
from tidegate.admin.catalog_api import PREFIX, CatalogApi
from tidegate.admin.catalog_json import Json, balance_json, entry_json, posting_json, refund_json
from tidegate.admin.parameters import read_known, read_limit, read_number, wrong
from tidegate.admin.ports import CatalogDesk, Entry, Fault, Invalid, LedgerDesk, Settings
from tidegate.admin.problems import Problem
from tidegate.ledger.entries import OPENING, Balance
from tidegate.ledger.refusals import BalanceTooLarge, ReferenceTaken
from tidegate.storage.audit import Author
from tidegate.storage.catalog import Kind

_ONE_BY_ONE = 3
"""Up to so many balances are asked for by name, more all at once."""


class AccountsApi:
    """The routes of accounts and of the ledger."""

    def __init__(self, desk: CatalogDesk, ledger: LedgerDesk | None) -> None:
        self._desk = desk
        self._books = ledger
        self._catalog = CatalogApi(Kind.ACCOUNTS, desk, self._balances, self._open)

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        self._catalog.add_to(app)
        app.router.add_post(f"{PREFIX}/accounts/{{name}}/credit", self.credit)
        app.router.add_post(f"{PREFIX}/requests/{{id}}/refund", self.refund)
        app.router.add_get(f"{PREFIX}/ledger", self.ledger)

    async def credit(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        account = (await self._catalog.wanted(request)).name
        amount, reference = read_payment(await read_object(request))
        ledger = self._ledger()
        credited = await ledger.by(author_of(request)).credit(account, amount, reference)
        balance = balance_json(await ledger.balance(account))
        return json_answer({"account": account, "reference": reference, "credited": credited, **balance})

    async def refund(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        amount, reference = read_refund(await read_object(request))
        ledger, identifier = self._ledger(), request.match_info["id"]
        done = await ledger.by(author_of(request)).refund(identifier, amount, reference)
        balance = balance_json(await ledger.balance(done.account))
        return json_answer({**refund_json(identifier, reference, done), **balance})

    async def ledger(self, request: web.Request) -> web.Response:
        given = read_known(request.query.items(), ("account", "limit", "before"))
        account, limit = given.get("account"), read_limit(given.get("limit"))
        if account is not None and not account.isprintable():
            raise wrong("account", "is no name of an account")
        before = read_number("before", given.get("before"))
        found = await self._ledger().postings(account, limit=limit + 1, before=before)
        shown = found[:limit]
        more = len(found) > limit
        return json_answer(
            {
                "data": [posting_json(posting) for posting in shown],
                "has_more": more,
                "next": str(shown[-1].number) if more else None,
            }
        )

    def _ledger(self) -> LedgerDesk:
        if self._books is None:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "this gateway keeps no ledger")
        return self._books

    async def _open(self, settings: Settings, author: Author) -> None:
        """Credit the opening balance first: if the rest then fails, trying again does not credit it twice."""
        if settings.get("balance") is None:
            return
        ledger = self._ledger()
        await self._desk.check(Kind.ACCOUNTS, settings)
        await open_balance(settings, ledger.by(author))

    async def _balances(self, entries: Sequence[Entry]) -> Sequence[Json]:
        if self._books is None:
            return [balance_json(None) for _ in entries]
        return await balances(entries, self._books)


async def open_balance(settings: Settings, ledger: LedgerDesk) -> None:
    """Credit the opening balance that checked settings of an account have; a second time changes nothing.

    Raises Invalid for one that the books do not take.
    """
    amount, name = read_opening(settings["balance"]), str(settings["name"])
    if not amount:
        return
    try:
        await ledger.credit(name, amount, f"{OPENING}{name}")
    except BalanceTooLarge as error:
        raise Invalid((Fault("balance", str(error), "name a smaller one"),)) from error
    except ReferenceTaken as error:
        mend = "leave it out, make the account prepaid, and credit it"
        raise Invalid((Fault("balance", f"was credited before: {error}", mend),)) from error


async def balances(entries: Sequence[Entry], ledger: LedgerDesk) -> Sequence[Json]:
    """What each of the accounts has."""
    if len(entries) <= _ONE_BY_ONE:
        return [balance_json(await ledger.balance(entry.name)) for entry in entries]
    known = {balance.account: balance for balance in await ledger.balances()}
    return [balance_json(known.get(entry.name, Balance(entry.name, 0, 0))) for entry in entries]


async def account_rows(entries: Sequence[Entry], desk: CatalogDesk, ledger: LedgerDesk) -> list[Json]:
    """Accounts with what they have."""
    told = await balances(entries, ledger)
    return [
        entry_json(entry, desk.doubts(entry)) | balance for entry, balance in zip(entries, told, strict=True)
    ]
