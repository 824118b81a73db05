"""What the exit code of a command tells a script."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes, as docs/cli.md lists them."""

    OK = 0
    FAILED = 1
    """The stream ended with an error event, or an answer was no stream of the protocol."""
    USAGE = 2
    """An option, a file or the configuration is wrong."""
    NO_CONNECTION = 3
    """An address could not be connected to, or not be listened on."""
    REFUSED = 4
    """The server answered the request with an error status."""
    NO_END_MARK = 5
    """The stream stopped without its protocol's end mark."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it."""
    BROKEN_PIPE = 141
    """Whoever read the output went away, as shells count it."""
