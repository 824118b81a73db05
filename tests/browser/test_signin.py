"""Signing in and out, and what the frame around every page does."""

import re

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Open
from tests.browser.scene import Scene
from tests.browser.screen import Screen

WORDS = {
    "en": {
        "token": "Admin token",
        "enter": "Sign in",
        "wrong": "This token is not accepted.",
        "menu": "Menu",
    },
    "zh": {"token": "管理令牌", "enter": "登录", "wrong": "令牌不正确。", "menu": "菜单"},
}


ALL_OFFERED = """
() => ["models", "channels", "keys", "accounts"].every((kind) =>
  performance.getEntriesByType("resource").some((one) => one.name.includes(`/v1/${kind}?`)))
"""
"""The names that the filters offer have been fetched."""


def signed_out(console: Open, path: str, **how: object) -> Screen:
    """A page that is opened without a session, in a browser that knows the console."""
    screen = console("requests", **how)
    expect(screen.page.get_by_role("row").nth(1)).to_be_visible()
    screen.context.clear_cookies()
    screen.expects(401)
    screen.page.goto(f"{screen.origin}/console/{path}")
    return screen


def sign_in(screen: Screen, token: str, language: str = "en") -> None:
    words = WORDS[language]
    screen.page.get_by_label(words["token"], exact=True).fill(token)
    screen.page.get_by_role("button", name=words["enter"], exact=True).click()


@pytest.mark.parametrize(("language", "theme", "width"), [("en", "light", 1440), ("zh", "dark", 390)])
def test_a_shared_link_asks_for_the_token_and_then_shows_its_page(
    console: Open, scene: Scene, language: str, theme: str, width: int
) -> None:
    path = "requests?outcome=completed"
    screen = signed_out(console, path, language=language, theme=theme, width=width)
    page = screen.page
    sign_in(screen, "not-the-token", language)
    expect(page.get_by_text(WORDS[language]["wrong"]).first).to_be_visible()
    screen.accessible()
    screen.fits()
    sign_in(screen, scene.token, language)
    expect(page.get_by_role("row").nth(3)).to_be_visible()
    assert page.url.endswith("/console/requests?outcome=completed")
    assert page.locator("html").get_attribute("lang") == {"en": "en", "zh": "zh-CN"}[language]


def test_a_session_that_ends_leaves_the_page_as_it_was(console: Open, scene: Scene) -> None:
    screen = console("requests?outcome=completed")
    page = screen.page
    expect(page.get_by_role("row").nth(3)).to_be_visible()
    screen.expects(401)
    page.get_by_role("button", name="More filters").click()
    page.wait_for_function(ALL_OFFERED)
    screen.context.clear_cookies()
    page.get_by_label("Model").fill("quick")
    expect(page.get_by_text("Your session is over.")).to_be_visible()
    expect(page.get_by_role("table")).to_be_hidden()
    screen.accessible()
    sign_in(screen, scene.token)
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    expect(page.get_by_label("Model")).to_have_value("quick")
    expect(page.get_by_role("button", name="Fewer filters")).to_be_visible()


def test_signing_out_ends_the_session_in_every_tab(console: Open) -> None:
    screen = console("requests")
    expect(screen.page.get_by_role("row").nth(3)).to_be_visible()
    other = screen.another()
    other.goto(screen.page.url)
    expect(other.get_by_role("row").nth(3)).to_be_visible()
    screen.page.get_by_role("button", name="Sign out").click()
    expect(screen.page.get_by_label("Admin token", exact=True)).to_be_focused()
    assert screen.page.url.endswith("/console/")
    screen.expects(401)
    other.get_by_label("Outcome").select_option("failed")
    expect(other.get_by_text("Your session is over.")).to_be_visible()


def test_language_and_theme_change_at_once_and_are_remembered(console: Open) -> None:
    screen = console("requests")
    page = screen.page
    page.get_by_text("简体中文").click()
    expect(page.get_by_role("heading", name="请求")).to_be_visible()
    page.get_by_text("深色").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.route("**/app.js", lambda route: route.abort())
    with screen.offline():
        page.reload(wait_until="domcontentloaded")
        # Before a line of the console has run, so nothing flashes.
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.unroute("**/app.js")
    page.reload()
    expect(page.get_by_role("heading", name="请求")).to_be_visible()


