"""Citations of pages, as the three protocols write them."""

import pytest

from tidegate.core.events import Cited
from tidegate.protocols.citations import web_citation


@pytest.mark.parametrize(
    ("value", "cited"),
    [
        (
            {"url_citation": {"url": "u", "title": "T", "start_index": 1, "end_index": 2}},
            Cited("u", "T", 1, 2),
        ),
        (
            {"type": "url_citation", "url": "u", "title": "T", "start_index": 1, "end_index": 2},
            Cited("u", "T", 1, 2),
        ),
        ({"type": "web_search_result_location", "url": "u", "title": None}, Cited("u", "")),
        ({"url": "u", "start_index": -1, "end_index": "x"}, Cited("u", "")),
        ({"type": "file_citation", "file_id": "f"}, None),
        ({"url": ""}, None),
        ({"url_citation": "x"}, None),
        (None, None),
        ([], None),
    ],
)
def test_a_citation(value: object, cited: Cited | None) -> None:
    assert web_citation(value) == cited
