"""The routes by which operators sign in and out of the console."""

from functools import partial
from http import HTTPStatus

from aiohttp import web

from tidegate.admin import cookies
from tidegate.admin.answers import json_answer
from tidegate.admin.authors import AUTHOR, SESSION
from tidegate.admin.bodies import read_object
from tidegate.admin.gatekeeper import Gatekeeper, check_json, unauthorized
from tidegate.admin.parameters import read_known
from tidegate.admin.ports import Fault
from tidegate.admin.problems import wrong_settings
from tidegate.admin.resources import iso_time
from tidegate.admin.session_ids import csrf_token
from tidegate.admin.sessions import SignedIn
from tidegate.storage.audit import Author, Deed, Via, note

PATH = "/admin/v1/session"
_LONGEST_TOKEN = 4096
_MOST_BYTES = 32_768
"""Of a sign-in: anybody may send one, so to read it must cost next to nothing."""


class SessionApi:
    """Opens, shows and ends sessions."""

    def __init__(self, gate: Gatekeeper) -> None:
        self._gate = gate

    def add_to(self, app: web.Application) -> None:
        """Serve the routes."""
        app.router.add_post(PATH, self.open)
        app.router.add_get(PATH, self.show)
        app.router.add_delete(PATH, self.close)

    async def open(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        self._gate.check_own_page(request)
        check_json(request)
        token = _token(dict(await read_object(request, _MOST_BYTES)))
        where = self._gate.visitor(request)
        operator = self._gate.owner(where, token)
        author = Author(operator=operator, via=Via.CONSOLE, address=where.address)
        deed = Deed(action="sign_in", kind="sessions")
        also = partial(note, author=author, deed=deed)
        session = await self._gate.sessions.open(
            operator, self._gate.operators, also, instead_of=cookies.read(request)
        )
        response = json_answer(_session_json(session))
        cookies.write(response, session.id, secure=where.secure)
        return response

    async def show(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        return json_answer(_session_json(_own(request)))

    async def close(self, request: web.Request) -> web.Response:
        read_known(request.query.items(), ())
        session = _own(request)
        deed = Deed(action="sign_out", kind="sessions")
        await self._gate.sessions.close(session.id, partial(note, author=request[AUTHOR], deed=deed))
        response = web.Response(status=HTTPStatus.NO_CONTENT)
        cookies.forget(response, secure=self._gate.visitor(request).secure)
        return response


def _own(request: web.Request) -> SignedIn:
    session: SignedIn | None = request.get(SESSION)
    if session is None:
        raise unauthorized("there is no session; the request came with a token")
    return session


def _token(body: dict[str, object]) -> str:
    token = body.pop("token", None)
    faults = [Fault(name[:50], "is not known here", "leave it out") for name in body]
    if not isinstance(token, str) or not token.strip() or len(token) > _LONGEST_TOKEN:
        faults.append(Fault("token", "must be an operator's token", "write it as text"))
    if faults:
        raise wrong_settings(faults)
    return str(token).strip()


def _session_json(session: SignedIn) -> dict[str, object]:
    return {
        "operator": session.operator,
        "expires_at": iso_time(session.expires_at),
        "csrf": csrf_token(session.id),
    }
