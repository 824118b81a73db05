"""Who runs a command, for the audit log."""

import getpass
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.storage.audit import Author


def author() -> "Author":
    """The user of the operating system."""
    from tidegate.storage.audit import Author, Via  # late: `--help` need not load it

    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # one without a name, as in some containers
        name = str(os.getuid())
    return Author(operator=name, via=Via.COMMAND_LINE)
