from tidegate.config.problems import Severity
from tidegate.config.report import Report


def report() -> Report:
    values = {"keys": [{"name": "laptop"}, {"name": 3}, "odd"], "server": {"name": "no"}, "channels": 3}
    return Report("t.toml", {("keys",): 2, ("keys", 0): 2, ("keys", 0, "key"): 4, ("server",): 1}, values)


def test_a_problem_has_the_nearest_line_and_the_name_of_its_table() -> None:
    said = report()
    said.error(("keys", 0, "key", 5), "m", "n")
    said.error(("keys", 0, "account"), "m", "n")
    assert [(one.line, one.name) for one in said.problems()] == [(2, "laptop"), (4, "laptop")]


def test_tables_without_a_good_name_have_none() -> None:
    said = report()
    for path in (("keys", 1, "key"), ("keys", 2), ("keys", 9), ("server", "name"), ("channels", 0)):
        said.error(path, "m", "n")
    assert {one.name for one in said.problems()} == {None}


def test_problems_stand_in_the_files_order_and_those_without_a_line_first() -> None:
    said = report()
    said.error(("keys",), "second", "n")
    said.warning(("server",), "first", "n")
    said.error(("nowhere",), "none", "n")
    assert [(one.message, one.line) for one in said.problems()] == [
        ("none", None),
        ("first", 1),
        ("second", 2),
    ]
    assert said.problems()[1].severity is Severity.WARNING


def test_only_errors_count_as_errors() -> None:
    said = report()
    said.warning(("server",), "m", "n")
    assert not said.has_error(lambda path: path == ("server",))
    said.error(("server",), "m", "n")
    assert said.has_error(lambda path: path == ("server",))
    assert not said.has_error(lambda path: path == ("keys",))
