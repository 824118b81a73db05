"""Channels in the console: how they are, tested, paused, added, changed by two operators, deleted."""

import re

from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Open
from tests.browser.looks import Look, both
from tests.browser.scene import Scene
from tests.browser.screen import Screen
from tests.harness.dialects import CHAT

CREDENTIAL = "sk-upstream-typed-into-the-console-1"


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


def middle(shown: Locator) -> float:
    """The height of its middle on the page, in pixels."""
    box = shown.bounding_box()
    assert box
    return box["y"] + box["height"] / 2


def stored(scene: Scene, stem: str) -> str:
    """A channel of the database that nothing else uses."""
    name = scene.unused(stem)
    settings = {"protocol": "chat", "base_url": f"{scene.upstream}/v1", "api_key": CREDENTIAL}
    scene.admin("channels", {"name": name, **settings, "models": {name: "sim;words=6;unique_ids"}})
    return name


def field(screen: Screen, name: str) -> Locator:
    return screen.page.get_by_label(screen.words("pages/editing/settings")[name], exact=True)


@both
def test_a_resting_channel_says_why_and_until_when(console: Open, scene: Scene, look: Look) -> None:
    for _ in range(3):
        scene.call("shaky", CHAT)
    screen = console("channels", **look)
    health = screen.words("pages/health")
    shaky = row(screen.page, "shaky")
    expect(shaky.get_by_text(health["cooling"])).to_be_visible()
    left = re.compile(health["left"]["other"] if screen.language == "en" else health["left"])
    pattern = left.pattern.replace("{count}", r"\d+")
    expect(shaky.get_by_text(re.compile(pattern))).to_be_visible()
    expect(shaky).to_contain_text(screen.words("gateway_words")["cooling"].split("{")[0])
    expect(row(screen.page, "sim-messages").get_by_text(health["ready"])).to_be_visible()
    expect(row(screen.page, "sim-messages")).to_contain_text("100")
    screen.fits()


@both
def test_a_channel_is_tested_and_the_report_shown(console: Open, scene: Scene, look: Look) -> None:
    screen = console("channels", **look)
    page, words, test = screen.page, screen.words("pages/channels"), screen.words("pages/channel_test")
    expect(row(page, "spare")).to_be_visible()
    page.get_by_role("link", name=words["testOf"].replace("{name}", "spare")).click()
    expect(page.get_by_text(test["good"])).to_be_visible(timeout=30_000)
    expect(page.get_by_role("heading", name=test["stream.plain stream"])).to_be_visible()
    screen.settle()
    screen.fits()


@both
def test_a_channel_of_patterns_is_tested_with_a_name_of_theirs(
    console: Open, scene: Scene, look: Look
) -> None:
    name = scene.unused("any")
    settings = {"protocol": "chat", "base_url": f"{scene.upstream}/v1", "api_key": CREDENTIAL}
    scene.admin("channels", {"name": name, **settings, "models": {"sim;words=3*": "sim;words=3*"}})
    screen = console(f"channels/{name}?test=1", **look)
    screen.expects(422)
    page, test = screen.page, screen.words("pages/channel_test")
    model = page.get_by_label(test["model"], exact=True)
    expect(model).to_have_value("sim;words=3")
    screen.fits()
    run = page.get_by_role("button", name=test["run"], exact=True)
    assert abs(middle(model) - middle(run)) < 6
    model.fill("other")
    run.click()
    expect(page.locator(".test").get_by_role("alert")).to_contain_text("model")
    model.fill("sim;words=3")
    page.get_by_role("button", name=test["again"]).click()
    expect(page.get_by_text(test["good"])).to_be_visible(timeout=30_000)
    screen.settle()
    screen.expects(404)  # the page may ask for it once more
    scene.admin(f"channels/{name}", method="DELETE")


def test_a_paused_channel_counts_nothing_down(console: Open, scene: Scene) -> None:
    for _ in range(3):
        scene.call("shaky", CHAT)
    screen = console("channels")
    health, shaky = screen.words("pages/health"), row(screen.page, "shaky")
    expect(shaky.locator(".why")).to_be_visible()
    scene.admin("channels/shaky/pause", method="POST")
    expect(shaky.get_by_text(health["paused"])).to_be_visible(timeout=15_000)
    expect(shaky.locator(".why")).to_have_count(0)
    scene.admin("channels/shaky/resume", method="POST")


def test_what_a_test_finds_is_shown_as_text(console: Open, scene: Scene) -> None:
    name = scene.unused("odd")
    settings = {"protocol": "chat", "base_url": f"{scene.upstream}/v1", "api_key": CREDENTIAL}
    scene.admin(
        "channels", {"name": name, **settings, "models": {name: "sim;no_end;text=%3Cb%3Ebold%3C/b%3E"}}
    )
    screen = console(f"channels/{name}?test=1")
    expect(screen.page.get_by_text("departure", exact=False).first).to_be_visible(timeout=30_000)
    expect(screen.page.locator(".found-error").first).to_be_visible()
    expect(screen.page.locator("main b")).to_have_count(0)
    screen.expects(404)  # the page may ask for it once more
    scene.admin(f"channels/{name}", method="DELETE")


