from tidegate.core.capability import Capabilities, Effort


def test_nothing_is_told_unless_the_operator_tells_it() -> None:
    told = Capabilities()
    assert [name for name in Capabilities.__struct_fields__ if getattr(told, name) is not None] == []


def test_efforts_stand_from_least_to_most() -> None:
    assert [effort.value for effort in Effort] == ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
