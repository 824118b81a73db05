"""Long lists on a narrow screen begin short, and show the rest when they are asked to."""

from playwright.sync_api import expect
from tests.browser.conftest import Open
from tests.browser.scene import Scene


def test_an_account_with_many_keys_and_postings_is_no_endless_page(console: Open, scene: Scene) -> None:
    account = scene.unused("crowd")
    scene.admin("accounts", {"name": account, "balance": "5"})
    for number in range(9):
        scene.admin(f"accounts/{account}/credit", {"amount": "1", "reference": f"{account} {number}"})
    for number in range(5):
        scene.admin("keys", {"name": f"{account}-{number}", "account": account})
    screen = console(f"accounts/{account}", language="zh", theme="dark", width=390)
    page, words = screen.page, screen.words("pages/accounts")
    keys = page.get_by_role("link", name=f"{account}-")
    expect(keys).to_have_count(3)
    ledger = page.get_by_role("region", name=words["ledger"])
    expect(ledger.get_by_role("row")).to_have_count(1 + 8)
    screen.accessible()
    screen.fits()
    page.get_by_role("button", name=words["allKeys"].replace("{count}", "5")).click()
    expect(keys).to_have_count(5)
    page.get_by_role("button", name=words["older"]).click()
    expect(ledger.get_by_role("row")).to_have_count(1 + 2)


def test_the_groups_of_the_overview_begin_with_the_largest_few(console: Open) -> None:
    screen = console("", width=390)
    groups = screen.page.locator(".groups tbody tr")
    expect(groups).to_have_count(4)
    screen.page.get_by_role("button", name="Show all").click()
    expect(screen.page.get_by_role("button", name="Show all")).to_have_count(0)
    assert groups.count() > 4
    screen.fits()
