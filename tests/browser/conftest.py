"""Fixtures of the browser tests: one browser and one gateway for a module, a fresh context for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from tests.browser.scene import Scene
from tests.browser.screen import Screen
from tests.harness.simulated import Simulated

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WITHIN_MS = 30_000.0
"""How long a step waits for what it needs, on a loaded machine."""
LOCALES = {"en": "en-GB", "zh": "zh-CN"}
HEIGHTS = {1440: 900, 390: 844}
Language = Literal["en", "zh"]
Theme = Literal["light", "dark"]
Open = Callable[..., Screen]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium with a fresh profile; it ends with the module, so that its loop meets no other."""
    assert CHROMIUM.exists(), (
        f"{CHROMIUM} is missing; the tests of the console need it: apt-get install chromium"
    )
    expect.set_options(timeout=WITHIN_MS)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        try:
            yield running
        finally:
            running.close()


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulated]:
    """The simulated provider."""
    running = Simulated(tmp_path_factory.mktemp("simulated"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, simulated: Simulated) -> Iterator[Scene]:
    """A gateway with the simulated provider, seeded, under traffic."""
    running = Scene(tmp_path_factory.mktemp("scene"), simulated.base)
    try:
        running.begin()
        yield running
    finally:
        running.end()
    running.check()


@pytest.fixture
def open_screen(browser: Browser) -> Iterator[Open]:
    """Opens a watched page in a fresh context: `open_screen(origin, path, language=…, theme=…, width=…)`.

    After the test each must be without a fault, and without a finding of axe.
    """
    opened: list[Screen] = []

    def begin(
        origin: str,
        path: str,
        *,
        language: Language = "en",
        theme: Theme = "light",
        width: int = 1440,
        token: str | None = None,
    ) -> Screen:
        context = browser.new_context(
            locale=LOCALES[language],
            timezone_id="Europe/Berlin",
            color_scheme=theme,
            reduced_motion="reduce",
            viewport={"width": width, "height": HEIGHTS[width]},
        )
        context.set_default_timeout(WITHIN_MS)
        screen = Screen(context, origin, language)
        opened.append(screen)
        if token is not None:
            context.request.post(
                f"{origin}/admin/v1/session", data={"token": token}, fail_on_status_code=True
            )
        screen.page.goto(f"{origin}{path}")
        return screen

    yield begin
    for screen in opened:
        for page in screen.context.pages:
            screen.accessible(page)
            page.close()
        screen.context.close()
    for screen in opened:
        screen.check()


@pytest.fixture
def console(open_screen: Open, scene: Scene) -> Open:
    """Opens a page of the console, signed in: `console("keys", language=…, theme=…, width=…)`."""

    def begin(page: str = "", *, signed_in: bool = True, **how: object) -> Screen:
        token = scene.token if signed_in else None
        return open_screen(scene.origin, f"/console/{page}", token=token, **how)

    return begin
