from collections.abc import Iterable
from pathlib import Path

from tests.unit.managed.stores import CHANNEL, VAULT, config

from tidegate.config import build_catalog
from tidegate.core.secret import Secret
from tidegate.managed.definitions import written
from tidegate.managed.sealing import Credentials, Vault
from tidegate.managed.state import Reading, State
from tidegate.routing.catalog import digest
from tidegate.storage.catalog import Definition, Kind, Stored, StoredCatalog


def row(name: str, version: int = 1, **definition: object) -> Stored:
    text = definition.pop("text", "{}")
    return Stored(
        name=name,
        definition=Definition(text=text, **definition),  # type: ignore[arg-type]
        version=version,
        created_at=1.0,
        changed_at=2.0,
    )


def key(name: str, account: str = "acme", more: str = "") -> Stored:
    hashed = digest(f"sk-tg-{name}").hex()
    return row(name, text=f'{{"account": "{account}"{more}}}', digest=hashed, hint="…", account=account)


def channel(name: str = "stored", **more: object) -> Stored:
    settings = {**CHANNEL, **more}
    text = written({k: v for k, v in settings.items() if k not in ("name", "api_key", "headers")})
    return row(name, text=text, sealed=VAULT.seal(name, Credentials("sk-stored", {"x-team": "squad-9"})))


def stored(**rows: Iterable[Stored]) -> StoredCatalog:
    return StoredCatalog(1, {kind: {one.name: one for one in rows.get(kind.value, ())} for kind in Kind})


def merged(folder: Path, rows: StoredCatalog, vault: Vault | None = VAULT, more: str = "") -> State:
    return Reading(vault).merge(config(folder, more), rows)


def test_the_catalog_has_what_file_and_database_say(tmp_path: Path) -> None:
    rows = stored(
        channels=[channel()],
        models=[row("haiku", text='{"price": {"input": 1.5, "output": "2"}}')],
        accounts=[row("globex", text='{"prepaid": true, "requests_per_minute": 5}')],
        keys=[key("app", "globex")],
    )
    state = merged(tmp_path, rows)
    catalog = build_catalog(state.config)
    assert [found.channel.name for found in catalog.all_candidates("haiku")] == ["stored"]
    assert [found.channel.name for found in catalog.all_candidates("sonnet")] == ["filed"]
    found = catalog.find_key("sk-tg-app")
    assert found is not None
    assert catalog.account(found.account).prepaid
    assert catalog.account("globex").requests_per_minute == 5
    assert catalog.account("acme").prepaid
    assert catalog.find_key("sk-tg-of-the-file") is not None
    price = catalog.model("haiku").price
    assert price is not None
    assert str(price.input) == "1.5"
    assert list(state.entries[Kind.CHANNELS]) == ["filed", "stored"]
    assert state.notes == ()


def test_what_the_file_declares_goes_first_and_is_told(tmp_path: Path) -> None:
    rows = stored(accounts=[row("acme", text='{"prepaid": false}')], keys=[key("laptop")])
    state = merged(tmp_path, rows)
    assert state.entries[Kind.ACCOUNTS]["acme"].origin is None
    catalog = build_catalog(state.config)
    assert catalog.account("acme").prepaid
    assert catalog.find_key("sk-tg-laptop") is None
    assert [note.split(":")[0] for note in state.notes] == ["account acme", "key laptop"]


def test_a_channel_that_does_not_open_is_told_and_leaves_the_others(tmp_path: Path) -> None:
    other = Vault(Secret("other")).seal("wrong", Credentials("sk-x", {}))
    rows = stored(channels=[channel(), row("wrong", text=channel().definition.text, sealed=other)])
    state = merged(tmp_path, rows)
    assert [one.name for one in state.config.channels] == ["filed", "stored"]
    assert "server.secret" in (state.entries[Kind.CHANNELS]["wrong"].problem or "")
    assert state.notes[0].startswith("channel wrong: its credential cannot be opened")


