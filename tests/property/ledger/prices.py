"""Price lists and counts of every kind, for properties of what they come to."""

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from tidegate.core.price import Price, PriceTier
from tidegate.core.usage import Usage

TIERS = [None, "auto", "priority", "flex", "scale"]

_amounts = st.integers(0, 10**9).map(lambda millionths: Decimal(millionths).scaleb(-6))
_counts = st.none() | st.integers(0, 300_000)
_CLASSES = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "web_search")
_tiers: st.SearchStrategy[Any] = st.builds(
    PriceTier,
    above_input_tokens=st.integers(1, 400_000),
    **{name: st.none() | _amounts for name in _CLASSES},
)
prices: st.SearchStrategy[Price] = st.builds(
    Price,
    input=_amounts,
    output=_amounts,
    **{name: st.none() | _amounts for name in _CLASSES[2:]},
    tiers=st.lists(_tiers, max_size=3, unique_by=lambda tier: tier.above_input_tokens).map(tuple),
    service_tiers=st.dictionaries(st.sampled_from(["priority", "flex"]), _amounts),
)
usages: st.SearchStrategy[Usage] = st.builds(
    Usage,
    input=_counts,
    cache_read=_counts,
    cache_write=_counts,
    cache_write_1h=_counts,
    output=_counts,
    web_searches=st.none() | st.integers(0, 50),
)
