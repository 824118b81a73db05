"""LiteLLM's proxy: a virtual environment of its own in the cache, and the settings of its production page."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from bench.dialects import upstream_model
from bench.process import NotStarted
from bench.workloads import Workload

_PACKAGE = "litellm[proxy]"
_INSTALL_SECONDS = 600
_PRICE = {"input_cost_per_token": 3e-6, "output_cost_per_token": 15e-6, "cache_read_input_token_cost": 3e-7}
"""For the workloads in which the gateway has prices too."""


def _home() -> Path:
    chosen = os.environ.get("TIDEGATE_BENCH_CACHE")
    if chosen:
        return Path(chosen) / "litellm"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tidegate-bench" / "litellm"


def program() -> str:
    """Installs it on first use. Raises NotStarted where that fails."""
    home = _home()
    found = home / "bin" / "litellm"
    if found.exists():
        return str(found)
    print(f"==> installing {_PACKAGE} into {home} (once)")
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    python = str(home / "bin" / "python")
    install = [uv, "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    try:
        _run([sys.executable, "-m", "venv", *(["--without-pip"] if uv else []), str(home)])
        _run([*install, "--quiet", _PACKAGE])
    except (subprocess.SubprocessError, OSError) as error:
        shutil.rmtree(home, ignore_errors=True)
        words = " ".join(str(getattr(error, "stderr", None) or error).split())
        raise NotStarted(f"{_PACKAGE} could not be installed: {words[-200:]}") from error
    return str(found)


def _run(argv: Sequence[str]) -> None:
    subprocess.run(argv, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS)


def version() -> str | None:
    """Of what is installed; None when nothing is."""
    found = sorted(_home().glob("lib/python*/site-packages/litellm-[0-9]*.dist-info"))
    return found[0].name.removeprefix("litellm-").removesuffix(".dist-info") if found else None


def configure(folder: Path, mock_port: int, workloads: Sequence[Workload]) -> Path:
    """Writes the configuration (JSON is YAML) and returns its path."""
    models = [
        {
            "model_name": f"bench-{load.name}",
            "litellm_params": _upstream(load, mock_port),
            "model_info": _PRICE if load.ours == "accounts" else {},
        }
        for load in workloads
    ]
    config = {
        "model_list": models,
        "general_settings": {"proxy_batch_write_at": 60, "disable_error_logs": True},
        "litellm_settings": {
            "request_timeout": 600,
            "set_verbose": False,
            "json_logs": True,
            "use_chat_completions_url_for_anthropic_messages": True,
        },
        "router_settings": {"routing_strategy": "simple-shuffle"},
    }
    path = folder / "litellm.yaml"
    path.write_bytes(msgspec.json.encode(config))
    return path


def _upstream(load: Workload, mock_port: int) -> dict[str, object]:
    """The mock as its provider; where protocols are crossed, told not to use the client's own there."""
    name, base = upstream_model(load.name), f"http://127.0.0.1:{mock_port}"
    if load.crosses is not None and load.crosses[0] == "messages":
        return {"model": f"anthropic/{name}", "api_base": base, "api_key": "sk-upstream"}
    openai: dict[str, object] = {
        "model": f"openai/{name}",
        "api_base": f"{base}/v1",
        "api_key": "sk-upstream",
    }
    return openai if load.crosses is None else {**openai, "use_chat_completions_api": True}


def environment(key: str) -> dict[str, str]:
    """Of the production page; besides, the price list of the package instead of a download."""
    return {
        "LITELLM_MASTER_KEY": key,
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOG": "ERROR",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONPATH": "",
    }
