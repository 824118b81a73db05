"""Signing in and out over HTTP, and what the cookie may and may not do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from tests.unit.admin.fakes import Books, gate
from tests.unit.admin.test_app import Journal
from tests.unit.admin.test_sessions import Store
from tests.unit.managed.stores import node
from yarl import URL

from tidegate.admin.app import create_admin_app
from tidegate.admin.audit_api import AuditApi
from tidegate.admin.throttle import OF_ONE
from tidegate.storage import audit
from tidegate.storage.schema import audit as audit_table

TOKEN = "a-token-of-the-admin"
PROXIES = (ip_network("127.0.0.0/8"),)


class Trail:
    """The audit log of the sessions' database."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def page(self, wanted: audit.Wanted, *, limit: int, before: int | None) -> tuple[audit.Noted, ...]:
        return audit.read(self._store.connection, wanted, limit=limit, before=before)


class Browser:
    """Keeps the cookie by hand, so that each request says what it sends."""

    def __init__(self, client: TestClient[web.Request, web.Application], store: Store) -> None:
        self._client = client
        self.store = store
        self.cookie = ""
        self.csrf = ""

    async def ask(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie and (method, path) != ("POST", "session"):
            sent.setdefault("cookie", self.cookie)
        content = {"data": body} if isinstance(body, bytes) else {} if body is None else {"json": body}
        url = URL(f"/admin/v1/{path}", encoded=True)
        async with self._client.request(method, url, headers=sent, **content) as answer:
            text = await answer.text()
            read = await answer.json(content_type=None) if text else None
            return answer.status, read, {name.lower(): value for name, value in answer.headers.items()}

    async def sign_in(self, token: str = TOKEN, **headers: str) -> tuple[int, Any, dict[str, str]]:
        status, body, answered = await self.ask("POST", "session", {"token": token}, **headers)
        if status == 200:
            self.cookie, self.csrf = answered["set-cookie"].partition(";")[0], body["csrf"]
        return status, body, answered


@asynccontextmanager
async def browsing(folder: Path) -> AsyncIterator[Browser]:
    store = Store()
    audit_table.create(store.connection)
    async with node(folder) as here:
        books = Books(folder)
        app = create_admin_app(
            gate(TOKEN, store, PROXIES), Journal(), here.desk, books, more=[AuditApi(Trail(store))]
        )
        async with TestClient(TestServer(app)) as client:
            yield Browser(client, store)
        books.database.close()


async def test_signing_in_gives_a_cookie_that_no_script_reads(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        status, body, headers = await browser.sign_in()
        assert (status, body["operator"]) == (200, "admin")
        flags = {flag.strip().lower() for flag in headers["set-cookie"].split(";")[1:]}
        assert flags == {"httponly", "path=/admin/v1", "samesite=strict"}
        assert headers["cache-control"] == "no-store"
        assert TOKEN not in str(headers) + str(body)
        assert (await browser.ask("GET", "session"))[1] == body
        _, _, headers = await browser.sign_in(x_forwarded_proto="https")
        assert "; secure" in headers["set-cookie"].lower()


async def test_a_change_needs_the_token_against_forged_requests(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        await browser.sign_in()
        model = {"name": "haiku"}
        assert (await browser.ask("POST", "models", model))[0] == 403
        assert (await browser.ask("POST", "models", model, x_csrf_token="0" * 64))[0] == 403
        assert (await browser.ask("POST", "models", model, x_csrf_token=browser.csrf[:-1]))[0] == 403
        assert (await browser.ask("DELETE", "session"))[0] == 403
        assert (await browser.ask("POST", "models", model, x_csrf_token=browser.csrf))[0] == 201
        assert (await browser.ask("PATCH", "models/haiku", {}, x_csrf_token=browser.csrf))[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec_fetch_site": "cross-site"},
        {"sec_fetch_site": "same-site"},
    ],
)
async def test_a_page_of_another_site_changes_nothing(tmp_path: Path, headers: dict[str, str]) -> None:
    async with browsing(tmp_path) as browser:
        await browser.sign_in()
        status, problem, _ = await browser.ask(
            "POST", "models", {"name": "haiku"}, x_csrf_token=browser.csrf, **headers
        )
        assert (status, problem["status"]) == (403, 403)
        assert (await browser.sign_in(**headers))[0] == 403


async def test_what_a_form_can_send_is_not_taken(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        text = b'{"token": "%b"}' % TOKEN.encode()
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            assert (await browser.ask("POST", "session", text, content_type=kind))[0] == 415
        await browser.sign_in()
        status, _, _ = await browser.ask(
            "POST", "models", b'{"name": "a"}', content_type="text/plain", x_csrf_token=browser.csrf
        )
        assert status == 415


async def test_signing_out_ends_it(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        await browser.sign_in()
        status, _, headers = await browser.ask("DELETE", "session", x_csrf_token=browser.csrf)
        assert status == 204
        assert "max-age=0" in headers["set-cookie"].lower()
        status, problem, headers = await browser.ask("GET", "keys")
        assert (status, problem["detail"]) == (401, "the session is over; sign in again")
        assert "max-age=0" in headers["set-cookie"].lower()


async def test_a_wrong_token_beside_a_session_ends_no_session(tmp_path: Path) -> None:
    """A program's token decides about its request alone; the browser's cookie stays."""
    async with browsing(tmp_path) as browser:
        await browser.sign_in()
        status, _, headers = await browser.ask("GET", "keys", authorization="Bearer not-the-token")
        assert (status, "set-cookie" in headers) == (401, False)
        assert (await browser.ask("GET", "keys"))[0] == 200


@pytest.mark.parametrize("cookie", ["tidegate_session=", "tidegate_session=garbage", "x=y", "\x80;;=;"])
async def test_a_cookie_that_is_none_is_no_session(tmp_path: Path, cookie: str) -> None:
    async with browsing(tmp_path) as browser:
        for path in ("keys", "session"):
            assert (await browser.ask("GET", path, cookie=cookie))[0] == 401


async def test_a_bearer_token_is_no_session_and_goes_before_one(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        bearer = f"Bearer {TOKEN}"
        assert (await browser.ask("GET", "session", authorization=bearer))[0] == 401
        await browser.sign_in()
        assert (await browser.ask("POST", "models", {"name": "a"}, authorization=bearer))[0] == 201
        assert (await browser.ask("GET", "keys", authorization="Bearer wrong"))[0] == 401


async def test_a_password_for_a_proxy_in_front_does_not_hide_the_session(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        basic = "Basic YWxpY2U6c2VjcmV0"
        assert (await browser.ask("GET", "keys", authorization=basic))[0] == 401
        await browser.sign_in()
        assert (await browser.ask("GET", "keys", authorization=basic))[0] == 200
        assert (await browser.ask("POST", "models", {"name": "a"}, authorization=basic))[0] == 403


@pytest.mark.parametrize(
    "body",
    [{}, {"token": ""}, {"token": None}, {"token": 5}, {"token": "x" * 5000}, {"token": "a", "more": 1}],
)
async def test_a_sign_in_that_makes_no_sense_names_what_is_wrong(tmp_path: Path, body: Any) -> None:
    async with browsing(tmp_path) as browser:
        status, problem, _ = await browser.ask("POST", "session", body)
        assert status == 422
        assert {error["field"] for error in problem["errors"]} <= {"token", "more"}


async def test_a_sign_in_is_short(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        status, problem, _ = await browser.ask("POST", "session", {"token": TOKEN, "more": "x" * 40_000})
        assert (status, problem["status"]) == (413, 413)


async def test_who_guesses_is_slowed_down_and_a_right_bearer_token_gets_in(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        for number in range(OF_ONE.at_once):
            if number % 2:
                assert (await browser.sign_in("wrong"))[0] == 401
            else:
                assert (await browser.ask("GET", "keys", authorization="Bearer wrong"))[0] == 401
        for _ in range(3):
            status, problem, headers = await browser.sign_in()
            assert (status, problem["status"]) == (429, 429)
            assert 1 <= int(headers["retry-after"]) <= OF_ONE.every
        status, _, headers = await browser.ask("GET", "keys", authorization="Bearer wrong")
        assert status == 429
        assert "retry-after" in headers
        assert (await browser.ask("GET", "keys", authorization=f"Bearer {TOKEN}"))[0] == 200
        elsewhere = {"x_forwarded_for": "192.0.2.7"}
        assert (await browser.sign_in(**elsewhere))[0] == 200


async def test_a_database_that_is_away_is_told(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        await browser.sign_in()
        browser.store.away = True
        assert (await browser.sign_in())[0] == 503
        assert (await browser.ask("DELETE", "session", x_csrf_token=browser.csrf))[0] == 503


async def test_who_signed_in_stands_in_the_audit_log(tmp_path: Path) -> None:
    async with browsing(tmp_path) as browser:
        await browser.sign_in(x_forwarded_for="192.0.2.7")
        await browser.ask("DELETE", "session", x_csrf_token=browser.csrf)
        await browser.sign_in()
        _, page, _ = await browser.ask("GET", "audit?limit=2")
        assert [(row["action"], row["operator"], row["via"]) for row in page["data"]] == [
            ("sign_in", "admin", "console"),
            ("sign_out", "admin", "console"),
        ]
        _, rest, _ = await browser.ask("GET", f"audit?before={page['next']}&kind=sessions&operator=admin")
        assert [(row["action"], row["address"]) for row in rest["data"]] == [("sign_in", "192.0.2.7")]
        assert (await browser.ask("GET", "audit?name=%00"))[0] == 400
        assert (await browser.ask("GET", "audit?before=x"))[0] == 400
