"""Warns of secrets that are short enough to be guessed."""

from tidegate.config.problems import KeyPath
from tidegate.config.report import Report
from tidegate.core.secret import Secret

SHORT = 12
"""Characters that a secret should have at least."""


def warn_of_short(report: Report, path: KeyPath, secret: Secret) -> None:
    """Report a warning for the secret at `path` if it has fewer characters than SHORT."""
    if len(secret.reveal()) < SHORT:
        message = f"is short enough to be guessed: it has fewer than {SHORT} characters"
        report.warning(path, message, "make one with `openssl rand -hex 32`")
