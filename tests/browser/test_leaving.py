"""Nothing that was typed is lost by the way, and what is not there says so and leads back."""

import re

from playwright.sync_api import expect
from tests.browser.conftest import Open
from tests.browser.looks import Look, both
from tests.browser.scene import Scene


@both
def test_a_dialog_gives_way_to_signing_in_and_keeps_what_was_typed(
    console: Open, scene: Scene, look: Look
) -> None:
    screen = console("accounts/initech", **look)
    screen.expects(401)
    page, words, shell = screen.page, screen.words("pages/accounts"), screen.words("shell")
    page.get_by_role("button", name=words["credit"], exact=True).first.click()
    amount = page.get_by_role("dialog").get_by_label(words["amount"])
    amount.fill("7.5")
    screen.context.clear_cookies()  # the page asks for the account again of itself
    token = page.get_by_label(shell["token"], exact=True)
    expect(token).to_be_focused()
    screen.accessible()
    page.keyboard.type(scene.token)
    page.keyboard.press("Enter")
    expect(amount).to_have_value("7.5")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name=words["credit"], exact=True).first).to_be_focused()


def test_going_back_and_jumping_ask_before_input_is_lost(console: Open) -> None:
    screen = console("keys")
    page = screen.page
    page.get_by_role("link", name="Create a key").first.click()
    name = page.get_by_label("Name", exact=True)
    name.fill("half")
    page.go_back()
    page.get_by_role("dialog").get_by_role("button", name="Stay").click()
    expect(name).to_have_value("half")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    expect(page).to_have_url(re.compile("/console/requests$"))
    page.go_back()
    expect(name).to_have_value("")
    name.fill("half")
    page.get_by_role("button", name="Cancel").click()  # says itself that it gives up
    expect(page).to_have_url(re.compile("/console/keys$"))
    screen.settle()


@both
def test_what_is_not_there_says_so_and_leads_back(console: Open, look: Look) -> None:
    screen = console("keys/there-is-none", **look)
    screen.expects(404)
    page, words = screen.page, screen.words("pages/manage")
    for kind in ("keys", "channels", "models", "accounts"):
        for address in (f"{kind}/there-is-none", f"{kind}/there-is-none/edit"):
            screen.go(address)
            expect(page.get_by_text(words[f"{kind}.none"])).to_be_visible()
        screen.accessible()
        screen.fits()
        page.get_by_role("link", name=words[f"{kind}.all"]).click()
        expect(page).to_have_url(re.compile(f"/console/{kind}$"))
        screen.settle()


@both
def test_a_failure_without_words_tells_at_least_its_status(console: Open, look: Look) -> None:
    screen = console("keys", **look)
    screen.expects(500)
    screen.settle()
    screen.page.route("**/admin/v1/accounts*", lambda route: route.fulfill(status=500, body="<html>"))
    screen.go("accounts")
    alert = screen.page.get_by_role("alert")
    expect(alert).to_contain_text("500")
    screen.page.unroute("**/admin/v1/accounts*")
    alert.get_by_role("button").click()
    expect(screen.page.get_by_role("link", name="initech").first).to_be_visible()
