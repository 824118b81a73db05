"""Overview, list of requests and the page of a request, under live traffic."""

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Route, expect
from tests.browser.conftest import Open
from tests.browser.scene import MARKUP, Scene
from tests.harness.dialects import CHAT

LOOKS = [("en", "light", 1440), ("zh", "dark", 390)]
IMAGE = "<img src=x onerror=alert(1)>"
TURNED = "sim\u202egnp {{constructor}}"

Change = Callable[[Any], Any]


def changed(page: Page, pattern: str, change: Change) -> None:
    """The gateway's answers of these addresses, changed on their way."""

    def answer(route: Route) -> None:
        told = route.fetch()
        route.fulfill(response=told, body=json.dumps(change(told.json())))

    page.route(pattern, answer)


def in_words(page: Page, why: str) -> str:
    """A reason of the gateway's in the language of the page."""
    code = "(why) => import('/console/gateway_words.js').then((module) => module.reasonWords(why))"
    return str(page.evaluate(code, why))


def row(scene: Scene, identifier: str) -> Any:
    return scene.admin(f"requests/{identifier}")


@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_the_overview_tells_figures_charts_and_groups(
    console: Open, language: str, theme: str, width: int
) -> None:
    words = {
        "en": ("Requests", "By model", "Requests by outcome", "Table", "Channel", "By channel", "Remove"),
        "zh": ("请求数", "按模型统计", "请求数（按结果）", "表格", "渠道", "按渠道统计", "移除"),
    }[language]
    requests, by_model, chart, table, channel, by_channel, remove = words
    screen = console("?range=15m", language=language, theme=theme, width=width)
    page = screen.page
    tile = page.locator("dl.tiles > div", has=page.get_by_text(requests, exact=True))
    expect(tile.locator("dd").first).to_have_text(re.compile("[1-9]"))
    expect(page.get_by_role("img", name=chart).locator("canvas")).to_be_visible()
    page.get_by_role("button", name=f"{table}: {chart}").click()
    figures = page.get_by_role("region", name=chart)
    expect(figures.get_by_role("row")).to_have_count(17)  # 15 minutes, the one that has begun, and the head
    screen.accessible()
    screen.fits()

    expect(page.get_by_role("heading", name=by_model)).to_be_visible()
    page.get_by_role("link", name="steady", exact=True).click()
    expect(page.get_by_role("button", name=re.compile(f"^{remove}.*steady"))).to_be_visible()
    page.get_by_role("main").get_by_text(channel, exact=True).click()
    expect(page.get_by_role("heading", name=by_channel)).to_be_visible()
    assert "model=steady" in page.url
    assert "group_by=channel" in page.url
    page.reload()  # whoever gets the link sees the same
    expect(page.get_by_role("heading", name=by_channel)).to_be_visible()
    expect(page.get_by_role("button", name=re.compile(f"^{remove}.*steady"))).to_be_visible()
    page.go_back()
    expect(page.get_by_role("button", name=re.compile(f"^{remove}"))).to_have_count(0)


def test_groups_are_sorted_by_a_click_and_lead_to_their_requests(console: Open) -> None:
    page = console("?range=15m").page
    names = page.locator(".groups tbody td:first-child")
    expect(names.first).to_be_visible()
    page.get_by_role("button", name="Model", exact=True).click()
    page.get_by_role("button", name="Model", exact=True).click()
    expect(page.get_by_role("columnheader", name="Model")).to_have_attribute("aria-sort", "ascending")
    shown = [text for text in names.all_inner_texts() if text not in ("Not known", "All others")]
    assert shown == sorted(shown, key=str.lower)
    page.locator(".groups tbody tr", has_text="steady").get_by_title("Show these requests").click()
    expect(page).to_have_url(re.compile(r"/console/requests\?range=15m&model=steady"))
    expect(page.get_by_role("row").nth(1)).to_contain_text("steady")


