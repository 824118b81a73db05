"""Ids of calls that every protocol takes."""

from hashlib import sha256

import pytest

from tidegate.protocols.call_ids import call_id


@pytest.mark.parametrize("id_", ["call_1", "toolu_01A-b", "x" * 64])
def test_a_legal_id_stays(id_: str) -> None:
    assert call_id(id_) == id_


@pytest.mark.parametrize("id_", ["", "call:1", "x" * 65, "ü", "call_1\n"])
def test_any_other_is_replaced_by_its_hash(id_: str) -> None:
    assert call_id(id_) == "call_" + sha256(id_.encode()).hexdigest()[:24]
