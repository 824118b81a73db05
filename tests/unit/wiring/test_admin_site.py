"""What of the main port is for operators."""

from types import SimpleNamespace
from typing import Any

import pytest

from tidegate.wiring.admin_site import AdminSite


class Gate:
    """Takes every token for a wrong one."""

    def wrong_token(self, request: object) -> object:
        del request
        raise AssertionError("the token was looked at")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_a_wrong_method_on_the_figures_is_not_asked_for_a_token(method: str) -> None:
    unused: Any = None
    gate: Any = Gate()
    runner: Any = SimpleNamespace(server=None)
    request: Any = SimpleNamespace(path="/metrics", method=method)
    assert AdminSite(runner, gate, unused, unused, guards_figures=True).answer(request) is None
