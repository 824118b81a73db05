"""In which languages, themes and widths the console is looked at: every value of each, in two looks."""

from typing import Any

import pytest

Look = dict[str, Any]

LOOKS: list[Look] = [
    {"language": "en", "theme": "light", "width": 1440},
    {"language": "zh", "theme": "dark", "width": 390},
]
both = pytest.mark.parametrize("look", LOOKS, ids=["en-light-wide", "zh-dark-narrow"])