def test_a_newcomer_is_told_the_first_request(console: Open, scene: Scene) -> None:
    def nothing(told: Any) -> Any:
        return told | {"totals": told["totals"] | {"requests": 0}, "open_requests": 0, "groups": []}

    screen = console("requests")
    page = screen.page
    changed(page, "**/admin/v1/overview?*", nothing)
    changed(page, "**/admin/v1/requests?limit=1", lambda told: told | {"data": []})
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("No requests yet")).to_be_visible()
    curl = page.get_by_role("region", name="The first request")
    expect(curl).to_contain_text(f"curl -N {scene.origin}/v1/chat/completions")
    expect(curl).to_contain_text("$TIDEGATE_KEY")
    screen.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="The first request").click()
    assert page.evaluate("() => navigator.clipboard.readText()") == curl.inner_text()


@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_requests_are_filtered_found_and_paged(
    console: Open, scene: Scene, language: str, theme: str, width: int
) -> None:
    outcome, older, newest, search, failed = {
        "en": ("Outcome", "Older", "Newest", "Request id", "Failed"),
        "zh": ("结果", "更早", "最新", "请求 ID", "失败"),
    }[language]
    scene.wait(scene.gateway.rows("limit=1"))
    screen = console("requests", language=language, theme=theme, width=width)
    page = screen.page
    rows = page.locator(".requests tbody tr")
    expect(rows.first).to_be_visible()
    screen.accessible()
    screen.fits()
    page.get_by_label(outcome).select_option("failed")
    expect(page).to_have_url(re.compile("outcome=failed"))
    expect(rows.first).to_contain_text(failed)
    expect(page.locator(".requests .badge.good")).to_have_count(0)

    wanted = scene.call("quick")
    page.goto(f"{scene.origin}/console/requests")
    page.get_by_label(search).fill(wanted[:-1])
    expect(page).to_have_url(re.compile(f"id={wanted[:-1]}$"))
    expect(rows.get_by_role("link")).to_contain_text([f"…{wanted[-8:]}"])

    changed(page, "**/admin/v1/requests?limit=50", lambda told: told | {"next": told["data"][1]["id"]})
    page.goto(f"{scene.origin}/console/requests")
    first = rows.first.get_by_role("link").get_attribute("href")
    page.get_by_role("link", name=older).click()
    expect(page).to_have_url(re.compile("before=.*page=2"))
    expect(rows.first.get_by_role("link")).not_to_have_attribute("href", first or "")
    page.get_by_role("link", name=newest).click()
    expect(page).to_have_url(re.compile("/requests$"))


def test_a_filter_that_cannot_be_is_told_at_its_field(console: Open) -> None:
    screen = console("requests")
    screen.expects(400)
    page = screen.page
    page.get_by_role("button", name="More filters").click()
    page.get_by_label("Status").fill("abc")
    expect(page.get_by_label("Status")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("A status is a number from 100 to 599.")).to_be_visible()
    screen.accessible()
    page.get_by_label("Status").fill("200")
    expect(page.locator(".requests tbody tr").first).to_contain_text("200")


def test_live_rows_come_by_themselves_and_never_move_what_is_read(console: Open, scene: Scene) -> None:
    screen = console("requests")
    page = screen.page
    rows = page.locator(".requests tbody tr")
    expect(rows.nth(20)).to_be_visible()
    between = scene.call("quick")  # ended after the page was loaded, and before the tail begins
    page.get_by_role("button", name="Live", exact=True).click()
    expect(page.locator(f'a[href$="{between}"]')).to_be_visible()
    expect(page.get_by_text("Live: new requests appear as they end")).to_be_visible()
    new = scene.call("quick")
    expect(page.locator(f'tr.fresh a[href$="{new}"]')).to_be_visible()
    screen.accessible()

    page.mouse.move(700, 500)
    page.mouse.wheel(0, 400)
    page.wait_for_function("() => scrollY > 300")
    seen = rows.nth(12).inner_text()
    place = rows.nth(12).bounding_box()
    scene.call("quick")
    waiting = page.get_by_role("button", name=re.compile(r"Show \d+ new request"))
    expect(waiting).to_be_visible()
    assert rows.nth(12).inner_text() == seen
    assert rows.nth(12).bounding_box() == place
    waiting.click()
    page.wait_for_function("() => scrollY === 0")

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    last = scene.call("quick")
    expect(waiting).to_be_visible()
    expect(page.locator(f'a[href$="{last}"]')).to_have_count(0)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(f'a[href$="{last}"]')).to_be_visible()
    assert rows.count() <= 200


