from tests.unit.doctor.recordings import heard

from tidegate.doctor.recording import Head


def test_the_last_value_of_a_header_counts() -> None:
    head = Head(0.0, 200, (("a", "1"), ("b", "2"), ("a", "3")))
    assert head.header("a") == "3"
    assert head.header("c") is None


def test_the_body_is_all_pieces() -> None:
    assert heard(b"abcdef", size=4).body == b"abcdef"