def test_without_a_vault_channels_have_no_credential(tmp_path: Path) -> None:
    state = merged(tmp_path, stored(channels=[channel()]), vault=None)
    assert not state.config.channels[1].api_key
    assert state.config.channels[1].headers == {}


def test_a_key_without_a_usable_account_is_never_an_unlimited_one(tmp_path: Path) -> None:
    broken = row("broken", text='{"prepaid": 5}')
    keys = [key("lost", "nobody"), key("bad", "broken"), key("fine", "default")]
    state = merged(tmp_path, stored(accounts=[broken], keys=keys))
    catalog = build_catalog(state.config)
    assert catalog.find_key("sk-tg-lost") is None
    assert catalog.find_key("sk-tg-bad") is None
    assert catalog.find_key("sk-tg-fine") is not None
    assert state.entries[Kind.KEYS]["lost"].problem == "its account cannot be used"


def test_a_broken_default_account_stops_its_keys(tmp_path: Path) -> None:
    state = merged(tmp_path, stored(accounts=[row("default", text="[]")], keys=[key("fine", "default")]))
    assert build_catalog(state.config).find_key("sk-tg-fine") is None


def test_doubts(tmp_path: Path) -> None:
    rows = stored(
        models=[row("nowhere")],
        keys=[key("stuck", more=', "models": ["gone"]'), key("half", more=', "models": ["gone", "son*"]')],
    )
    state = merged(tmp_path, rows)
    assert "no channel serves" in state.doubts(state.entries[Kind.KEYS]["stuck"])[0]
    assert state.doubts(state.entries[Kind.KEYS]["half"]) == ()
    assert state.doubts(state.entries[Kind.KEYS]["laptop"]) == ()
    assert "no channel serves" in state.doubts(state.entries[Kind.MODELS]["nowhere"])[0]
    assert state.doubts(state.entries[Kind.MODELS]["sonnet"]) == ()


def test_a_channel_with_models_that_nobody_pays_for_is_doubtful(tmp_path: Path) -> None:
    models = {"priced": "a", "half-priced": "b", "sonnet": "c"} | {
        f"free-{number}": "d" for number in range(6)
    }
    price = '{"price": {"input": "1", "output": "2"}}'
    rows = stored(
        channels=[channel(models=models)],
        models=[
            row("priced", text=price),
            row("half*", text=price),
            row("half-priced"),
            row("free-0", text=price),
        ],
    )
    state = merged(tmp_path, rows)
    [doubt] = state.doubts(state.entries[Kind.CHANNELS]["stored"])
    assert doubt == (
        "models: free-1, free-2, free-3, free-4, free-5 and 1 more have no price: free until priced"
    )
    assert state.doubts(state.entries[Kind.CHANNELS]["filed"]) == ()


def test_what_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    reading, file = Reading(VAULT), config(tmp_path)
    before = reading.merge(file, stored(channels=[channel()], models=[row("haiku")]))
    after = reading.merge(file, stored(channels=[channel()], models=[row("haiku", version=2)]))
    entry, again = (state.entries[Kind.CHANNELS]["stored"] for state in (before, after))
    assert again is entry
    assert after.entries[Kind.MODELS]["haiku"].origin != before.entries[Kind.MODELS]["haiku"].origin


def test_new_defaults_of_the_file_reach_stored_models(tmp_path: Path) -> None:
    reading = Reading(VAULT)
    rows = stored(models=[row("haiku")])
    reading.merge(config(tmp_path), rows)
    state = reading.merge(config(tmp_path, '[streaming]\nidle_timeout = "9s"\n'), rows)
    assert build_catalog(state.config).model("haiku").idle_timeout == 9.0


def test_nothing_secret_is_printed(tmp_path: Path) -> None:
    state = merged(tmp_path, stored(channels=[channel()]))
    assert "sk-" not in repr(state)
    assert state.config.channels[1].headers == {"x-team": "squad-9"}
    assert "squad-9" not in repr(state)
