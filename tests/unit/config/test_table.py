from pathlib import Path

from tidegate.config.report import Report
from tidegate.config.sources import Sources
from tidegate.config.table import Table
from tidegate.config.values import text, whole


def table(**values: object) -> Table:
    return Table(values, ("t",), Report("f", {}, {}), Sources(Path(), {"NAME": "value"}))


def keys(read: Table) -> list[str]:
    return [problem.key for problem in read.report.problems()]


def test_a_wrong_setting_gives_its_default_and_is_told() -> None:
    read = table(port="x", host="env:NAME")
    assert read.read("port", whole(0, 9), 8) == 8
    assert read.read("host", text, "") == "value"
    assert read.read("absent", text, None) is None
    assert keys(read) == ["t.port"]


def test_lists_and_maps_keep_what_is_good() -> None:
    read = table(names=["a", 1, "env:NAME", "env:NONE"], map={"x": "y", "z": 3}, odd="text")
    assert read.items("names", text) == ("a", "value")
    assert read.entries("map", text) == {"x": "y"}
    assert read.items("odd", text) is None
    assert read.entries("odd", text) == {}
    assert read.items("absent", text) is None
    assert read.entries("absent", text) == {}
    assert keys(read) == ["t.names[1]", "t.names[3]", "t.map.z", "t.odd", "t.odd"]


def test_what_nobody_asked_for_is_told_with_what_is_near_or_known() -> None:
    read = table(prot=1, colour="red")
    read.read("port", whole(0, 9), 0)
    read.optional("host", text)
    read.close()
    mends = {problem.key: problem.mend for problem in read.report.problems()}
    assert mends == {"t.prot": "did you mean port?", "t.colour": "known here: host, port"}


def test_the_empty_text_leaves_an_optional_setting_unset() -> None:
    read = table(host="")
    assert read.optional("host", text) is None
    assert not read.is_set("host")
    read.close()
    assert keys(read) == []


def test_tables_that_are_none_are_told_and_the_others_read() -> None:
    read = table(rows=[{"a": "b"}, 3, {"a": "c"}], inner=5)
    assert [row.path for row in read.tables("rows")] == [("t", "rows", 0), ("t", "rows", 2)]
    assert read.table("inner").is_empty
    assert list(read.tables("inner")) == []
    assert list(read.tables("absent")) == []
    assert keys(read) == ["t.rows[1]", "t.inner", "t.inner"]


def test_none_counts_as_absent_but_not_as_known() -> None:
    read = table(port=None, names=None, map=None, inside=None, needed=None, colour=None)
    assert read.read("port", whole(0, 9), 8) == 8
    assert read.items("names", text) is None
    assert read.entries("map", text) == {}
    assert read.table("inside").is_empty
    assert read.need("needed", text, "", "give it") == ""
    assert not read.is_set("port")
    read.close()
    assert keys(read) == ["t.needed", "t.colour"]