def test_everything_is_within_reach_of_the_keyboard(console: Open) -> None:
    page = console("").page
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile("/console/requests$"))
    expect(page.get_by_role("row").nth(3)).to_be_visible()
    page.keyboard.press("/")
    search = page.get_by_label("Request id")
    expect(search).to_be_focused()
    page.keyboard.type("?/")
    expect(search).to_have_value("?/")
    expect(page.get_by_text("An id begins with req_")).to_have_count(0)
    search.fill("")
    search.blur()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_on_a_narrow_screen_the_navigation_is_behind_a_button(console: Open) -> None:
    screen = console("", width=390, theme="dark")
    page = screen.page
    page.set_viewport_size({"width": 360, "height": 740})
    menu = page.get_by_role("button", name="Menu")
    expect(page.get_by_role("link", name="Requests", exact=True)).to_be_hidden()
    menu.click()
    expect(page.get_by_role("link", name="Requests", exact=True)).to_be_visible()
    screen.accessible()
    page.keyboard.press("Escape")
    expect(menu).to_have_attribute("aria-expanded", "false")
    menu.click()
    page.get_by_role("link", name="Requests", exact=True).click()
    expect(page.get_by_role("row").nth(3)).to_be_visible()
    expect(page.get_by_role("button", name="Menu")).to_have_attribute("aria-expanded", "false")
    screen.fits()


def test_while_the_gateway_is_away_the_page_stays_and_goes_on_by_itself(console: Open) -> None:
    screen = console("requests")
    page = screen.page
    expect(page.get_by_role("row").nth(3)).to_be_visible()
    page.wait_for_function(
        "() => performance.getEntriesByType('resource').some((one) => one.name.endsWith('/uplot.js'))"
    )
    page.wait_for_timeout(300)  # the modules of the other pages have been fetched, and are read now
    with screen.offline():
        screen.context.set_offline(True)
        page.get_by_role("link", name="Overview").click()
        expect(page.get_by_text("What you see is what was last read; trying again.")).to_be_visible()
        expect(page.get_by_role("button", name="Try again")).to_be_visible()
        screen.accessible()
        screen.context.set_offline(False)
        expect(page.get_by_role("heading", name="By model")).to_be_visible()
    expect(page.get_by_text("trying again")).to_have_count(0)


def test_while_the_database_is_away_the_last_figures_stay(console: Open) -> None:
    screen = console("?range=15m")
    page = screen.page
    screen.expects(503)
    expect(page.get_by_role("heading", name="By model")).to_be_visible()
    problem = '{"status": 503, "title": "Service Unavailable", "detail": "the database cannot be used now"}'
    page.route("**/admin/v1/overview?*", lambda route: route.fulfill(status=503, body=problem))
    page.get_by_role("button", name="1 h", exact=True).click()
    expect(page.get_by_text("The gateway’s database is away.")).to_be_visible()
    expect(page.get_by_role("heading", name="By model")).to_be_visible()
    page.unroute("**/admin/v1/overview?*")
    expect(page.get_by_text("The gateway’s database is away.")).to_have_count(0)


def test_a_page_that_is_not_there_leads_home(console: Open) -> None:
    page = console("nothing/here").page
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    page.get_by_role("link", name="To the first page").click()
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()


def test_too_many_wrong_tokens_have_to_wait(console: Open) -> None:
    """The last one here: the gateway lets this address wait for a while."""
    screen = signed_out(console, "")
    screen.expects(429)
    page = screen.page
    enter = page.get_by_role("button", name="Sign in")
    for attempt in range(20):
        sign_in(screen, f"wrong-{attempt}")
        told = page.get_by_text(re.compile("This token is not accepted|Too many tries")).first
        expect(told).to_be_visible()
        expect(page.get_by_role("button", name="Signing in …")).to_have_count(0)
        if enter.is_disabled():
            break
    expect(page.get_by_text(re.compile(r"Too many tries. Try again in \d+ second")).first).to_be_visible()
    expect(enter).to_be_disabled()
