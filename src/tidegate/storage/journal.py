"""Takes the rows of finished requests and hands them to the writer."""

from tidegate.exchange.ports import RequestRecord
from tidegate.storage.items import REQUESTS
from tidegate.storage.writer import Writer


class BatchedJournal:
    """The journal port: a row reaches the database some tens of milliseconds after `write`."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def write(self, record: RequestRecord) -> None:
        """Take a row and return at once."""
        self._writer.put(REQUESTS, record)

    async def flush(self) -> None:
        """Return when all rows taken so far are in the database."""
        await self._writer.flush()
