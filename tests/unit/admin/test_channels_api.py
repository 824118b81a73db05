import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from aiohttp.test_utils import make_mocked_request
from tests.unit.admin.served import Api, served
from tests.unit.managed.stores import CHANNEL, node

from tidegate.admin.authors import AUTHOR
from tidegate.admin.channels_api import ChannelsApi
from tidegate.doctor.report import Report
from tidegate.routing.catalog import Channel, Duty
from tidegate.storage.audit import Author, Deed, Via


@pytest_asyncio.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    async with served(tmp_path) as running:
        yield running


@pytest.mark.parametrize("name", ["filed", "stored"])
async def test_a_channel_is_paused_drained_and_resumed(api: Api, name: str) -> None:
    await api("POST", "channels", CHANNEL)
    _, before, _ = await api("GET", f"channels/{name}")
    assert (before["state"], before["state_changed_at"], before["state_changed_by"]) == ("active", None, None)
    for word, duty in (("pause", Duty.PAUSED), ("drain", Duty.DRAINING), ("resume", Duty.ACTIVE)):
        status, shown, _ = await api("POST", f"channels/{name}/{word}")
        assert (status, shown["state"], shown["state_changed_by"]) == (200, duty.value, "admin")
        assert shown["state_changed_at"].endswith("Z")
        assert shown["version"] == before["version"], "the definition has not changed"
        [channel] = [one for one in api.node.live.state.config.channels if one.name == name]
        assert channel.duty is duty
        _, page, _ = await api("GET", "channels")
        assert {one["name"]: one["state"] for one in page["data"]}[name] == duty.value


async def test_what_cannot_be_done_is_told(api: Api) -> None:
    assert (await api("POST", "channels/nobody/pause"))[0] == 404
    status, problem, _ = await api("POST", "channels/filed/pause", {"for": "1h"})
    assert (status, problem["errors"][0]["field"]) == (422, "'for'")
    assert (await api("GET", "channels/filed/pause"))[0] == 405
    assert (await api("POST", "channels/filed/stop"))[0] == 404
    api.node.store.away = True
    assert (await api("POST", "channels/filed/pause"))[0] == 503


class _Endless:
    """An examination that its asker does not wait for."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def test(self, channel: Channel, model: str | None) -> Report:
        self.begun.set()
        await asyncio.sleep(60)
        raise AssertionError(channel, model)


async def test_a_test_stands_in_the_audit_log_though_its_asker_left(tmp_path: Path) -> None:
    told: list[Deed] = []
    async with node(tmp_path) as here:
        tester = _Endless()
        channels = ChannelsApi(here.desk, tester, lambda _author, deed: told.append(deed))
        asked = make_mocked_request("POST", "/admin/v1/channels/filed/test", match_info={"name": "filed"})
        asked[AUTHOR] = Author(operator="alice", via=Via.TOKEN)
        asking = asyncio.create_task(channels.test(asked))
        await tester.begun.wait()
        asking.cancel()
        await asyncio.wait([asking])
    assert asking.cancelled()
    changes = {"model": (None, None), "ok": (None, None)}
    assert told == [Deed(action="test", kind="channels", name="filed", changes=changes)]


async def test_a_process_that_calls_no_channels_tests_none(api: Api) -> None:
    assert (await api("POST", "channels/filed/test"))[0] == 503
    status, problem, _ = await api("POST", "channels/filed/test", {"model": 5})
    assert (status, problem["errors"][0]["field"]) == (422, "model")
    assert (await api("POST", "channels/nobody/test"))[0] == 404
    assert (await api("GET", "health"))[0] == 503
