import json

import msgspec
from tests.unit.admin.test_app import Journal
from tests.unit.storage.records import RECORD

from tidegate.admin.app import PREFIX, create_admin_app
from tidegate.admin.openapi import document
from tidegate.admin.resources import request_json
from tidegate.core.secret import Secret


def test_every_path_is_described() -> None:
    app = create_admin_app(Secret("token"), Journal())
    served = {resource.canonical for resource in app.router.resources()}
    described = document()["paths"]
    assert isinstance(described, dict)
    assert served == set(described) | {f"{PREFIX}/openapi.json"}


def test_a_row_has_the_described_members() -> None:
    schemas = json.loads(msgspec.json.encode(document()))["components"]["schemas"]
    shown = json.loads(msgspec.json.encode(request_json(RECORD)))
    assert list(shown) == schemas["Request"]["required"]
    assert list(shown["attempts"][0]) == schemas["Attempt"]["required"]
