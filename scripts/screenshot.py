"""Takes docs/images/console.png: the real console on a gateway that has seen a day of simulated traffic.

Usage: python scripts/screenshot.py [FILE]. Needs Chromium at /usr/bin/chromium and takes about half a minute.
"""

import json
import math
import os
import random
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGE = ROOT / "docs" / "images" / "console.png"
TOKEN = "a-token-for-the-picture"
REQUESTS = 1600
DAY = 86_400
LARGEST = 300_000
"""Bytes of the picture."""
MODELS = {
    "sonnet": ("messages", "sim;ttft=350ms;words=40;unique_ids", "3.00", "15.00", 0.44),
    "haiku": ("messages", "sim;ttft=120ms;words=12;unique_ids", "1.00", "5.00", 0.2),
    "gpt-5.5": ("responses", "sim;ttft=600ms;words=60;reasoning=20;unique_ids", "1.25", "10.00", 0.25),
    "qwen3": ("chat", "sim;ttft=200ms;words=25;unique_ids", "0.20", "0.60", 0.1),
    "opus": ("messages", "sim;ttft=900ms;rate=10;words=400", "5.00", "25.00", 0.0),
}
"""Public name -> protocol of its channel, what the provider is asked for, prices, share of the traffic."""
TROUBLE = {"sonnet": ";status=529;fail_rate=1/30", "gpt-5.5": ";cut_after=20;fail_rate=1/50"}
KEYS = {"web-app": 0.5, "ci": 0.15, "laptop": 0.2, "batch": 0.15}
ROUTES = {
    "/v1/chat/completions": lambda text: {"messages": [{"role": "user", "content": text}]},
    "/v1/responses": lambda text: {"input": text},
    "/v1/messages": lambda text: {"max_tokens": 2000, "messages": [{"role": "user", "content": text}]},
}


def config(port: int, provider: str) -> str:
    """The gateway's: two channels for the first model, one for each of the others."""
    parts = [f'[server]\nport = {port}\n[admin]\ntoken = "{TOKEN}"\n[database]\nurl = "sqlite:///shown.db"\n']
    for model, (protocol, upstream, price_in, price_out, _) in MODELS.items():
        spare = [("spare", upstream, 0)] if model in TROUBLE else []
        for name, asked, priority in [("main", upstream + TROUBLE.get(model, ""), 10), *spare]:
            base = provider if protocol == "messages" else f"{provider}/v1"
            parts.append(
                f'[[channels]]\nname = "{model}-{name}"\nprotocol = "{protocol}"\nbase_url = "{base}"\n'
                f'api_key = "sim"\npriority = {priority}\nmodels = {{ "{model}" = "{asked}" }}\n'
            )
        parts.append(
            f'[[models]]\nname = "{model}"\nprice = {{ input = "{price_in}", output = "{price_out}" }}\n'
        )
    parts += [f'[[keys]]\nname = "{name}"\nkey = "sk-tg-picture-{name}-0123456789"\n' for name in KEYS]
    return "".join(parts)


@contextmanager
def running(*command: str, folder: Path) -> Iterator[None]:
    """A server of the command line, from its ready line to its end."""
    log = folder / f"{command[0]}.log"
    environ = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with (
        log.open("wb") as output,
        subprocess.Popen(
            [sys.executable, "-m", "tidegate", *command], cwd=folder, env=environ, stderr=output
        ) as process,
    ):
        try:
            deadline = time.monotonic() + 30
            while "listening on" not in log.read_text():
                if process.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit(log.read_text())
                time.sleep(0.05)
            yield
        finally:
            process.terminate()
            process.wait(30)


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def ask(base: str, chance: random.Random, model: str = "") -> None:
    """One request of some caller, over some protocol; a failure is part of the picture."""
    model = model or chance.choices(list(MODELS), [share for *_, share in MODELS.values()])[0]
    model = "gpt-4" if chance.random() < 0.01 else model  # which nobody serves
    key = chance.choices(list(KEYS), list(KEYS.values()))[0]
    route = chance.choice(list(ROUTES))
    text = "What does the tide bring? " * chance.randint(1, 200)
    body = {"model": model, "stream": chance.random() < 0.85, **ROUTES[route](text)}
    if route == "/v1/messages" and chance.random() < 0.05:
        body["max_tokens"] = 5  # cuts the answer
    headers = {
        "authorization": f"Bearer sk-tg-picture-{key}-0123456789",
        "content-type": "application/json",
    }
    request = urllib.request.Request(base + route, json.dumps(body).encode(), headers)
    with suppress(urllib.error.URLError, OSError), urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()


def traffic(base: str, number: int, seed: int) -> None:
    """So many requests, many at a time."""
    with ThreadPoolExecutor(48) as pool:
        list(pool.map(lambda one: ask(base, random.Random(seed + one)), range(number)))


def spread(database: Path, now: float) -> None:
    """Lay the rows over the last day, most of them in its working hours."""
    chance = random.Random(7)
    with closing(sqlite3.connect(database)) as connection, connection:
        numbers = [number for (number,) in connection.execute("SELECT seq FROM requests ORDER BY seq")]
        moments: list[float] = []
        while len(moments) < len(numbers):
            ago = chance.random() * DAY
            if chance.random() < 0.25 + 0.75 * math.sin(math.pi * (1 - ago / DAY)) ** 2:
                moments.append(now - ago)
        rows = [(int(at * 1e6), number) for at, number in zip(sorted(moments), numbers, strict=True)]
        connection.executemany("UPDATE requests SET created_at = ? WHERE seq = ?", rows)
        connection.execute("DELETE FROM figure_buckets")  # sums by time: the next start makes them anew
        connection.execute(
            "UPDATE figure_progress SET version = version + 1, state = ?",
            ('{"reached":0,"gaps":[],"backlog":[]}',),
        )


def take(page: Page, base: str, path: Path) -> None:
    """Sign in, choose the last day, and take the picture."""
    page.goto(f"{base}/console/")
    page.get_by_label("token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Overview").wait_for()
    page.get_by_role("button", name="24 h").click()
    page.wait_for_timeout(4000)
    page.screenshot(path=path)


def main() -> None:
    """The whole of it."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGE
    with tempfile.TemporaryDirectory() as name:
        folder, port, provider = Path(name), free_port(), free_port()
        base = f"http://127.0.0.1:{port}"
        (folder / "tidegate.toml").write_text(config(port, f"http://127.0.0.1:{provider}"))
        with running("sim", "--port", str(provider), folder=folder):
            with running("serve", folder=folder):
                traffic(base, REQUESTS, 1)
            spread(folder / "shown.db", time.time())
            with running("serve", folder=folder), sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path="/usr/bin/chromium", args=["--no-sandbox"]
                )
                context = browser.new_context(
                    viewport={"width": 1440, "height": 900}, color_scheme="light", locale="en-GB"
                )
                with ThreadPoolExecutor(5) as open_streams:
                    for number in range(5):
                        open_streams.submit(ask, base, random.Random(number), "opus")
                    take(context.new_page(), base, path)
                    browser.close()
    size = path.stat().st_size
    sys.stdout.write(f"{path}: {size} bytes\n")
    sys.exit(1 if size > LARGEST else 0)


if __name__ == "__main__":
    main()
