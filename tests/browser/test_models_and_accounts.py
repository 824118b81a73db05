"""Models and their prices, accounts and their money, and the record of who changed what."""

from urllib.parse import quote

from playwright.sync_api import expect
from tests.browser.conftest import Open
from tests.browser.looks import Look, both
from tests.browser.scene import Scene


@both
def test_a_model_that_is_served_free_gets_a_price(console: Open, scene: Scene, look: Look) -> None:
    name = scene.unused("unpriced")
    settings = {"protocol": "chat", "base_url": f"{scene.upstream}/v1", "priority": -9}
    scene.admin("channels", {"name": name, **settings, "models": {name: "sim;words=6;unique_ids"}})
    screen = console("models", **look)
    page, words = screen.page, screen.words("pages/models")
    forms, editor = screen.words("pages/editing/settings"), screen.words("pages/editing/editor")
    free = page.get_by_role("region", name=words["freeTitle"])
    expect(free.get_by_text(name).first).to_be_visible()
    expect(free.get_by_text("steady")).to_have_count(0)
    screen.settle()
    screen.accessible()
    screen.fits()
    page.get_by_role("link", name=words["addPriceOf"].replace("{name}", name)).click()
    expect(page.get_by_label(forms["name"], exact=True).last).to_have_value(name)
    page.get_by_label(forms["price.input"], exact=True).fill("1.25")
    page.get_by_label(forms["price.output"], exact=True).fill("10")
    page.get_by_role("button", name=forms["addTier"]).click()
    page.get_by_label(forms["above_input_tokens"]).fill("200000")
    page.get_by_label(forms["price.input"], exact=True).last.fill("2.50")
    page.get_by_label(forms["service_tiers"], exact=True).fill("priority = 2.0")
    page.get_by_label(forms["first_event_timeout"]).fill("90s")
    page.get_by_role("button", name=editor["add"], exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    stored = scene.one("models", name)
    assert stored["price"] == {"input": "1.25", "output": "10"}
    assert stored["price_tiers"] == [{"above_input_tokens": 200_000, "input": "2.50"}]
    assert (stored["service_tiers"], stored["first_event_timeout"]) == ({"priority": "2.0"}, 90)
    screen.go("models")
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))
    expect(row.last).to_contain_text("1.25")
    expect(page.get_by_role("link", name=words["addPriceOf"].replace("{name}", name))).to_have_count(0)


@both
def test_a_payment_is_credited_once_and_stands_in_the_ledger(console: Open, scene: Scene, look: Look) -> None:
    name, reference = scene.unused("payer"), scene.unused("invoice")
    scene.admin("accounts", {"name": name, "balance": "5"})
    screen = console(f"accounts/{name}", **look)
    screen.expects(422)
    page, words = screen.page, screen.words("pages/accounts")
    for amount in ("-1", "20.5", "20.5"):
        page.get_by_role("button", name=words["credit"], exact=True).first.click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label(words["amount"]).fill(amount)
        dialog.get_by_label(words["reference"], exact=True).fill(reference)
        dialog.get_by_role("button", name=words["credit"], exact=True).click()
        if amount == "-1":
            expect(dialog.get_by_label(words["amount"])).to_have_attribute("aria-invalid", "true")
            screen.accessible()
            page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    assert scene.one("accounts", name)["balance"] == "25.500000000"
    ledger = page.get_by_role("region", name=words["ledger"])
    expect(ledger.get_by_role("row").filter(has_text=reference)).to_have_count(1)
    expect(page.get_by_text("25.50").first).to_be_visible()
    screen.settle()
    screen.fits()


def test_the_ledger_is_read_page_by_page(console: Open, scene: Scene) -> None:
    name = scene.unused("saver")
    scene.admin("accounts", {"name": name, "balance": "1"})
    for number in range(30):
        scene.admin(f"accounts/{name}/credit", {"amount": "0.000001", "reference": f"{name} no {number}"})
    page = console(f"accounts/{name}").page
    ledger = page.get_by_role("region", name="Ledger")
    expect(ledger.get_by_text(f"{name} no 29")).to_be_visible()
    page.get_by_role("button", name="Older").click()
    expect(ledger.get_by_text(f"opening:{name}")).to_be_visible()
    expect(page.get_by_role("button", name="Older")).to_be_disabled()
    page.get_by_role("button", name="Newer").click()
    expect(ledger.get_by_text(f"{name} no 29")).to_be_visible()


@both
def test_the_account_that_nobody_declared_has_a_page(console: Open, scene: Scene, look: Look) -> None:
    key = scene.unused("ownerless")
    scene.admin("keys", {"name": key})
    screen = console("keys", **look)
    screen.expects(404)
    words = screen.words("pages/accounts")
    screen.page.get_by_role("row").filter(has_text=key).get_by_role("link", name="default").click()
    expect(screen.page.get_by_text(words["undeclared"])).to_be_visible()
    expect(screen.page.get_by_role("link", name=key)).to_be_visible()
    expect(screen.page.get_by_role("heading", name=words["ledger"])).to_be_visible()


@both
def test_an_account_is_added_changed_and_deleted_with_its_keys(
    console: Open, scene: Scene, look: Look
) -> None:
    screen = console("accounts/new", **look)
    screen.expects(409)
    page, name = screen.page, scene.unused("team")
    forms, editor, manage = (
        screen.words(f"pages/{part}") for part in ("editing/settings", "editing/editor", "manage")
    )
    page.get_by_label(forms["name"], exact=True).fill(name)
    page.get_by_label(forms["balance"]).fill("3")
    page.get_by_role("button", name=editor["add"], exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.get_by_role("link", name=manage["edit"]).click()
    page.get_by_label(forms["budget_per_day"]).fill("1.5")
    page.get_by_label(forms["prepaid"]).uncheck()
    page.get_by_role("button", name=editor["save"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    stored = scene.one("accounts", name)
    assert (stored["budget_per_day"], stored["prepaid"], stored["balance"]) == (
        "1.500000000",
        False,
        "3.000000000",
    )

    scene.admin("keys", {"name": name, "account": name})
    page.get_by_role("button", name=manage["accounts.delete"]).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=manage["accounts.delete"]).click()
    dialog.get_by_label(manage["deleteKeys"]).check()
    screen.accessible()
    dialog.get_by_role("button", name=manage["accounts.delete"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(manage["accounts"])
    assert name not in {key["name"] for key in scene.admin("keys?limit=500")["data"]}


@both
def test_the_record_tells_who_changed_what(console: Open, scene: Scene, look: Look) -> None:
    name = scene.unused("<b>told</b>")
    scene.admin("models", {"name": name, "price": {"input": "1", "output": "2"}})
    scene.admin(f"models/{quote(name, safe='')}", {"max_output_tokens": 777}, "PATCH")
    screen = console("audit", **look)
    page, words = screen.page, screen.words("pages/audit")
    expect(page.get_by_text(name).first).to_be_visible()
    expect(page.locator("main b")).to_have_count(0)
    page.get_by_label(words["name"]).fill(name)
    rows = page.get_by_role("row").filter(has_text=name)
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text(words["action.change"])
    expect(rows.first).to_contain_text("max_output_tokens")
    expect(rows.first).to_contain_text("777")
    expect(rows.first).to_contain_text("admin")
    page.get_by_label(words["kind"]).select_option("keys")
    expect(page.get_by_text(words["nothingFound"])).to_be_visible()
    screen.fits()
