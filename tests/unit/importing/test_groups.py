from typing import Any

from tidegate.importing.deployments import Deployment, read_deployments
from tidegate.importing.groups import in_order, with_aliases, with_fallbacks
from tidegate.importing.members import Members
from tidegate.importing.notes import Notes


def deployments(*told: tuple[str, str, int | None]) -> list[Deployment]:
    notes = Notes()
    entries: list[Any] = [
        {"model_name": public, "litellm_params": {"model": f"openai/{upstream}", "order": order}}
        for public, upstream, order in told
    ]
    return read_deployments(Members({"model_list": entries}, "", notes), notes)


def seen(found: list[Deployment]) -> list[tuple[str, str, int]]:
    return [(one.public, one.upstream, one.priority) for one in found]


def test_a_lower_order_is_a_higher_priority_and_none_comes_last() -> None:
    told = deployments(("a", "1", 2), ("a", "2", None), ("a", "3", 1), ("b", "4", None))
    assert seen(in_order(told, Notes())) == [("a", "1", -2), ("a", "2", -3), ("a", "3", -1), ("b", "4", 0)]


def test_a_pattern_comes_after_what_it_covers() -> None:
    notes = Notes()
    told = deployments(("*", "*", None), ("gpt-*", "gpt-*", 1), ("gpt-5", "5", None), ("o-*", "o-*", None))
    assert [one.priority for one in in_order(told, notes)] == [-20_000, -10_001, 0, 0]
    assert [note.path for note in notes.changed] == ["model_list[0]", "model_list[1]"]


def test_an_alias_is_one_more_name() -> None:
    notes = Notes()
    router: Any = {"model_group_alias": {"x": "a", "y": {"model": "a", "hidden": True}, "z": "gone"}}
    found = with_aliases(deployments(("a", "1", None)), Members(router, "r", notes), notes)
    assert seen(found) == [("a", "1", 0), ("x", "1", 0), ("y", "1", 0)]
    assert [note.path for note in notes.left] == ["r.model_group_alias.z"]
    assert [note.path for note in notes.changed] == ["r.model_group_alias.y"]


def fallen(notes: Notes, router: dict[str, Any], module: dict[str, Any]) -> list[tuple[str, str, int]]:
    told = deployments(("a", "1", None), ("b", "2", None), ("c", "3", None))
    sources = (Members(router, "r", notes), Members(module, "l", notes))
    return seen(with_fallbacks(told, sources, notes))[3:]


def test_fallbacks_are_channels_of_lower_priority() -> None:
    notes = Notes()
    assert fallen(notes, {"fallbacks": [{"a": ["b", "c"]}]}, {}) == [("a", "2", -1000), ("a", "3", -2000)]
    assert notes.left == []


def test_the_router_s_own_fallbacks_go_before_those_of_all() -> None:
    notes = Notes()
    router = {"fallbacks": [{"a": "b"}], "default_fallbacks": ["c"]}
    assert fallen(notes, router, {"fallbacks": [{"a": ["c"]}]}) == [("a", "2", -1000), ("b", "3", -1000)]
    assert fallen(Notes(), {"fallbacks": [{"*": ["c"]}]}, {}) == [("a", "3", -1000), ("b", "3", -1000)]


def test_a_fallback_that_is_not_there_is_told() -> None:
    notes = Notes()
    assert fallen(notes, {"fallbacks": [{"a": ["gone", "a"]}, {"gone": ["a"]}, "text"]}, {}) == []
    assert [note.path for note in notes.left] == [f"r.fallbacks[{at}]" for at in (0, 0, 1, 2)]


def test_a_fallback_with_parameters_of_its_own_is_carried_without_them() -> None:
    notes = Notes()
    told = {"fallbacks": [{"a": [{"model": "b", "messages": []}, {"model": "c"}, 7]}]}
    assert fallen(notes, told, {}) == [("a", "2", -1000), ("a", "3", -2000)]
    first, second = (note.words for note in notes.left)
    assert first.startswith("the parameters of the fallback 'b': the gateway adds no parameters")
    assert second == "holds a fallback that is no name of a model"


def test_of_two_lists_for_one_model_the_first_counts_and_the_other_is_told() -> None:
    notes = Notes()
    assert fallen(notes, {"fallbacks": [{"a": ["b"]}, {"a": ["c"]}]}, {}) == [("a", "2", -1000)]
    assert [(note.path, note.words) for note in notes.left] == [
        ("r.fallbacks[1]", "'a' has a list of fallbacks already: the first counts")
    ]


def test_what_no_default_fallback_can_be_is_told_once() -> None:
    notes = Notes()
    found = fallen(notes, {}, {"default_fallbacks": ["c", "gone", {"model": ["x"]}]})
    assert found == [("a", "3", -1000), ("b", "3", -1000)]
    assert {note.path for note in notes.left} == {"l.default_fallbacks", "l.default_fallbacks[2]"}
    assert len(set(notes.left)) == 2
    assert len(set(notes.changed)) == 1


def test_an_alias_goes_before_a_model_of_the_same_name() -> None:
    notes = Notes()
    router: Any = {"model_group_alias": {"b": "a"}}
    found = with_aliases(deployments(("a", "1", None), ("b", "2", None)), Members(router, "r", notes), notes)
    assert seen(found) == [("a", "1", 0), ("b", "1", 0)]
    assert [note.path for note in notes.changed] == ["r.model_group_alias.b"]


def test_fallbacks_of_all_are_none_of_a_pattern_s() -> None:
    notes = Notes()
    told = deployments(("a", "1", None), ("b", "2", None), ("*", "*", None))
    module = Members({"default_fallbacks": ["b"]}, "l", notes)
    assert seen(with_fallbacks(told, (module,), notes))[3:] == [("a", "2", -1000)]
    assert [note.path for note in notes.left] == ["l.default_fallbacks"]
