"""What makes a browser test fail: each kind of fault, planted in a page, is found."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser
from tests.browser.screen import Screen

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'"
GOOD = "<main><h1>Good</h1><p>Nothing is wrong here.</p></main>"
SCRIPTS = {
    "/error.js": "console.error('said aloud')",
    "/warning.js": "console.warn('be warned')",
    "/throws.js": "null.nothing",
    "/rejects.js": "Promise.reject(new Error('nobody caught it'))",
    "/missing.js": "fetch('/none')",
    "/style.js": "document.body.setAttribute('style', 'color: red')",
    "/foreign.js": "fetch('http://127.0.0.1:9/').catch(() => {})",
}
FAULTS = {
    "a line on the console": ("<script src=/error.js></script>", "console error: said aloud"),
    "a warning on the console": ("<script src=/warning.js></script>", "console warning: be warned"),
    "an exception": ("<script src=/throws.js></script>", "error: Cannot read properties of null"),
    "a rejection": ("<script src=/rejects.js></script>", "error: nobody caught it"),
    "a refused request": ("<script src=/missing.js></script>", "refused: 404 GET"),
    "an inline script": ("<script>let a = 1</script>", "policy: script-src-elem inline"),
    "an inline style": ("<script src=/style.js></script>", "policy: style-src-attr inline"),
    "a foreign origin": ("<script src=/foreign.js></script>", "policy: connect-src"),
    "pale text": ("<link rel=stylesheet href=/pale.css><p>Hard to read.</p>", "axe at /: color-contrast"),
    "a field without a name": ("<input>", "axe at /: label"),
}


class Site(BaseHTTPRequestHandler):
    """One page with a strict policy, and its scripts."""

    def __init__(self, body: str, *rest: object) -> None:
        self.body = body
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path == "/":
            self._answer(200, "text/html", f"<!doctype html><html lang=en><title>A page</title>{self.body}")
        elif self.path in SCRIPTS:
            self._answer(200, "text/javascript", SCRIPTS[self.path])
        elif self.path == "/pale.css":
            self._answer(200, "text/css", "p { color: #ddd; background: #fff }")
        else:
            self._answer(404 if self.path == "/none" else 204, "text/plain", "")

    def _answer(self, status: int, kind: str, body: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-security-policy", POLICY)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.fixture(params=[*FAULTS, "nothing"])
def site(request: pytest.FixtureRequest) -> Iterator[tuple[str, str | None]]:
    """Its origin, and the fault that must be found."""
    more, wanted = FAULTS.get(request.param, ("", None))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Site, GOOD + more))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", wanted
    server.shutdown()
    server.server_close()
    thread.join(5)


def test_each_fault_is_found(browser: Browser, site: tuple[str, str | None]) -> None:
    origin, wanted = site
    screen = Screen(browser.new_context(), origin)
    screen.page.goto(origin)
    screen.page.wait_for_timeout(100)  # what is asked for by a script is not waited for by `goto`
    screen.accessible()
    screen.context.close()
    if wanted is None:
        screen.check()
    else:
        assert any(fault.startswith(wanted) for fault in screen.faults), screen.faults
