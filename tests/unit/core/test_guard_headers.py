from tidegate.core.guard_headers import GUARDS


def test_no_answer_is_a_page_or_part_of_one() -> None:
    assert GUARDS["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert GUARDS["x-content-type-options"] == "nosniff"
    assert all(name == name.lower() for name in GUARDS)
