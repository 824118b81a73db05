"""The socket that a server listens on, and how it is told."""

import socket
from typing import Any

import pytest

from tidegate.wiring.serving import ListenError, bind, ready_line, url_of


def test_a_free_port_and_the_line_that_tells_it(capsys: pytest.CaptureFixture[str]) -> None:
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert url_of(sock, tls=False) == f"http://127.0.0.1:{port}"
        assert url_of(sock, tls=True) == f"https://127.0.0.1:{port}"
        assert not sock.getblocking()
        ready_line(sock, tls=False)()
    assert capsys.readouterr().err.endswith(f"listening on http://127.0.0.1:{port}\n")


def test_ipv6_stands_in_brackets() -> None:
    class Sock:
        def getsockname(self) -> tuple[str, int, int, int]:
            return "::1", 80, 0, 0

    sock: Any = Sock()
    assert url_of(sock, tls=False) == "http://[::1]:80"


def test_what_cannot_be_listened_on_is_told_with_its_address() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ListenError) as told:
            bind("127.0.0.1", port)
        assert told.value.where == f"127.0.0.1:{port}"
        assert told.value.strerror
    with pytest.raises(ListenError):
        bind("no-such-host.invalid", 0)
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))


def test_a_log_that_cannot_be_written_does_not_keep_the_server_from_starting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Full:
        def write(self, text: str) -> int:
            raise OSError(28, f"no space left for {len(text)} characters")

    with bind("127.0.0.1", 0) as sock:
        monkeypatch.setattr("sys.stderr", Full())
        ready_line(sock, tls=False)()
