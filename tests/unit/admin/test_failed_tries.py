import asyncio

from tidegate.admin.failed_tries import FailedTries
from tidegate.storage.audit import Author, Deed, Via


async def test_the_first_is_told_at_once_and_many_together() -> None:
    told: list[tuple[Author, Deed]] = []
    tries = FailedTries(Via.TOKEN, lambda author, deed: told.append((author, deed)), every=0.05)
    tries.add("192.0.2.1")
    assert [(author.address, deed.changes["tries"]) for author, deed in told] == [("192.0.2.1", (None, 1))]
    for number in range(100):
        tries.add(f"192.0.2.{number}")
    assert len(told) == 1
    async with asyncio.timeout(60):
        while len(told) < 2:
            await asyncio.sleep(0.01)
    author, deed = told[1]
    assert (author.operator, author.via, author.address) == (None, Via.TOKEN, None)
    assert deed.changes["tries"] == (None, 100)
    _, addresses = deed.changes["addresses"]
    assert isinstance(addresses, list)
    assert len(addresses) == 10
    tries.close()


async def test_what_is_not_told_yet_is_told_at_the_end() -> None:
    told: list[Deed] = []
    tries = FailedTries(Via.CONSOLE, lambda _author, deed: told.append(deed))
    tries.close()
    tries.add(None)
    tries.add(None)
    tries.close()
    assert [deed.changes["tries"] for deed in told] == [(None, 1), (None, 1)]
