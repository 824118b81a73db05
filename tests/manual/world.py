"""What the commands of the manual are run in: a gateway, a simulated provider, and a folder for each page."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.harness.gateway import environment, free_port
from tests.harness.simulated import Simulated
from tests.manual.blocks import ROOT
from tests.manual.stand_in import RUNS
from tests.manual.ways import LINTED

KEY = "sk-tg-manual-0123456789abcdef"
TOKEN = "manual-admin-token"
CREDENTIAL = "sk-manual-provider-key-"
WITHIN = 90
NODE_MODULES = ROOT / "tests" / "contract" / "node" / "node_modules"
PREPARED = {
    "docs/faq.md": "tidegate accounts create acme --prepaid; ln -s ../tidegate.db tidegate.db",
    "docs/journal.md": "sqlite3 ../tidegate.db '.backup copy.db'",
    "docs/migrating.md": "rm tidegate.toml",
    "docs/upgrading.md": "ln -s ../tidegate.db tidegate.db",
}
"""What a page takes for granted: commands that are run before its first one."""
_CONFIG = """
[server]
port = {port}

[database]
url = "sqlite:///{folder}/tidegate.db"

[admin]
token = "{token}"
trusted_proxies = ["127.0.0.1"]

[streaming]
keepalive_interval = "1s"

[[keys]]
name = "manual"
key = "{key}"

[[models]]
name = "*"
price = {{ input = "3.00", output = "15.00" }}
"""
_LITELLM = """
model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY }
general_settings: { master_key: os.environ/TIDEGATE_KEY }
"""
_CHANNEL = """
[[channels]]
name = "{name}"
protocol = "{protocol}"
base_url = "{base}"
api_key = "sim"
models = ["*"]
"""


class World:
    """Started on construction; `stop` must be called at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.simulator = Simulated(folder)
        self.port = free_port()
        self.base_url = f"http://127.0.0.1:{self.port}"
        self._prepared: set[str] = set()
        config = _CONFIG.format(port=self.port, folder=folder, token=TOKEN, key=KEY)
        for protocol, path in (("chat", "/v1"), ("responses", "/v1"), ("messages", "")):
            base = self.simulator.base + path
            config += _CHANNEL.format(name=f"sim-{protocol}", protocol=protocol, base=base)
        self.config = config
        (folder / "tidegate.toml").write_text(config)
        self._write_stand_ins()
        self._start()

    def _write_stand_ins(self) -> None:
        programs = self.folder / "bin"
        programs.mkdir()
        for name in (*RUNS, *LINTED):
            path = programs / name
            path.write_text(
                f'#!/bin/sh\nPYTHONPATH="{ROOT}:{ROOT}/src" '
                f'exec "{sys.executable}" -m tests.manual.stand_in {name} "$@"\n'
            )
            path.chmod(0o755)

    def _start(self) -> None:
        command = [sys.executable, "-m", "tidegate", "serve", "--config", str(self.folder / "tidegate.toml")]
        log = self.folder / "gateway.log"
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command, stderr=output, stdin=subprocess.DEVNULL, env=environment(), cwd=self.folder
            )
        deadline = time.monotonic() + 90
        while "listening on" not in log.read_text():
            assert self._process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.02)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)
        self.simulator.stop()
        log = (self.folder / "gateway.log").read_text()
        assert "Traceback" not in log, log[-3000:]
        assert CREDENTIAL not in log

    def page(self, page: str) -> Path:
        """The folder in which the commands of a page are run, with a configuration to begin with."""
        folder = self.folder / page.replace("/", "-")
        if page not in self._prepared:
            self._prepared.add(page)
            self.tidy()
            folder.mkdir()
            (folder / "tidegate.toml").write_text(self.config)
            (folder / "gateway.toml").write_text(self.config)
            (folder / "config.yaml").write_text(_LITELLM)
            if NODE_MODULES.exists():
                (folder / "node_modules").symlink_to(NODE_MODULES)
            if page in PREPARED:
                output, failed = self.bash(folder, PREPARED[page])
                assert not failed, output
        return folder

    def environ(self, folder: Path) -> dict[str, str]:
        """What a reader has set who did what the pages say."""
        keys = ("ANTHROPIC_API_KEY", "ANTHROPIC_SPARE_KEY")
        return {
            **dict.fromkeys(keys, CREDENTIAL + "0123456789"),
            "OPENAI_API_KEY": KEY,  # for commands that call a provider, in whose place the gateway stands
            "PATH": f"{self.folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT / "src"),
            "TIDEGATE_BASE_URL": self.base_url,
            "TIDEGATE_KEY": KEY,
            "TIDEGATE_ADMIN_TOKEN": TOKEN,
        }

    def filled_in(self, text: str) -> str:
        """The text with what stands in the manual for a reader's own values replaced by them."""
        simulator = self.simulator.base.removeprefix("http://")
        text = re.sub(r"(?:127\.0\.0\.1|localhost):8080", f"127.0.0.1:{self.port}", text)
        text = re.sub(r"127\.0\.0\.1:(?:9000|9100)", simulator, text)
        text = text.replace("https://api.example.com", self.base_url)
        text = text.replace(".venv/bin/", "")
        text = text.replace("the-key-it-printed", KEY).replace("the-token-it-printed", TOKEN)
        return re.sub(r"req_[0-9a-f]*…", lambda _: self.charged_request(), text)

    def bash(self, folder: Path, script: str) -> tuple[str, list[str]]:
        """What the script printed, and its commands that failed."""
        failed = folder / "failed"
        failed.unlink(missing_ok=True)
        trap = f"""trap 'echo "$BASH_COMMAND" >> "{failed}"' ERR\n"""
        output = self.run(folder, "bash", "-Ec", trap + script)
        return output, failed.read_text().splitlines() if failed.exists() else []

    def run(self, folder: Path, *command: str, more: dict[str, str] | None = None) -> str:
        """What a program printed."""
        with subprocess.Popen(
            command,
            cwd=folder,
            env=self.environ(folder) | (more or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(timeout=WITHIN)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # what it has started too
                raise
        if process.returncode and command[0] != "bash":
            return f"{output}\nended with code {process.returncode}"
        return output

    def admin(self, path: str, method: str = "GET") -> Any:
        """An answer of the admin API."""
        request = urllib.request.Request(
            f"{self.base_url}/admin/v1/{path}", headers={"authorization": f"Bearer {TOKEN}"}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or b"null")

    def charged_request(self) -> str:
        """The id of a request that has cost something."""
        body = {"model": "sim", "messages": [{"role": "user", "content": "hi"}]}
        request = urllib.request.Request(
            f"{self.base_url}/v1/chat/completions",
            json.dumps(body).encode(),
            {"authorization": f"Bearer {KEY}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            found: str = answer.headers["x-request-id"]
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if any(row["id"] == found for row in self.admin("requests?limit=50")["data"]):
                break
            time.sleep(0.02)
        return found

    def tidy(self) -> None:
        """Take away what an earlier page has made, so that the next one may use the same names."""
        for kind in ("keys", "channels", "models", "accounts"):
            for row in self.admin(f"{kind}?limit=500")["data"]:
                if row["managed_by"] == "database" and row["name"] != "default":
                    self.admin(f"{kind}/{row['name']}", "DELETE")
