from tidegate.ledger import refusals


def test_every_refusal_can_be_told_as_one_kind() -> None:
    kinds = [one for one in vars(refusals).values() if isinstance(one, type)]
    assert len(kinds) == 5
    assert all(issubclass(kind, refusals.LedgerRefusal) for kind in kinds)
