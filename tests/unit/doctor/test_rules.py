from tidegate.doctor.rules import RULES, rule


def test_every_rule_has_an_id_of_its_own() -> None:
    assert len({known.id for known in RULES}) == len(RULES)
    assert all(rule(known.id) is known for known in RULES)
