"""Keys in the console: made, shown once, used, changed, revoked."""

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Open
from tests.browser.looks import Look, both
from tests.browser.scene import MARKUP, Scene
from tests.harness.client import fetch


def status(scene: Scene, secret: str) -> int:
    """What the data plane answers to the key."""
    headers = [("authorization", f"Bearer {secret}")]
    return scene.wait(fetch(scene.gateway.port, "GET", "/v1/models", headers)).status


@both
def test_a_key_is_created_shown_once_used_and_revoked(console: Open, scene: Scene, look: Look) -> None:
    screen = console("keys", **look)
    page, name = screen.page, scene.unused("robot")
    keys, forms, manage = (screen.words(f"pages/{part}") for part in ("keys", "editing/settings", "manage"))
    page.get_by_role("link", name=keys["create"]).first.click()
    page.get_by_label(forms["name"], exact=True).fill(name)
    page.get_by_label(forms["account"], exact=True).fill("acme")
    page.get_by_label(forms["requests_per_minute"]).fill("600")
    page.get_by_text(forms["theseModels"]).click()
    page.get_by_role("button", name="steady").click()
    page.get_by_role("button", name=screen.words("pages/editing/editor")["create"], exact=True).click()

    dialog = page.get_by_role("dialog")
    secret = dialog.locator("pre").inner_text()
    assert secret.startswith("sk-tg-")
    assert status(scene, secret) == 200
    done = dialog.get_by_role("button", name=keys["done"])
    expect(done).to_be_disabled()
    page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    screen.accessible()
    dialog.get_by_label(keys["kept"]).check()
    done.click()

    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    assert secret not in page.content()
    stored = scene.one("keys", name)
    assert (stored["account"], stored["models"], stored["requests_per_minute"]) == ("acme", ["steady"], 600)
    page.get_by_role("button", name=manage["keys.delete"]).click()
    page.get_by_role("dialog").get_by_role("button", name=manage["keys.delete"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(keys["title"])
    assert status(scene, secret) == 401


@both
def test_what_a_key_has_spent_and_its_limits_are_shown(console: Open, scene: Scene, look: Look) -> None:
    screen = console("keys", **look)
    words = screen.words("pages/keys")
    meter = screen.page.get_by_role("meter", name=words["today"])
    expect(meter.first).to_be_visible()
    assert float(meter.first.get_attribute("aria-valuemax") or 0) == 5
    screen.page.get_by_role("searchbox").fill("<b>")
    row = screen.page.get_by_role("row").filter(has_text="<b>bold</b>")
    expect(row).to_have_count(1)
    expect(row.get_by_role("link", name=MARKUP).first).to_be_visible()
    expect(screen.page.locator("main b")).to_have_count(0)
    screen.fits()


@both
def test_what_is_wrong_stands_at_its_field(console: Open, look: Look) -> None:
    screen = console("keys/new", **look)
    screen.expects(422)
    page = screen.page
    forms, editor = screen.words("pages/editing/settings"), screen.words("pages/editing/editor")
    page.get_by_label(forms["tokens_per_minute"]).fill("many")
    page.get_by_label(forms["name"], exact=True).fill("env:HOME")
    save = page.get_by_role("button", name=editor["create"], exact=True)
    save.click()
    name = page.get_by_label(forms["name"], exact=True)
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_be_focused()
    name.fill("fine")
    save.click()
    tokens = page.get_by_label(forms["tokens_per_minute"])
    expect(tokens).to_have_attribute("aria-invalid", "true")
    described = tokens.get_attribute("aria-describedby") or ""
    expect(page.locator(f"[id='{described.split()[-1]}']")).to_contain_text(
        screen.words("gateway_words")["whole"]
    )
    expect(page.get_by_text(editor["checkFields"])).to_be_visible()
    keys, gone = screen.words("pages/keys"), screen.words("pages/manage")["keys"]
    page.get_by_role("link", name=gone).first.click()
    dialog = page.get_by_role("dialog")
    screen.accessible()
    dialog.get_by_role("button", name=editor["stay"]).click()
    expect(name).to_have_value("fine")
    page.get_by_role("link", name=gone).first.click()
    dialog.get_by_role("button", name=editor["leave"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(keys["title"])


@both
def test_what_was_typed_is_there_after_the_session_has_ended(console: Open, scene: Scene, look: Look) -> None:
    screen = console("keys/new", **look)
    screen.expects(401)
    page, name = screen.page, scene.unused("patient")
    forms, editor = screen.words("pages/editing/settings"), screen.words("pages/editing/editor")
    shell = screen.words("shell")
    page.get_by_label(forms["name"], exact=True).fill(name)
    screen.context.clear_cookies()
    page.get_by_role("button", name=editor["create"], exact=True).click()
    page.get_by_label(shell["token"], exact=True).fill(scene.token)
    page.get_by_role("button", name=shell["enter"], exact=True).click()
    expect(page.get_by_label(forms["name"], exact=True)).to_have_value(name)
    page.get_by_role("button", name=editor["create"], exact=True).click()
    expect(page.get_by_role("dialog").locator("pre")).to_contain_text("sk-tg-")


@pytest.mark.parametrize("status", [503, 0])
def test_a_key_is_not_said_to_be_made_while_the_database_or_the_gateway_is_away(
    console: Open, scene: Scene, status: int
) -> None:
    screen = console("keys/new")
    screen.expects(503)
    page, name = screen.page, scene.unused("late")
    problem = '{"title": "Service Unavailable", "status": 503, "detail": "the database cannot be used now"}'
    page.route(
        "**/admin/v1/keys",
        lambda route: (
            route.fulfill(status=503, content_type="application/problem+json", body=problem)
            if status
            else route.abort()
        ),
    )
    page.get_by_label("Name", exact=True).fill(name)
    add = page.get_by_role("button", name="Create", exact=True)
    with screen.offline():
        add.click()
        told = "cannot reach its database" if status else "not known whether this was done"
        expect(page.get_by_text(told)).to_be_visible()
    page.unroute("**/admin/v1/keys")
    add.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert scene.one("keys", name)["account"] == "default"
