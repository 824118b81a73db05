import pytest

from tidegate.admin.operators import ADMIN, Operators
from tidegate.core.secret import Secret

OPERATORS = Operators({ADMIN: Secret("token-one"), "alice": Secret("tök\udcffen")})


def test_a_token_has_one_owner() -> None:
    assert OPERATORS.owner("token-one") == "admin"
    assert OPERATORS.owner("tök\udcffen") == "alice"
    for wrong in ("", "token-on", "token-one ", "TOKEN-ONE"):
        assert OPERATORS.owner(wrong) is None


def test_a_proof_holds_for_one_session_and_one_token() -> None:
    proof = OPERATORS.proof("admin", "session-1")
    assert proof == Operators({ADMIN: Secret("token-one")}).proof("admin", "session-1")
    assert proof != OPERATORS.proof("admin", "session-2")
    assert proof != Operators({ADMIN: Secret("token-two")}).proof("admin", "session-1")
    assert OPERATORS.proof("bob", "session-1") is None


@pytest.mark.parametrize("tokens", [{}, {ADMIN: Secret("")}])
def test_without_a_token_there_is_no_admin_api(tokens: dict[str, Secret]) -> None:
    with pytest.raises(ValueError, match="needs a token"):
        Operators(tokens)
