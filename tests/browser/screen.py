"""One page of the console in a real browser, and everything that went wrong on it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response
from tests.browser import accessibility

_STATUS = re.compile(r"Failed to load resource: the server responded with a status of (\d+)")
_LOUD = {"error", "warning", "assert"}
_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""
_SETTLED = """
() => document.querySelector("main h1") && !document.querySelector("main .skeleton, main [aria-busy=true]")
"""
_LEFT = "net::ERR_ABORTED"
"""A request that the page gave up: a live stream whose page was left, an answer that was stopped, a file of
the page before that nobody waits for any more. One that is missing or refused fails in another way."""


class Screen:
    """A page that is watched from its first request to the end of the test."""

    def __init__(self, context: BrowserContext, origin: str, language: str = "en") -> None:
        """`origin` is the only one that the page may ask anything of."""
        self.origin = origin
        self.language = language
        self.faults: list[str] = []
        self._expected: set[int] = set()
        self._away = False
        context.expose_binding("reportViolation", lambda _source, said: self._add("policy", said))
        context.add_init_script(_REPORT_VIOLATIONS)
        self.context = context
        self.page = context.new_page()
        self._watch(self.page)

    def expects(self, *statuses: int) -> None:
        """These answers are what the test is about: the browser's own line on them is no fault."""
        self._expected.update(statuses)

    @contextmanager
    def offline(self) -> Iterator[None]:
        """While the gateway cannot be reached; failed requests are then no fault."""
        self._away = True
        try:
            yield
        finally:
            self._away = False

    def words(self, part: str) -> dict[str, Any]:
        """The console's own words in the screen's language: `words("pages/keys")["create"]`."""
        code = "([path, tag]) => import(path).then((module) => module.strings[tag])"
        found: dict[str, Any] = self.page.evaluate(code, [f"/console/{part}.strings.js", self.language])
        return found

    def go(self, path: str) -> None:
        """Another page of the console, as a link leads there: nothing is loaded anew."""
        code = "(to) => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')); }"
        self.page.evaluate(code, f"/console/{path}")

    def settle(self) -> None:
        """The page that is asked for is there, and what it shows is loaded."""
        self.page.wait_for_function(_SETTLED)

    def another(self) -> Page:
        """A second tab of the same browser, watched as well."""
        page = self.context.new_page()
        self._watch(page)
        return page

    def accessible(self, page: Page | None = None) -> None:
        """What axe finds now counts as a fault; done for every page at the end of a test in any case."""
        shown = page or self.page
        for finding in accessibility.findings(shown):
            self._add(f"axe at {urlsplit(shown.url).path}", finding)

    def fits(self) -> None:
        """Nothing is cut off at the side: the page does not scroll sideways."""
        wide = self.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, f"the page is {wide} px wider than the window"

    def check(self) -> None:
        """No fault so far."""
        assert not self.faults, "\n".join(self.faults)

    def _watch(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self._add("error", f"{error.message}\n{error.stack}"))
        page.on("requestfailed", self._failed)
        page.on("request", self._asked)
        page.on("response", self._answered)

    def _console(self, message: ConsoleMessage) -> None:
        refused = _STATUS.match(message.text)
        excused = refused is not None and int(refused[1]) in self._expected
        unreachable = self._away and message.text.startswith("Failed to load resource")
        if message.type in _LOUD and not excused and not unreachable:
            self._add(f"console {message.type}", f"{message.text} ({_place(message.location)})")

    def _failed(self, request: Request) -> None:
        if request.failure != _LEFT and not self._away:
            self._add("failed request", f"{request.method} {request.url}: {request.failure}")

    def _asked(self, request: Request) -> None:
        if request.url.startswith(("data:", "blob:", f"{self.origin}/")):
            return
        self._add("foreign request", request.url)

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self._expected:
            self._add("refused", f"{response.status} {response.request.method} {response.url}")

    def _add(self, kind: str, said: str) -> None:
        self.faults.append(f"{kind}: {said}")


def _place(location: Any) -> str:
    return f"{location['url']}:{location['lineNumber']}"
