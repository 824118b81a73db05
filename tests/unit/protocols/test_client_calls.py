"""Tool calls in the client's own terms."""

from tests.unit.protocols.encoding import SEED

from tidegate.core.events import CallKind, CallOpened
from tidegate.protocols.client_calls import ClientCall, ClientCalls
from tidegate.protocols.conversion import ToolName

NAMES = {
    "files__list": ToolName("list", namespace="files"),
    "apply_patch": ToolName("apply_patch", CallKind.CUSTOM),
}


def calls() -> ClientCalls:
    return ClientCalls(NAMES, SEED.id)


def test_a_tool_that_kept_its_name_is_told_as_it_comes() -> None:
    call = calls().open(CallOpened("call_1", "get_weather"))
    assert call == ClientCall("call_1", "get_weather", None, CallKind.FUNCTION, CallKind.FUNCTION)


def test_names_namespaces_and_kinds_are_those_of_the_declaration() -> None:
    opened = calls()
    listed = opened.open(CallOpened("call_1", "files__list"))
    assert (listed.name, listed.namespace) == ("list", "files")
    patched = opened.open(CallOpened("call_2", "apply_patch"))
    assert (patched.kind, patched.arrives) == (CallKind.CUSTOM, CallKind.FUNCTION)
    native = opened.open(CallOpened("call_3", "shell", CallKind.CUSTOM))
    assert (native.kind, native.arrives) == (CallKind.CUSTOM, CallKind.CUSTOM)


def test_no_two_calls_have_one_id_and_none_has_no_id() -> None:
    opened = calls()
    ids = [opened.open(CallOpened(told, "f")).id for told in ("a", "a", "", "", "with space", "x" * 65)]
    assert ids[0] == "a"
    assert len(set(ids)) == len(ids)
    assert all(1 <= len(one) <= 64 and " " not in one for one in ids)


def test_they_know_whether_anything_was_called() -> None:
    opened = calls()
    assert not opened
    opened.open(CallOpened("", "f"))
    assert opened
