from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from tests.unit.admin.fakes import gate
from tests.unit.admin.served import Api, served
from tests.unit.admin.test_app import BEARER, TOKEN, Journal

from tidegate.admin.app import create_admin_app

Client = TestClient[web.Request, web.Application]


@pytest_asyncio.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with served(tmp_path) as running:
        yield running


async def test_an_account_is_shown_with_what_it_has(api: Api) -> None:
    await api.books.credit("acme", 1_500_000_000, "x")
    _, shown, _ = await api("GET", "accounts/acme")
    assert (shown["balance"], shown["held"], shown["prepaid"]) == ("1.500000000", "0.000000000", True)


async def test_a_list_has_every_balance(api: Api) -> None:
    for name in "abcde":
        await api("POST", "accounts", {"name": name, "balance": "2.5"})
    await api("POST", "accounts", {"name": "f"})
    _, listed, _ = await api("GET", "accounts")
    shown = {one["name"]: one["balance"] for one in listed["data"]}
    assert shown == {"acme": "0.000000000", "f": "0.000000000"} | dict.fromkeys("abcde", "2.500000000")


async def test_an_opening_balance_is_credited_once(api: Api) -> None:
    status, made, _ = await api("POST", "accounts", {"name": "globex", "balance": "25.00"})
    assert (status, made["prepaid"], made["balance"]) == (201, True, "25.000000000")
    assert (await api("POST", "accounts", {"name": "globex", "balance": "25.00"}))[0] == 409
    await api("DELETE", "accounts/globex")
    status, problem, _ = await api("POST", "accounts", {"name": "globex", "balance": "30.00"})
    assert (status, problem["errors"][0]["field"]) == (422, "balance")
    assert "25.000000000 USD to globex already" in problem["detail"]
    assert (await api("GET", "accounts/globex"))[0] == 404
    _, again, _ = await api("POST", "accounts", {"name": "globex", "balance": "25.00"})
    assert again["balance"] == "25.000000000"
    assert [row.reference for row in api.books.rows] == ["opening:globex"]


async def test_an_account_that_is_refused_is_not_credited(api: Api) -> None:
    for more in ({"balance": "x"}, {"balance": "5", "unknown": 1}, {"balance": "5", "prepaid": False}):
        assert (await api("POST", "accounts", {"name": "globex", **more}))[0] == 422
    assert (await api("POST", "accounts", {"name": "acme", "balance": "5"}))[0] == 409
    assert api.books.rows == ()


async def test_a_payment_counts_once(api: Api) -> None:
    body = {"amount": "10.00", "reference": "invoice 7"}
    status, answer, _ = await api("POST", "accounts/acme/credit", body)
    assert status == 200
    assert answer == {
        "account": "acme",
        "reference": "invoice 7",
        "credited": True,
        "balance": "10.000000000",
        "held": "0.000000000",
    }
    _, again, _ = await api("POST", "accounts/acme/credit", body)
    assert (again["credited"], again["balance"]) == (False, "10.000000000")
    for path, amount in (("acme", "10.01"), ("other", "10.00")):
        await api("POST", "accounts", {"name": "other"})
        status, problem, _ = await api(
            "POST", f"accounts/{path}/credit", {"amount": amount, "reference": "invoice 7"}
        )
        assert (status, "10.000000000 USD to acme already" in problem["detail"]) == (409, True)
    _, other, _ = await api("POST", "accounts/acme/credit", {"amount": "0.5"})
    assert (other["credited"], other["balance"]) == (True, "10.500000000")


async def test_a_wrong_payment_is_named(api: Api) -> None:
    for body, field in (({}, "amount"), ({"amount": 5}, "amount"), ({"amount": "1", "to": "x"}, "to")):
        status, problem, _ = await api("POST", "accounts/acme/credit", body)
        assert (status, problem["errors"][0]["field"]) == (422, field)
    assert (await api("POST", "accounts/nobody/credit", {"amount": "1"}))[0] == 404
    assert api.books.rows == ()


async def test_a_balance_does_not_overflow(api: Api) -> None:
    await api("POST", "accounts/acme/credit", {"amount": "1000000000"})
    status, problem, _ = await api("POST", "accounts/acme/credit", {"amount": "0.000000001"})
    assert (status, problem["errors"][0]["field"]) == (422, "amount")
    status, problem, _ = await api("POST", "accounts", {"name": "globex", "balance": "1000000000"})
    assert status == 201
    await api("DELETE", "accounts/globex")
    await api("POST", "accounts", {"name": "initech"})
    await api("POST", "accounts/initech/credit", {"amount": "1"})
    await api("DELETE", "accounts/initech")
    status, problem, _ = await api("POST", "accounts", {"name": "initech", "balance": "1000000000"})
    assert (status, problem["errors"][0]["field"]) == (422, "balance")


