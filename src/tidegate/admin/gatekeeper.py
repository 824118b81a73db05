"""Decides who may use the admin API: an operator's token, or the cookie of a session."""

import asyncio
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from hmac import compare_digest
from http import HTTPStatus
from math import ceil

from aiohttp import web
from aiohttp.web_request import BaseRequest

from tidegate.admin import cookies
from tidegate.admin.authors import AUTHOR, SESSION
from tidegate.admin.failed_tries import FailedTries, Tell
from tidegate.admin.operators import Operators
from tidegate.admin.problems import Problem
from tidegate.admin.session_ids import csrf_token
from tidegate.admin.sessions import TRUSTED, Sessions, SignedIn
from tidegate.admin.throttle import Throttle
from tidegate.admin.visitors import Networks, Visitor, is_foreign, network_of, visitor
from tidegate.core.failure import TidegateError
from tidegate.storage.audit import Author, Via

CSRF_HEADER = "x-csrf-token"
_SAFE = ("GET", "HEAD")
_CHALLENGE = {"www-authenticate": 'Bearer realm="tidegate admin"'}


def judged_by_token(request: BaseRequest) -> bool:
    """Whether a token decides who asks, and not the cookie.

    With a cookie any other scheme, like Basic, is what a proxy in front asked the browser for.
    """
    has_cookie = cookies.read(request) is not None
    return "authorization" in request.headers and not (has_cookie and _bearer(request) is None)


class Gatekeeper:
    """Lets operators in, and nobody else."""

    def __init__(
        self,
        operators: Operators,
        sessions: Sessions,
        throttle: Throttle,
        trusted: Networks = (),
        tell: Tell = lambda _author, _deed: None,
    ) -> None:
        """`trusted` are the proxies that are believed where a request comes from.

        `tell` puts into the audit log that wrong tokens were sent.
        """
        self.operators = operators
        self.sessions = sessions
        self.throttle = throttle
        self.trusted = trusted
        self.tell = tell
        self._failed = {via: FailedTries(via, tell) for via in (Via.CONSOLE, Via.TOKEN)}

    def close(self) -> None:
        """Tell what is not told yet."""
        for tries in self._failed.values():
            tries.close()

    def visitor(self, request: BaseRequest) -> Visitor:
        """Where a request comes from."""
        return visitor(request.remote, _headers(request), self.trusted, tls=request.secure)

    async def admit(self, request: web.Request) -> None:
        """Note in the request who asks. Raises Problem for who may not."""
        identifier = cookies.read(request)
        if judged_by_token(request):
            request[AUTHOR] = self._by_token(request)
            return
        session = None if identifier is None else await self.sessions.find(identifier, self.operators)
        if session is None:
            raise unauthorized(
                "the session is over; sign in again"
                if identifier
                else "send the admin token as `Authorization: Bearer TOKEN`, or sign in"
            )
        if request.method not in _SAFE:
            self._check_change(request, session)
        request[SESSION] = session
        request[AUTHOR] = Author(
            operator=session.operator, via=Via.CONSOLE, address=self.visitor(request).address
        )

    def owner(self, visitor: Visitor, token: str) -> str:
        """Whose token was typed in. Raises Problem for a wrong one, or for any after too many."""
        wait = self.throttle.wait(network_of(visitor.address))
        if wait:
            raise _too_many(wait)
        return self._owner(visitor, token, Via.CONSOLE)

    def wrong_token(self, request: BaseRequest) -> Problem | None:
        """What is wrong with the token of a request that is not for the admin API; it counts as any other."""
        try:
            if "authorization" in request.headers:
                self._by_token(request)
        except Problem as problem:
            return problem
        return None

    async def while_signed_in(
        self, request: web.Request, answer: Awaitable[web.StreamResponse]
    ) -> web.StreamResponse:
        """The answer; one that takes long, as a stream does, ends soon after its session or its token."""
        watch = asyncio.create_task(self._end_with(request))
        try:
            return await answer
        finally:
            watch.cancel()

    async def _end_with(self, request: web.Request) -> None:
        is_in = True
        while is_in:
            await asyncio.sleep(TRUSTED)
            is_in = await self._is_still_in(request)
        if request.transport is not None:
            request.transport.abort()

    async def _is_still_in(self, request: web.Request) -> bool:
        session: SignedIn | None = request.get(SESSION)
        if session is None:
            return self.operators.owner(_bearer(request) or "") == request[AUTHOR].operator
        with suppress(TidegateError):
            return await self.sessions.find(session.id, self.operators) is not None
        return True

    def check_own_page(self, request: web.Request) -> None:
        """Raise Problem where a browser tells that another site's page asks."""
        if is_foreign(self.visitor(request), _headers(request)):
            raise Problem(HTTPStatus.FORBIDDEN, "a page of another site must not ask this")

    def _by_token(self, request: BaseRequest) -> Author:
        given = _bearer(request)
        if given is None:
            raise unauthorized("send the admin token as `Authorization: Bearer TOKEN`")
        where = self.visitor(request)
        # A right one is always let in: nobody can lock out a program by guessing from where it runs.
        owner = self._owner(where, given, Via.TOKEN)
        return Author(operator=owner, via=Via.TOKEN, address=where.address)

    def _owner(self, visitor: Visitor, token: str, via: Via) -> str:
        owner = self.operators.owner(token)
        if owner is None:
            self._failed[via].add(visitor.address)
            wait = self.throttle.fail(network_of(visitor.address))
            raise _too_many(wait) if wait else unauthorized("the admin token is wrong")
        return owner

    def _check_change(self, request: web.Request, session: SignedIn) -> None:
        self.check_own_page(request)
        given = request.headers.get(CSRF_HEADER, "")
        if not compare_digest(given.encode("utf-8", "replace"), csrf_token(session.id).encode()):
            raise Problem(HTTPStatus.FORBIDDEN, f"the header {CSRF_HEADER} must hold the session's `csrf`")
        if request.body_exists:
            check_json(request)


def check_json(request: web.Request) -> None:
    """Raise Problem unless the body is called JSON: what a form of another site can send is not."""
    if request.content_type != "application/json":
        raise Problem(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "send the body with `content-type: application/json`"
        )


def _bearer(request: BaseRequest) -> str | None:
    """The bearer token that was sent; None where there is none."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else None


def unauthorized(detail: str) -> Problem:
    """A 401 that says how to come in."""
    return Problem(HTTPStatus.UNAUTHORIZED, detail, headers=_CHALLENGE)


def _too_many(wait: float) -> Problem:
    seconds = max(1, ceil(wait))
    return Problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        f"too many wrong tokens; try again in {seconds} s",
        headers={"retry-after": str(seconds)},
    )


def _headers(request: BaseRequest) -> Mapping[str, str]:
    return {name.lower(): ", ".join(request.headers.getall(name)) for name in set(request.headers)}
