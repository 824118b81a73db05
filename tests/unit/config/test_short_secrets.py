from tidegate.config.report import Report
from tidegate.config.short_secrets import SHORT, warn_of_short
from tidegate.core.secret import Secret


def told(secret: str) -> list[str]:
    report = Report("tidegate.toml", {}, {})
    warn_of_short(report, ("server", "secret"), Secret(secret))
    return [str(problem) for problem in report.problems()]


def test_a_secret_that_can_be_guessed_is_told_without_being_shown() -> None:
    [line] = told("hunter2" + "x" * (SHORT - 8))
    assert "server.secret" in line
    assert f"fewer than {SHORT} characters" in line
    assert "hunter2" not in line


def test_a_long_one_is_not() -> None:
    assert told("x" * SHORT) == []