@pytest.mark.parametrize(("language", "theme", "width"), LOOKS)
def test_a_request_tells_why_its_first_channel_failed_and_what_it_cost(
    console: Open, scene: Scene, language: str, theme: str, width: int
) -> None:
    attempt, served, why, why_not, charged, dropped, copy = {
        "en": (
            "Attempt",
            "Served",
            "Why here",
            "Why not",
            "Charged",
            "did not reach the channel",
            "Copy link",
        ),
        "zh": ("次尝试", "成功应答", "选择原因", "未使用原因", "实收", "未传给渠道", "复制链接"),
    }[language]
    identifier = scene.call("thoughtful", CHAT, top_k=5)
    told = row(scene, identifier)
    screen = console(f"requests/{identifier}", language=language, theme=theme, width=width)
    page = screen.page
    expect(page.locator(".attempt")).to_have_count(len(told["attempts"]))
    last = page.locator(".attempt").last
    expect(last).to_contain_text(attempt)
    expect(last).to_contain_text(served)
    expect(last).to_contain_text(why)
    reason = in_words(page, told["attempts"][-1]["reason"])
    assert ("priority" in reason) == (language == "en")
    expect(last).to_contain_text(reason)
    assert float(told["cost"]) > 0
    cost = told["cost"].rstrip("0")
    expect(page.get_by_role("row", name=re.compile(charged))).to_contain_text(f"${cost}")
    for skipped in told["skipped"]:
        expect(page.get_by_role("region", name=re.compile("left out|未使用的渠道"))).to_contain_text(
            in_words(page, skipped["why"])
        )
        expect(page.get_by_role("columnheader", name=why_not)).to_have_count(1)
    if told["warnings"]:
        expect(page.get_by_text(dropped)).to_be_visible()
    screen.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name=copy).click()
    assert page.evaluate("() => navigator.clipboard.readText()") == page.url
    screen.fits()


def test_failed_attempts_and_errors_are_told_as_they_were(console: Open, scene: Scene) -> None:
    scene.pause()
    failed = next(one for one in scene.wait(scene.gateway.rows("limit=200")) if len(one["attempts"]) > 1)
    page = console(f"requests/{failed['id']}").page
    expect(page.locator(".attempt").first).to_contain_text("Failed")
    expect(page.locator(".attempt-error").first).to_contain_text(failed["attempts"][0]["error"])
    cut = scene.wait(scene.gateway.rows("limit=1&outcome=interrupted"))[0]["id"]
    page.goto(f"{scene.origin}/console/requests/{cut}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Interrupted")
    said = row(scene, cut)["error"]["message"]
    expect(page.locator(".failure")).to_contain_text(said)
    page.get_by_role("button", name="Older").click()
    expect(page.get_by_role("heading", level=1)).not_to_contain_text(cut)
    page.get_by_role("button", name="Newer").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(cut)
    page.goto(f"{scene.origin}/console/requests/{scene.call('quick')}")
    page.get_by_role("button", name="Newer").click()
    expect(page.get_by_text("There is no newer request.")).to_be_visible()
    scene.resume()


def test_a_charge_is_paid_back_once(console: Open, scene: Scene) -> None:
    screen = console(f"requests/{scene.call('steady')}")
    page = screen.page
    refund = page.get_by_role("button", name="Refund …")
    refund.click()
    dialog = page.get_by_role("dialog", name="Refund this request")
    screen.accessible()
    dialog.get_by_label("Amount").fill("99")
    screen.expects(422, 409)
    dialog.get_by_role("button", name="Refund", exact=True).click()
    expect(dialog.get_by_label("Amount")).to_have_attribute("aria-invalid", "true")
    screen.accessible()
    dialog.get_by_label("Amount").fill("")
    dialog.get_by_role("button", name="Refund", exact=True).click()
    expect(page.get_by_text("was paid back to acme.")).to_be_visible()
    expect(dialog).to_have_count(0)
    expect(refund).to_be_focused()
    refund.click()
    dialog.get_by_role("button", name="Refund", exact=True).click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