@both
def test_a_channel_is_paused_and_resumed(console: Open, scene: Scene, look: Look) -> None:
    name = stored(scene, "resting")
    screen = console("channels", **look)
    page, words, health = screen.page, screen.words("pages/channels"), screen.words("pages/health")
    page.get_by_role("button", name=words["pauseOf"].replace("{name}", name)).click()
    screen.accessible()
    page.get_by_role("dialog").get_by_role("button", name=words["pause"]).click()
    expect(row(page, name).get_by_text(health["paused"])).to_be_visible()
    assert scene.one("channels", name)["state"] == "paused"
    page.get_by_role("button", name=words["resumeOf"].replace("{name}", name)).click()
    expect(row(page, name).get_by_text(health["ready"])).to_be_visible()
    row(page, name).get_by_role("link", name=name, exact=True).click()
    since = page.get_by_text(words["since"], exact=True)
    expect(page.get_by_text(words["openRequests"], exact=True)).to_be_visible()
    expect(since).to_have_count(0)
    page.get_by_role("button", name=words["drain"]).click()
    page.get_by_role("dialog").get_by_role("button", name=words["drain"]).click()
    expect(page.get_by_text(health["draining"]).first).to_be_visible()
    expect(since).to_be_visible()
    assert scene.one("channels", name)["state_changed_by"] == "admin"


@both
def test_a_channel_is_added_serves_is_changed_and_deleted(console: Open, scene: Scene, look: Look) -> None:
    screen = console("channels/new", **look)
    page, name = screen.page, scene.unused("typed")
    editor, manage = screen.words("pages/editing/editor"), screen.words("pages/manage")
    field(screen, "name").fill(name)
    field(screen, "base_url").fill(f"{scene.upstream}/v1")
    field(screen, "api_key").fill(CREDENTIAL)
    field(screen, "channel_models").fill(f"{name} = sim;words=6;unique_ids\n{name}-2")
    field(screen, "priority").fill("7")
    page.get_by_text(screen.words("pages/editing/settings")["connection"]).click()
    field(screen, "headers").fill("X-Team: purple")
    page.get_by_text(screen.words("pages/editing/settings")["capabilities"], exact=True).first.click()
    boxes = page.locator(".several").first.get_by_role("checkbox")
    assert len({middle(box) for box in boxes.all()[:2]}) == 1
    page.get_by_role("button", name=editor["add"], exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    assert scene.one("channels", name)["header_names"] == ["x-team"]
    assert scene.call(name)

    page.get_by_role("link", name=manage["edit"]).click()
    field(screen, "priority").fill("8")
    page.get_by_role("button", name=editor["save"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    changed = scene.one("channels", name)
    assert (changed["priority"], changed["has_api_key"]) == (8, True)
    assert changed["models"] == {name: "sim;words=6;unique_ids", f"{name}-2": f"{name}-2"}
    assert CREDENTIAL not in page.content()
    page.get_by_role("button", name=manage["channels.delete"]).click()
    page.get_by_role("dialog").get_by_role("button", name=manage["channels.delete"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(manage["channels"])
    expect(row(page, name)).to_have_count(0)


@both
def test_what_the_file_declares_is_only_shown(console: Open, look: Look) -> None:
    screen = console("channels/sim-chat", **look)
    editor, manage = screen.words("pages/editing/editor"), screen.words("pages/manage")
    expect(screen.page.get_by_text(editor["byFile"])).to_be_visible()
    expect(screen.page.get_by_role("link", name=manage["edit"])).to_have_count(0)
    expect(screen.page.get_by_role("button", name=manage["channels.delete"])).to_have_count(0)
    screen.go("channels/sim-chat/edit")
    screen.settle()
    expect(screen.page.get_by_text(editor["byFile"])).to_be_visible()
    expect(screen.page.get_by_role("button", name=editor["save"])).to_have_count(0)


@both
def test_two_operators_see_what_the_other_has_changed(console: Open, scene: Scene, look: Look) -> None:
    name = stored(scene, "shared")
    screen = console(f"channels/{name}/edit", **look)
    screen.expects(412)
    editor, page = screen.words("pages/editing/editor"), screen.page
    field(screen, "weight").fill("3")
    scene.admin(f"channels/{name}", {"priority": 4}, "PATCH")
    page.get_by_role("button", name=editor["save"]).click()
    box = page.get_by_role("alert").filter(has_text=editor["changedTitle"])
    expect(box).to_be_visible()
    expect(box.get_by_role("row")).to_have_count(3)
    expect(box).to_contain_text("admin")
    screen.accessible()
    box.get_by_role("button", name=editor["keep"]).click()
    expect(field(screen, "priority")).to_have_value("4")
    expect(field(screen, "weight")).to_have_value("3")
    page.get_by_role("button", name=editor["save"]).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    changed = scene.one("channels", name)
    assert (changed["priority"], changed["weight"]) == (4, 3)


def test_a_channel_that_cannot_be_opened_says_so_and_can_be_mended(console: Open, scene: Scene) -> None:
    name = stored(scene, "sealed")
    screen = console("channels")
    page = screen.page
    screen.settle()
    left = ("name", "managed_by", "version", "created_at", "changed_at", "warnings", "state")
    shown = {key: value for key, value in scene.one("channels", name).items() if key in left}
    shown["problem"] = "its credential cannot be opened: was it sealed with another server.secret?"
    page.route(
        f"**/admin/v1/channels/{name}",
        lambda route: (
            route.fulfill(json=shown, headers={"etag": f'"{shown["version"]}"'})
            if route.request.method == "GET"
            else route.continue_()
        ),
    )
    screen.go(f"channels/{name}")
    expect(page.get_by_text("cannot use what is stored")).to_be_visible()
    expect(page.get_by_role("button", name="Test", exact=True)).to_be_disabled()
    screen.accessible()
    page.get_by_role("link", name="Edit").click()
    field(screen, "api_key").fill(CREDENTIAL)
    page.get_by_role("button", name="Save").click()
    page.unroute(f"**/admin/v1/channels/{name}")
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
