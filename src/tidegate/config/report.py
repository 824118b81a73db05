"""Gathers the problems of one config file."""

from collections.abc import Callable, Mapping

from tidegate.config.problems import KeyPath, Problem, Severity, key_text, shown


class Report:
    """Knows the file, where its keys stand and what its tables are called."""

    def __init__(self, file: str, lines: Mapping[KeyPath, int], values: Mapping[str, object]) -> None:
        self._file = file
        self._lines = lines
        self._values = values
        self._found: list[tuple[KeyPath, Problem]] = []

    def error(self, path: KeyPath, message: str, mend: str) -> None:
        """Something that keeps the file from being used."""
        self._add(path, message, mend, Severity.ERROR)

    def warning(self, path: KeyPath, message: str, mend: str) -> None:
        """Something that is likely not meant."""
        self._add(path, message, mend, Severity.WARNING)

    def has_error(self, concerns: Callable[[KeyPath], bool]) -> bool:
        """Whether an error was found at a path that `concerns` is true for."""
        return any(concerns(path) for path, problem in self._found if problem.severity is Severity.ERROR)

    def problems(self) -> tuple[Problem, ...]:
        """All problems, in the order of the file's lines; what has no line comes first."""
        return tuple(sorted((problem for _, problem in self._found), key=lambda found: found.line or 0))

    def line(self, path: KeyPath) -> int | None:
        """The line of a setting, or of the nearest table around it that has one."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._lines:
                return self._lines[path[:length]]
        return None

    def _add(self, path: KeyPath, message: str, mend: str, severity: Severity) -> None:
        problem = Problem(
            file=self._file,
            key=key_text(path),
            message=message,
            mend=mend,
            line=self.line(path),
            name=self._name(path),
            severity=severity,
        )
        self._found.append((path, problem))

    def _name(self, path: KeyPath) -> str | None:
        """What the channel, model, account or key at `path` calls itself."""
        match path:
            case (str(section), int(index), *_):
                name = _member(_member(self._values.get(section), index), "name")
                return shown(name) if isinstance(name, str) and name else None
            case _:  # settings that stand once have no name
                return None


def _member(value: object, key: str | int) -> object:
    match value, key:
        case list(), int() if key < len(value):
            return value[key]
        case dict(), str():
            return value.get(key)
        case _:  # the file may hold anything
            return None
