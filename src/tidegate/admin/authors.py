"""Who makes a request of the admin API, for whoever notes what was done."""

from aiohttp import web

from tidegate.admin.sessions import SignedIn
from tidegate.storage.audit import Author

AUTHOR: web.RequestKey[Author] = web.RequestKey("author", Author)
SESSION: web.RequestKey[SignedIn] = web.RequestKey("session", SignedIn)
"""Only where the request came with the cookie of one."""


def author_of(request: web.Request) -> Author:
    """Who asks; the border has seen to it that it is an operator."""
    return request[AUTHOR]