async def test_a_refund_is_paid_once_and_never_more_than_was_charged(api: Api) -> None:
    await api("POST", "accounts/acme/credit", {"amount": "1"})
    api.books.charge("req_1", "acme", 300_000_000)
    body = {"amount": "0.1", "reference": "sorry"}
    status, answer, _ = await api("POST", "requests/req_1/refund", body)
    assert status == 200
    assert answer == {
        "request": "req_1",
        "account": "acme",
        "reference": "sorry",
        "refunded": True,
        "amount": "0.100000000",
        "balance": "0.800000000",
        "held": "0.000000000",
    }
    for again in (body, {"reference": "sorry"}):
        _, answer, _ = await api("POST", "requests/req_1/refund", again)
        assert (answer["refunded"], answer["amount"], answer["balance"]) == (
            False,
            "0.100000000",
            "0.800000000",
        )
    status, problem, _ = await api("POST", "requests/req_1/refund", {"amount": "0.2", "reference": "sorry"})
    assert (status, "0.100000000 USD for req_1 already" in problem["detail"]) == (409, True)
    status, problem, _ = await api("POST", "requests/req_1/refund", {"amount": "0.200000001"})
    assert (status, problem["errors"][0]["field"]) == (422, "amount")
    assert "0.200000000 USD are left" in problem["detail"]
    _, rest, _ = await api("POST", "requests/req_1/refund", {})
    assert (rest["refunded"], rest["amount"], rest["balance"]) == (True, "0.200000000", "1.000000000")
    assert (await api("POST", "requests/req_1/refund", {}))[0] == 409
    status, problem, _ = await api("POST", "requests/req_2/refund", {})
    assert (status, "nothing was charged" in problem["detail"]) == (409, True)
    _, ledger, _ = await api("GET", "ledger?limit=1")
    assert [(row["kind"], row["note"]) for row in ledger["data"]] == [("refund", "req_1")]


async def test_a_wrong_refund_is_named(api: Api) -> None:
    for body, field in (
        ({"amount": 5}, "amount"),
        ({"amount": "0"}, "amount"),
        ({"reference": ""}, "reference"),
    ):
        status, problem, _ = await api("POST", "requests/req_1/refund", body)
        assert (status, problem["errors"][0]["field"]) == (422, field)


async def test_the_ledger_comes_in_pages(api: Api) -> None:
    for number in range(5):
        await api.books.credit("acme" if number % 2 else "other", number + 1, f"p{number}")
    _, first, _ = await api("GET", "ledger?limit=2")
    assert [row["number"] for row in first["data"]] == [5, 4]
    assert (first["has_more"], first["next"]) == (True, "4")
    _, rest, _ = await api("GET", "ledger?limit=2&account=other&before=4")
    assert [row["amount"] for row in rest["data"]] == ["0.000000003", "0.000000001"]
    assert (rest["has_more"], rest["next"]) == (False, None)
    assert rest["data"][0]["at"] == "2023-11-14T22:13:20.500Z"


@pytest.mark.parametrize("query", ["before=x", "before=0", "before=-1", "limit=501", "account=%00", "from=1"])
async def test_a_wrong_question_to_the_ledger_is_a_400(api: Api, query: str) -> None:
    status, problem, _ = await api("GET", f"ledger?{query}")
    assert (status, problem["parameter"]) == (400, query.split("=", maxsplit=1)[0])


async def test_books_that_are_away_are_a_503(api: Api) -> None:
    api.books.away = True
    for method, path, body in (
        ("GET", "accounts/acme", None),
        ("GET", "ledger", None),
        ("POST", "accounts/acme/credit", {"amount": "1"}),
        ("POST", "accounts", {"name": "globex", "balance": "1"}),
        ("POST", "requests/req_1/refund", {}),
    ):
        assert (await api(method, path, body))[0] == 503
    assert (await api("GET", "keys"))[0] == 200
    api.books.away = False
    assert (await api("GET", "accounts/globex"))[0] == 404


async def test_without_books_accounts_are_managed_all_the_same(api: Api) -> None:
    admin = create_admin_app(gate(TOKEN), Journal(), api.node.desk)
    async with TestClient(TestServer(admin)) as client:
        async with client.get("/admin/v1/accounts/acme", headers=BEARER) as answer:
            assert (await answer.json())["balance"] is None
        async with client.get("/admin/v1/ledger", headers=BEARER) as answer:
            assert answer.status == 503
        body = {"name": "globex", "balance": "1"}
        async with client.post("/admin/v1/accounts", json=body, headers=BEARER) as answer:
            assert answer.status == 503
