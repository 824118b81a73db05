import json
import re
from pathlib import Path
from typing import Any

import msgspec
from tests.unit.admin.served import served
from tests.unit.admin.whole import whole_app
from tests.unit.managed.stores import CHANNEL
from tests.unit.storage.records import RECORD

from tidegate.admin.catalog_api import PREFIX
from tidegate.admin.openapi import document
from tidegate.admin.resources import request_json


def test_every_path_is_described() -> None:
    app = whole_app()
    served = {resource.canonical for resource in app.router.resources()}
    described = document()["paths"]
    assert isinstance(described, dict)
    assert served == set(described) | {f"{PREFIX}/openapi.json"}


def test_a_row_has_the_described_members() -> None:
    schemas = json.loads(msgspec.json.encode(document()))["components"]["schemas"]
    shown = json.loads(msgspec.json.encode(request_json(RECORD)))
    assert list(shown) == schemas["Request"]["required"]
    assert list(shown["attempts"][0]) == schemas["Attempt"]["required"]


KINDS = ("channels", "models", "accounts", "keys")


def schemas() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(msgspec.json.encode(document()))["components"]["schemas"]
    return found


def test_every_method_is_described() -> None:
    app = whole_app()
    served = {
        (route.resource.canonical, route.method.lower())
        for route in app.router.routes()
        if route.resource is not None and route.method != "HEAD"
    }
    paths: dict[str, Any] = json.loads(msgspec.json.encode(document()))["paths"]
    described = {(path, method) for path, methods in paths.items() for method in methods}
    assert served == described | {(f"{PREFIX}/openapi.json", "get")}


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(document())
    known = json.loads(text)["components"]
    for part, name in re.findall(r'"#/components/([a-z]+)/([A-Za-z]+)"', text, re.IGNORECASE):
        assert name in known[part]


async def test_answers_have_the_described_members_and_no_other(tmp_path: Path) -> None:
    described = schemas()
    async with served(tmp_path) as api:
        await api("POST", "channels", {**CHANNEL, "capabilities": {"efforts": ["low"], "tool_name_max": 9}})
        for kind in KINDS:
            word = kind.removesuffix("s").capitalize()
            if kind != "channels":
                _, made, _ = await api("POST", kind, {"name": "new"})
                assert set(made) - {"secret"} <= set(described[word]["properties"])
            _, page, _ = await api("GET", kind)
            assert set(page) == set(described[f"{word}Page"]["required"])
            for one in page["data"]:
                assert set(described[word]["required"]) <= set(one)
                assert set(one) | {"hint"} == set(described[word]["properties"]) | {"hint"}
        _, paid, _ = await api("POST", "accounts/new/credit", {"amount": "1"})
        assert set(paid) == set(described["Credit"]["required"])
        api.books.charge("req_1", "new", 5)
        _, refunded, _ = await api("POST", "requests/req_1/refund", {})
        assert set(refunded) == set(described["Refund"]["required"])
        _, page, _ = await api("GET", "ledger")
        assert list(page["data"][0]) == described["Posting"]["required"]
        _, problem, _ = await api("POST", "keys", {"name": ""})
        assert set(problem) <= set(described["Problem"]["properties"])
        assert list(problem["errors"][0]) == described["Problem"]["properties"]["errors"]["items"]["required"]


async def test_what_may_be_sent_is_what_is_taken(tmp_path: Path) -> None:
    described = schemas()
    async with served(tmp_path) as api:
        for kind in KINDS:
            word = kind.removesuffix("s").capitalize()
            new, change = (described[name]["properties"] for name in (f"New{word}", f"{word}Change"))
            given = {"name": "a"} | (CHANNEL if kind == "channels" else {})
            status, problem, _ = await api("POST", kind, dict.fromkeys(new) | given | {"beyond": 1})
            assert status == 422
            (fault,) = problem["errors"]
            known = set(fault["mend"].removeprefix("known here: ").split(", "))
            assert set(new) - {"name", "balance"} == set(change) == known - {"balance", "ca_file"}