@pytest.mark.parametrize("name", [IMAGE, TURNED])
def test_names_from_outside_are_text_and_nothing_else(console: Open, scene: Scene, name: str) -> None:
    identifier = scene.call(name)
    shown = name.replace("\u202e", "⟨U+202E⟩")
    screen = console(f"requests?id={identifier}")
    page = screen.page
    expect(page.locator(".requests tbody tr")).to_contain_text(shown)
    page.locator(".requests tbody tr td").nth(4).click()
    expect(page.locator(".request")).to_contain_text(shown)
    expect(page.get_by_text("No channel was tried.")).to_be_visible()
    page.goto(f"{scene.origin}/console/?range=15m&model={quote(name)}")
    expect(page.locator(".chip")).to_contain_text(shown)
    page.goto(f"{scene.origin}/console/?range=15m&group_by=account")
    expect(page.get_by_role("link", name=MARKUP, exact=True)).to_be_visible()
    assert page.locator("main img, main b:not(.parts-legend b)").count() == 0


def test_captured_content_is_shown_as_text_when_it_is_asked_for(console: Open, scene: Scene) -> None:
    name = scene.unused("captured")
    secret = scene.admin("keys", {"name": name, "account": "acme", "capture": 1})["secret"]
    body = CHAT.request("quick", stream=True) | {
        "messages": [{"role": "user", "content": "<script>alert(1)</script>"}]
    }
    reply = scene.wait(scene.gateway.call(CHAT, body, key=secret))
    screen = console(f"requests/{reply.header('x-request-id')}")
    page = screen.page
    show = page.get_by_role("button", name="Show the content")
    expect(show).to_be_visible()
    assert page.get_by_text("<script>").count() == 0
    show.click()
    expect(page.get_by_role("region", name="Request", exact=True)).to_contain_text(
        "<script>alert(1)</script>"
    )
    expect(page.get_by_role("region", name="Answer", exact=True)).to_contain_text("data: [DONE]")
    screen.accessible()
    screen.expects(404)
    page.get_by_role("button", name="Delete the content").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the content").click()
    expect(page.get_by_text("The content is not kept any more.")).to_be_visible()


def test_rows_of_earlier_versions_have_no_finer_times(console: Open, scene: Scene) -> None:
    fine = ("reason", "failure_kind", "connected_ms", "first_byte_ms", "first_event_ms")

    def older(told: Any) -> Any:
        attempts = [one | dict.fromkeys(fine) for one in told["attempts"]]
        return told | {"attempts": attempts, "skipped": [], "user_agent": None}

    identifier = scene.call("steady")
    screen = console("requests")
    expect(screen.page.locator(".requests tbody tr").first).to_be_visible()
    changed(screen.page, f"**/admin/v1/requests/{identifier}", older)
    screen.page.goto(f"{scene.origin}/console/requests/{identifier}")
    expect(screen.page.locator(".attempt")).to_have_count(len(row(scene, identifier)["attempts"]))
    expect(screen.page.get_by_text("This row is from an earlier version")).to_be_visible()
    expect(screen.page.get_by_text("Why here")).to_have_count(0)


def test_a_request_that_is_not_there_yet_can_be_looked_for_again(console: Open) -> None:
    screen = console("requests")
    expect(screen.page.locator(".requests tbody tr").first).to_be_visible()
    screen.expects(404)
    screen.page.goto(f"{screen.origin}/console/requests/req_nothing")
    expect(screen.page.get_by_text("There is no request with this id")).to_be_visible()
    screen.page.get_by_role("button", name="Look again").click()
    expect(screen.page.get_by_text("There is no request with this id")).to_be_visible()
