"""Pictures of every page of the console in each look: `python -m tests.browser FOLDER [PAGE …]`."""

import itertools
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from tests.browser.conftest import CHROMIUM, FLAGS, LOCALES
from tests.browser.places import PLACES
from tests.browser.scene import Scene
from tests.harness.simulated import Simulated

SIZES = {1440: 900, 390: 844}


def main(folder: Path, names: list[str]) -> None:
    """Start a gateway, and take them."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        simulated = Simulated(Path(temporary))
        scene = Scene(Path(temporary), simulated.base)
        try:
            scene.begin()
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for look in itertools.product(LOCALES, ("light", "dark"), SIZES):
                take(browser, scene, folder, names, *look)
            browser.close()
        finally:
            scene.end()
            simulated.stop()


def take(
    browser: Browser, scene: Scene, folder: Path, names: list[str], language: str, theme: str, width: int
) -> None:
    """All pages in one look."""
    context = browser.new_context(
        locale=LOCALES[language],
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        viewport={"width": width, "height": SIZES[width]},
    )
    context.request.post(f"{scene.origin}/admin/v1/session", data={"token": scene.token})
    page = context.new_page()
    for name in names:
        page.goto(f"{scene.origin}/console/{PLACES[name]}")
        page.wait_for_timeout(700)
        page.screenshot(path=folder / f"{name}-{language}-{theme}-{width}.png", full_page=False)
    context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(PLACES))
