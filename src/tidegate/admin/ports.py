"""What the admin API needs from the world."""

from typing import Protocol

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.pages import Filters, Page


class RequestReader(Protocol):
    """Reads the journal. A journal that cannot be read raises TidegateError."""

    async def page(self, filters: Filters, *, limit: int, before: str | None) -> Page:
        """The newest `limit` rows before a cursor or a request id; UnknownPosition if `before` is neither."""

    async def one(self, identifier: str) -> RequestRecord | None:
        """The row of a request, if there is one."""
