"""The route that shows the audit log."""

from aiohttp import web

from tidegate.admin.answers import json_answer
from tidegate.admin.catalog_api import PREFIX
from tidegate.admin.parameters import read_known, read_limit, read_number, wrong
from tidegate.admin.ports import AuditReader
from tidegate.admin.resources import iso_time
from tidegate.storage.audit import Noted, Wanted

PATH = f"{PREFIX}/audit"
_FILTERS = Wanted.__struct_fields__


class AuditApi:
    """Who changed what."""

    def __init__(self, trail: AuditReader) -> None:
        self._trail = trail

    def add_to(self, app: web.Application) -> None:
        """Serve the route."""
        app.router.add_get(PATH, self.page)

    async def page(self, request: web.Request) -> web.Response:
        given = read_known(request.query.items(), ("limit", "before", *_FILTERS))
        for name in _FILTERS:
            if not given.get(name, "").isprintable():
                raise wrong(name, "holds characters that none has")
        limit, before = read_limit(given.get("limit")), read_number("before", given.get("before"))
        wanted = Wanted(**{name: given[name] for name in _FILTERS if name in given})
        found = await self._trail.page(wanted, limit=limit + 1, before=before)
        shown, more = found[:limit], len(found) > limit
        return json_answer(
            {
                "data": [audit_json(row) for row in shown],
                "has_more": more,
                "next": str(shown[-1].number) if more else None,
            }
        )


def audit_json(row: Noted) -> dict[str, object]:
    """One row of the audit log."""
    return {
        "number": str(row.number),
        "at": iso_time(row.at),
        "operator": row.author.operator,
        "via": row.author.via.value,
        "address": row.author.address,
        "action": row.deed.action,
        "kind": row.deed.kind,
        "name": row.deed.name,
        "changes": {field: list(pair) for field, pair in row.deed.changes.items()},
    }
