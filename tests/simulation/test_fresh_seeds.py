"""Seeds that no run has tried before; the message of a failure names the seed."""

import secrets

import pytest
from tests.simulation.__main__ import first_broken

SHARES, A_SHARE = 6, 300


@pytest.mark.parametrize("share", range(SHARES))
def test_no_promise_is_broken(share: int) -> None:
    found = first_broken(secrets.randbits(40), A_SHARE)
    assert found is None, f"{found}; the story: python -m tests.simulation --seed {found[0]}"
