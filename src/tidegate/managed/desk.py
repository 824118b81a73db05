"""Lists, adds, changes and deletes what is managed in the database."""

from collections.abc import Mapping
from functools import partial

from msgspec import structs

from tidegate.admin.ports import DeclaredByFile, Entry, Fault, GoneMeanwhile, Invalid, Settings
from tidegate.config import callers
from tidegate.config.names import DEFAULT_ACCOUNT
from tidegate.core.query_secrets import with_query_secrets
from tidegate.core.secret import Secret
from tidegate.managed import deeds
from tidegate.managed.definitions import parsed, read_name, read_value, without_defaults, written
from tidegate.managed.key_secrets import hint, new_secret, stored_digest
from tidegate.managed.live import LiveCatalog
from tidegate.managed.sealing import Credentials, Unsealable, Vault, mapping_of
from tidegate.routing.catalog import Channel, Duty, Key
from tidegate.storage import catalog
from tidegate.storage.audit import NOBODY, SET, Author, Deed, noted
from tidegate.storage.catalog import Definition, Kind, NameTaken, NoAccount, NotThere
from tidegate.storage.channel_duties import StoredDuty, set_duty


class Desk:
    """The desk of one process; a change is in force in it before the call returns."""

    def __init__(self, live: LiveCatalog, vault: Vault | None, author: Author = NOBODY) -> None:
        """Without a vault no channel can be added or changed. `author` is who makes the changes."""
        self._live = live
        self._vault = vault
        self._author = author

    def by(self, author: Author) -> "Desk":
        """The same desk for somebody else."""
        return Desk(self._live, self._vault, author)

    async def entries(self, kind: Kind) -> tuple[Entry, ...]:
        """All of them by name."""
        await self._live.refresh()
        return tuple(self._live.state.entries[kind].values())

    async def entry(self, kind: Kind, name: str) -> Entry | None:
        """One of them, with what is doubtful about it."""
        await self._live.refresh()
        return self._entry(kind, name)

    def doubts(self, entry: Entry) -> tuple[str, ...]:
        """What about an entry is likely not meant."""
        return self._live.state.doubts(entry)

    async def check(self, kind: Kind, settings: Settings) -> None:
        """Raise what `create` would raise, and change nothing."""
        await self._live.refresh()
        name = self._free_name(kind, settings)
        self._drawn_up(kind, name, _opened(settings) if kind is Kind.ACCOUNTS else settings)

    async def create(self, kind: Kind, settings: Settings) -> tuple[Entry, Secret | None]:
        """Add one; the secret is that of a new key, known only now."""
        await self._live.refresh()
        name = self._free_name(kind, settings)
        definition = self._drawn_up(kind, name, _opened(settings) if kind is Kind.ACCOUNTS else settings)
        secret = new_secret() if kind is Kind.KEYS else None
        if secret is not None:
            definition = structs.replace(definition, digest=stored_digest(secret), hint=hint(secret))
        task = catalog.create(kind, name, definition, known_accounts=self._file_accounts())
        deed = deeds.created(kind, name, settings)
        try:
            await self._live.change(noted(task, self._author, lambda _: deed))
        except NoAccount as error:
            raise _no_account() from error
        made = self._entry(kind, name)
        if made is None:
            raise GoneMeanwhile(name)
        return made, secret

    async def change(self, kind: Kind, name: str, settings: Settings, version: int | None) -> Entry:
        """Replace the given settings; None takes the default."""
        await self._live.refresh()
        self._not_of_the_file(kind, name)
        if "name" in settings:
            raise Invalid((Fault("name", "cannot be changed", "make a new one and delete this"),))

        deed: list[Deed | None] = [None]

        def rewrite(before: Definition) -> Definition:
            known = self._settings(kind, name, before, settings)
            changed = {**known, **_with_what_was_hidden(settings, known)}
            after = self._drawn_up(kind, name, changed)
            deed[0] = deeds.changed(kind, name, before, after, settings)
            return structs.replace(after, digest=before.digest, hint=before.hint)

        task = catalog.change(kind, name, rewrite, version=version, known_accounts=self._file_accounts())
        try:
            await self._live.change(noted(task, self._author, lambda _: deed[0]))
        except NoAccount as error:
            raise _no_account() from error
        return self._changed(kind, name)

    async def remove(self, kind: Kind, name: str, version: int | None, *, revoke_keys: bool) -> None:
        """Delete one; an account that has keys only together with them."""
        await self._live.refresh()
        self._not_of_the_file(kind, name)
        task = catalog.remove(kind, name, version=version, revoke_keys=revoke_keys)
        await self._live.change(noted(task, self._author, partial(deeds.removed, kind, name)))

    def duty(self, channel: str) -> StoredDuty | None:
        """What was wanted last of a channel; None: it has always been active."""
        return self._live.state.duties.get(channel)

    async def set_duty(self, channel: str, duty: Duty) -> Entry:
        """Pause a channel, let it drain or resume it, whether the file declares it or the database has it."""
        await self._live.refresh()
        self._changed(Kind.CHANNELS, channel)
        task = set_duty(channel, duty, self._author.operator or "")
        await self._live.change(noted(task, self._author, partial(deeds.duty_set, channel, duty)))
        return self._changed(Kind.CHANNELS, channel)

    async def note(self, deed: Deed) -> None:
        """Put into the audit log what was done without a change."""
        await self._live.change(noted(lambda _: None, self._author, lambda _: deed))

    def _entry(self, kind: Kind, name: str) -> Entry | None:
        return self._live.state.entries[kind].get(name)

    def _changed(self, kind: Kind, name: str) -> Entry:
        """As it is in force now; another process may have deleted it."""
        found = self._entry(kind, name)
        if found is None:
            raise NotThere(name)
        return found

    def _free_name(self, kind: Kind, settings: Settings) -> str:
        name = read_name(kind, settings)
        if self._entry(kind, name) is not None:
            raise NameTaken(name)
        return name

    def _not_of_the_file(self, kind: Kind, name: str) -> None:
        if self._changed(kind, name).origin is None:
            raise DeclaredByFile(name)

    def _file_accounts(self) -> frozenset[str]:
        """Accounts that are there without a row."""
        entries = self._live.state.entries[Kind.ACCOUNTS].values()
        return frozenset(entry.name for entry in entries if entry.origin is None) | {DEFAULT_ACCOUNT}

    def _drawn_up(self, kind: Kind, name: str, settings: Mapping[str, object]) -> Definition:
        """What is stored for settings that are good. Raises Invalid."""
        read = {key: value for key, value in settings.items() if key != "name"}
        value = read_value(kind, name, read, self._live.state.config.streaming)
        given = without_defaults(read)
        match value:
            case Channel(api_key=api_key, headers=headers):
                text = written({key: kept for key, kept in given.items() if key not in deeds.SEALED})
                return Definition(text=text, sealed=self._sealed(name, api_key, headers))
            case Key(account=account):
                return Definition(text=written(given), account=account)
            case _:  # models and accounts have nothing besides their settings
                return Definition(text=written(given))

    def _sealed(self, channel: str, api_key: Secret, headers: Mapping[str, str]) -> bytes | None:
        credentials = Credentials(api_key.reveal(), dict(headers))
        if not mapping_of(credentials):
            return None
        if self._vault is None:
            raise Invalid((Fault("api_key", "cannot be sealed without the secret", "name a configuration"),))
        return self._vault.seal(channel, credentials)

    def _settings(
        self, kind: Kind, name: str, before: Definition, replaced: Mapping[str, object]
    ) -> Settings:
        """What is stored now, the sealed part opened; that may fail if all of it is replaced."""
        settings = parsed(before.text)
        if before.sealed is None or kind is not Kind.CHANNELS or all(key in replaced for key in deeds.SEALED):
            return settings
        try:
            if self._vault is None:
                raise Unsealable("there is no secret")
            return {**settings, **mapping_of(self._vault.open(name, before.sealed))}
        except Unsealable as error:
            mend = "give api_key and headers anew (headers = {} for none)"
            missing = next(key for key in deeds.SEALED if key not in replaced)
            raise Invalid((Fault(missing, "is stored, but server.secret does not open it", mend),)) from error


def _with_what_was_hidden(settings: Settings, known: Settings) -> Settings:
    """The settings as they are meant: who sends back a URL that was shown does not know what it hides."""
    shown, meant = settings.get("base_url"), known.get("base_url")
    if not isinstance(shown, str) or not isinstance(meant, str):
        return settings
    return {**settings, "base_url": with_query_secrets(shown, meant, SET)}


def _opened(settings: Settings) -> Settings:
    """The settings of a new account without its opening balance, which is a posting and not a setting."""
    rest = {key: value for key, value in settings.items() if key != "balance"}
    if settings.get("balance") is None:
        return rest
    balance = callers.nano_usd(settings["balance"])
    if not isinstance(balance, int):
        raise Invalid((Fault("balance", balance.message, balance.mend),))
    if rest.get("prepaid") is False:
        raise Invalid((Fault("prepaid", "is false, but a balance is set", "leave one of them out"),))
    return {**rest, "prepaid": True}


def _no_account() -> Invalid:
    return Invalid((Fault("account", "is no account that is there", "make the account first"),))
