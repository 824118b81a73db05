import pytest

from tidegate.cli.lists import print_json, print_table


def test_columns_stand_under_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("NAME", "N"), [("a", 1), ("long name", None)])
    assert capsys.readouterr().out == "NAME       N\na          1\nlong name  -\n"


def test_values_are_words(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A", "B", "C"), [(True, False, ["x", "y"]), ([], "", 0)])
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["yes", "no", "x,y"],
        ["-", "0"],
    ]


def test_nothing_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("A",), [("\x1b[31mred\n",)])
    assert "\x1b" not in capsys.readouterr().out


def test_json_is_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"a": 1}, {"a": "é"}])
    assert capsys.readouterr().out == '{"a":1}\n{"a":"é"}\n'
