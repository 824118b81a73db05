import json
import sqlite3
from pathlib import Path
from typing import TypeVar

import pytest
from tests.unit.managed.stores import CHANNEL, FILE, node

from tidegate.admin.ports import DeclaredByFile, GoneMeanwhile, Invalid
from tidegate.config import build_catalog
from tidegate.core.secret import Secret
from tidegate.managed.live import LiveCatalog
from tidegate.managed.sealing import Vault
from tidegate.routing.catalog import Account, Channel, Duty, Key
from tidegate.storage.catalog import ChangedMeanwhile, InUse, Kind, NameTaken, NotThere, Task, remove

T = TypeVar("T")


def fields(error: pytest.ExceptionInfo[Invalid]) -> list[str]:
    return [fault.field for fault in error.value.faults]


async def test_a_key_is_made_with_a_secret_that_is_told_once(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        entry, secret = await here.desk.create(Kind.KEYS, {"name": "app", "account": "acme"})
        assert secret is not None
        assert isinstance(entry.value, Key)
        assert entry.origin is not None
        found = build_catalog(here.live.state.config).find_key(secret.reveal())
        assert found == entry.value
        assert secret.reveal() not in repr(here.live.state)
        assert secret.reveal() not in repr(here.live.stored)
        await here.desk.remove(Kind.KEYS, "app", entry.origin.version, revoke_keys=False)
        assert build_catalog(here.live.state.config).find_key(secret.reveal()) is None


async def test_what_is_deleted_before_its_maker_sees_it_is_told_as_such(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        change = here.live.change

        async def late(task: Task[T]) -> T:
            done = await change(task)
            await change(remove(Kind.KEYS, "app"))
            return done

        here.live.change = late  # type: ignore[method-assign]
        with pytest.raises(GoneMeanwhile):
            await here.desk.create(Kind.KEYS, {"name": "app"})


async def test_no_secret_reaches_the_file_readable(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.desk.create(Kind.CHANNELS, CHANNEL)
        _, secret = await here.desk.create(Kind.KEYS, {"name": "app"})
        assert secret is not None
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("tidegate.db*"))
    for hidden in ("sk-stored-credential", "search-team-secret", secret.reveal()):
        assert hidden.encode() not in stored
    assert b"claude-haiku-5" in stored


async def test_the_columns_are_as_they_should_be(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.desk.create(Kind.CHANNELS, CHANNEL)
    row = sqlite3.connect(tmp_path / "tidegate.db").execute("SELECT definition, sealed FROM catalog_channels")
    definition, sealed = row.fetchone()
    assert json.loads(definition) == {
        "protocol": "messages",
        "base_url": "https://api.example.org",
        "models": {"haiku": "claude-haiku-5"},
    }
    assert len(sealed) > 40


async def test_a_change_keeps_what_it_does_not_name(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.desk.create(Kind.CHANNELS, {**CHANNEL, "priority": 5, "weight": 3})
        changed = await here.desk.change(Kind.CHANNELS, "stored", {"weight": 7, "priority": None}, None)
        value = changed.value
        assert isinstance(value, Channel)
        assert (value.weight, value.priority, value.api_key) == (7, 0, Secret("sk-stored-credential"))
        assert value.headers == {"x-team": "search-team-secret"}
        bare = await here.desk.change(Kind.CHANNELS, "stored", {"api_key": None, "headers": {}}, None)
        assert isinstance(bare.value, Channel)
        assert (bool(bare.value.api_key), bare.value.headers) == (False, {})


async def test_a_changed_key_keeps_its_secret(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        _, secret = await here.desk.create(Kind.KEYS, {"name": "app", "models": ["sonnet"]})
        changed = await here.desk.change(Kind.KEYS, "app", {"models": None, "account": "acme"}, None)
        assert secret is not None
        assert build_catalog(here.live.state.config).find_key(secret.reveal()) == changed.value
        with pytest.raises(Invalid) as caught:
            await here.desk.change(Kind.KEYS, "app", {"account": "nobody"}, None)
        assert fields(caught) == ["account"]


async def test_a_change_needs_the_version_it_was_made_for(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        made, _ = await here.desk.create(Kind.MODELS, {"name": "haiku"})
        assert made.origin is not None
        changed = await here.desk.change(Kind.MODELS, "haiku", {"idle_timeout": 5}, made.origin.version)
        with pytest.raises(ChangedMeanwhile):
            await here.desk.change(Kind.MODELS, "haiku", {"idle_timeout": 6}, made.origin.version)
        with pytest.raises(ChangedMeanwhile):
            await here.desk.remove(Kind.MODELS, "haiku", made.origin.version, revoke_keys=False)
        assert changed.origin is not None
        assert changed.origin.version > made.origin.version


async def test_a_version_never_comes_back(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        made, _ = await here.desk.create(Kind.MODELS, {"name": "haiku"})
        await here.desk.remove(Kind.MODELS, "haiku", None, revoke_keys=False)
        again, _ = await here.desk.create(Kind.MODELS, {"name": "haiku"})
        assert made.origin is not None
        with pytest.raises(ChangedMeanwhile):
            await here.desk.remove(Kind.MODELS, "haiku", made.origin.version, revoke_keys=False)
        assert again.origin != made.origin


async def test_a_name_is_taken_by_the_file_too(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.desk.create(Kind.MODELS, {"name": "haiku"})
        for name in ("haiku", "sonnet"):
            with pytest.raises(NameTaken):
                await here.desk.create(Kind.MODELS, {"name": name})


async def test_two_processes_cannot_take_the_same_name(tmp_path: Path) -> None:
    async with node(tmp_path) as here, node(tmp_path) as there:
        await here.desk.create(Kind.KEYS, {"name": "app"})
        with pytest.raises(NameTaken):
            await there.desk.create(Kind.KEYS, {"name": "app"})
        await here.desk.remove(Kind.KEYS, "app", None, revoke_keys=False)
        with pytest.raises(NotThere):
            await there.desk.change(Kind.KEYS, "app", {}, None)


async def test_what_the_file_declares_stays(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        for kind, name in ((Kind.CHANNELS, "filed"), (Kind.KEYS, "laptop"), (Kind.ACCOUNTS, "acme")):
            with pytest.raises(DeclaredByFile):
                await here.desk.change(kind, name, {}, None)
            with pytest.raises(DeclaredByFile):
                await here.desk.remove(kind, name, None, revoke_keys=True)


async def test_what_is_not_there_cannot_be_changed(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        for name in ("nothing", "\ud800", "a\0b"):
            with pytest.raises(NotThere):
                await here.desk.change(Kind.KEYS, name, {}, None)
            with pytest.raises(NotThere):
                await here.desk.remove(Kind.KEYS, name, None, revoke_keys=False)
            assert await here.desk.entry(Kind.KEYS, name) is None


async def test_an_account_goes_only_with_its_keys(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.desk.create(Kind.ACCOUNTS, {"name": "globex", "prepaid": True})
        _, secret = await here.desk.create(Kind.KEYS, {"name": "app", "account": "globex"})
        assert secret is not None
        with pytest.raises(InUse) as caught:
            await here.desk.remove(Kind.ACCOUNTS, "globex", None, revoke_keys=False)
        assert caught.value.names == ("app",)
        await here.desk.remove(Kind.ACCOUNTS, "globex", None, revoke_keys=True)
        assert await here.desk.entry(Kind.KEYS, "app") is None
        assert build_catalog(here.live.state.config).find_key(secret.reveal()) is None


async def test_a_key_needs_an_account_that_is_there(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        for account in ("acme", "default"):
            await here.desk.create(Kind.KEYS, {"name": f"of {account}", "account": account})
        with pytest.raises(Invalid) as caught:
            await here.desk.create(Kind.KEYS, {"name": "app", "account": "nobody"})
        assert fields(caught) == ["account"]


async def test_an_opening_balance_makes_an_account_prepaid_and_is_no_setting(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        made, _ = await here.desk.create(Kind.ACCOUNTS, {"name": "a", "balance": "5.00"})
        assert made.value == Account(name="a", prepaid=True)
        plain, _ = await here.desk.create(Kind.ACCOUNTS, {"name": "b", "balance": None})
        assert plain.value == Account(name="b")
        for settings in ({"balance": "5"}, {"balance": "-1"}):
            with pytest.raises(Invalid) as caught:
                await here.desk.change(Kind.ACCOUNTS, "a", settings, None)
            assert fields(caught)[0] == "balance"
        for settings in ({"balance": "-1"}, {"balance": "x"}, {"balance": "0.0000000001"}):
            with pytest.raises(Invalid) as caught:
                await here.desk.check(Kind.ACCOUNTS, {"name": "c", **settings})
            assert fields(caught) == ["balance"]
        with pytest.raises(Invalid) as caught:
            await here.desk.create(Kind.ACCOUNTS, {"name": "c", "balance": "1", "prepaid": False})
        assert fields(caught) == ["prepaid"]
        changed = await here.desk.change(Kind.ACCOUNTS, "a", {"prepaid": False}, None)
        assert changed.value == Account(name="a")


async def test_a_check_changes_nothing(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        before = here.live.stored.version
        await here.desk.check(Kind.MODELS, {"name": "haiku"})
        with pytest.raises(NameTaken):
            await here.desk.check(Kind.MODELS, {"name": "sonnet"})
        assert (await here.store.version()) == before


async def test_a_name_stays(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.desk.create(Kind.MODELS, {"name": "haiku"})
        with pytest.raises(Invalid) as caught:
            await here.desk.change(Kind.MODELS, "haiku", {"name": "opus"}, None)
        assert fields(caught) == ["name"]


async def test_another_secret_needs_all_credentials_anew(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        await here.desk.create(Kind.CHANNELS, CHANNEL)
    async with node(tmp_path, vault=Vault(Secret("another"))) as other:
        for settings, missing in (({"weight": 2}, "api_key"), ({"api_key": "sk-new"}, "headers")):
            with pytest.raises(Invalid) as caught:
                await other.desk.change(Kind.CHANNELS, "stored", settings, None)
            assert fields(caught) == [missing]
        await other.desk.change(Kind.CHANNELS, "stored", {"api_key": "sk-new", "headers": None}, None)
        entry = await other.desk.entry(Kind.CHANNELS, "stored")
        assert entry is not None
        assert isinstance(entry.value, Channel)
        assert entry.value.api_key == Secret("sk-new")


async def test_without_a_vault_no_credential_is_kept(tmp_path: Path) -> None:
    async with node(tmp_path, text=FILE, vault=None) as here:
        with pytest.raises(Invalid) as caught:
            await here.desk.create(Kind.CHANNELS, CHANNEL)
        assert fields(caught) == ["api_key"]
        local = {key: value for key, value in CHANNEL.items() if key not in ("api_key", "headers")}
        entry, secret = await here.desk.create(Kind.CHANNELS, local)
        assert (entry.name, secret) == ("stored", None)


async def test_what_is_refused_leaves_no_trace(tmp_path: Path) -> None:
    async with node(tmp_path) as here:
        before = await here.store.version()
        await here.desk.create(Kind.MODELS, {"name": "haiku"})
        for settings in ({"price": {"input": "x"}}, {"unknown": 1}):
            with pytest.raises(Invalid):
                await here.desk.change(Kind.MODELS, "haiku", settings, None)
        assert await here.store.version() == before + 1


async def test_a_duty_is_in_force_elsewhere_and_after_a_restart(tmp_path: Path) -> None:
    def duties(live: LiveCatalog) -> dict[str, Duty]:
        return {channel.name: channel.duty for channel in live.state.config.channels}

    async with node(tmp_path) as here, node(tmp_path) as there:
        await here.desk.create(Kind.CHANNELS, CHANNEL)
        await here.desk.set_duty("filed", Duty.PAUSED)
        await here.desk.set_duty("stored", Duty.DRAINING)
        assert duties(here.live) == {"filed": Duty.PAUSED, "stored": Duty.DRAINING}
        await there.live.refresh()
        assert duties(there.live) == duties(here.live)
        await there.desk.set_duty("filed", Duty.ACTIVE)
        with pytest.raises(NotThere):
            await here.desk.set_duty("nobody", Duty.PAUSED)
    async with node(tmp_path) as again:
        assert duties(again.live) == {"filed": Duty.ACTIVE, "stored": Duty.DRAINING}
        await again.desk.remove(Kind.CHANNELS, "stored", None, revoke_keys=False)
        await again.desk.create(Kind.CHANNELS, CHANNEL)
        assert duties(again.live)["stored"] is Duty.ACTIVE
