from typing import Any

import pytest
from tests.unit.storage.records import RECORD

from tidegate.admin.tail_filter import Allowance, Sieve
from tidegate.storage import rows
from tidegate.storage.pages import Filters

ROW = rows.encode(RECORD)
AT = 1_700_000_000_123_000


@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ({}, True),
        ({"key": "laptop", "model": "sonnet", "stream": True, "status": 200}, True),
        ({"key": "laptop", "model": "haiku"}, False),
        ({"status": 404}, False),
        ({"stream": False}, False),
        ({"since": AT}, True),
        ({"since": AT + 1}, False),
        ({"until": AT}, False),
        ({"until": AT + 1}, True),
        ({"id": "req_0"}, True),
        ({"id": "req_1"}, False),
    ],
)
def test_a_row_passes_as_the_list_would_show_it(filters: dict[str, Any], *, passes: bool) -> None:
    assert Sieve(Filters(**filters)).passes(ROW) is passes


def test_a_burst_is_sent_and_then_so_many_a_second() -> None:
    allowance = Allowance(10, 2.0)
    assert [allowance.take(8, 100.0), allowance.take(8, 100.0), allowance.take(8, 100.0)] == [8, 2, 0]
    assert allowance.take(8, 101.6) == 3
    assert allowance.take(100, 1_000.0) == 10
