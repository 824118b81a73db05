import json

from tests.unit.managed.stores import CHANNEL

from tidegate.managed.deeds import changed, created, duty_set, removed
from tidegate.routing.catalog import Duty
from tidegate.storage.audit import Deed
from tidegate.storage.catalog import Definition, Kind, Removed

SECRETS = ("sk-stored-credential", "search-team-secret")


def definition(sealed: bytes | None = b"sealed", **settings: object) -> Definition:
    return Definition(text=json.dumps(settings), sealed=sealed)


def test_what_is_added_is_told_with_its_settings_but_for_secrets() -> None:
    deed = created(Kind.CHANNELS, "stored", {**CHANNEL, "group": None})
    assert deed.changes["api_key"] == deed.changes["headers"] == (None, "(set)")
    assert deed.changes["base_url"] == (None, "https://api.example.org")
    assert "group" not in deed.changes
    assert not any(secret in str(deed) for secret in SECRETS)


def test_a_credential_in_a_query_is_not_told() -> None:
    old, new = (f"https://api.example.org?api-version=2&key={secret}" for secret in SECRETS)
    told = "https://api.example.org?api-version=2&key=(set)"
    assert created(Kind.CHANNELS, "c", {"base_url": old}).changes == {"base_url": (None, told)}
    deed = changed(Kind.CHANNELS, "c", definition(base_url=old), definition(base_url=new), {"base_url": new})
    assert deed is not None
    assert deed.changes == {"base_url": (told, told)}


def test_a_change_tells_what_is_different_now() -> None:
    before, after = definition(weight=1, priority=2), definition(weight=3, models=["a"])
    deed = changed(Kind.CHANNELS, "c", before, after, {"weight": 3, "api_key": "sk-new", "headers": None})
    assert deed is not None
    assert deed.changes == {
        "weight": (1, 3),
        "priority": (2, None),
        "models": (None, ["a"]),
        "api_key": ("(set)", "(set)"),
        "headers": ("(set)", None),
    }
    assert changed(Kind.CHANNELS, "c", before, before, {"weight": 1}) is None


def test_a_deletion_tells_what_there_was() -> None:
    deed = removed(Kind.ACCOUNTS, "acme", Removed(definition(None, prepaid=True), ("a", "b")))
    assert deed == Deed(
        action="delete",
        kind="accounts",
        name="acme",
        changes={"prepaid": (True, None), "keys": (["a", "b"], None)},
    )
    channel = removed(Kind.CHANNELS, "c", Removed(definition(weight=1)))
    assert channel.changes == {"weight": (1, None), "api_key": ("(set)", None)}


def test_a_duty_that_is_the_same_is_no_deed() -> None:
    assert duty_set("c", Duty.PAUSED, Duty.PAUSED) is None
    deeds = [
        duty_set("c", duty, before)
        for duty, before in zip(Duty, (*tuple(Duty)[1:], Duty.ACTIVE), strict=True)
    ]
    assert [deed.action for deed in deeds if deed is not None] == ["resume", "pause", "drain"]
