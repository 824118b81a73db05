"""A real Prometheus on a free port that reads one gateway four times a second."""

import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml
from tests.harness.client import fetch
from tests.harness.gateway import free_port

ALERTS = Path(__file__).parents[2] / "deploy" / "prometheus" / "alerts.yml"


class PrometheusServer:
    """Started on construction; `stop` must be called at the end."""

    def __init__(self, folder: Path, gateway: int, token: str) -> None:
        """`gateway` is the port whose /metrics is read, with `token`."""
        found = shutil.which("prometheus")
        assert found, "these tests need Prometheus: install the package prometheus"
        self.port = free_port()
        job = {
            "job_name": "tidegate",
            "authorization": {"credentials": token},
            "static_configs": [{"targets": [f"127.0.0.1:{gateway}"]}],
        }
        pace = {"scrape_interval": "250ms", "scrape_timeout": "250ms", "evaluation_interval": "1s"}
        config = {"global": pace, "rule_files": [str(ALERTS)], "scrape_configs": [job]}
        file = folder / "prometheus.yml"
        file.write_text(yaml.safe_dump(config))
        command = [found, f"--config.file={file}", f"--storage.tsdb.path={folder / 'tsdb'}"]
        command += [f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"]
        self._log = (folder / "prometheus.log").open("wb")
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log
        )

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait(10)
        self._log.close()

    async def ask(self, expression: str) -> list[Any]:
        """What an expression gives now."""
        found = await self._get(f"query?query={quote(expression)}")
        result: list[Any] = found["result"]
        return result

    async def rules(self) -> list[Any]:
        """The alerts as it has them."""
        found = await self._get("rules")
        return [rule for group in found["groups"] for rule in group["rules"]]

    async def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            return (await fetch(self.port, "GET", "/-/ready", [])).status == 200
        except OSError:
            return False

    async def _get(self, path: str) -> Any:
        reply = await fetch(self.port, "GET", f"/api/v1/{path}", [])
        told = reply.json()
        assert told["status"] == "success", told
        return told["data"]
