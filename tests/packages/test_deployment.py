"""The files of deploy/ are what their tools take, and say the same as the product."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

_ROOT = Path(__file__).resolve().parents[2]
_DEPLOY = _ROOT / "deploy"
_COMPOSE = _DEPLOY / "compose"
_KUBERNETES = _DEPLOY / "kubernetes"
_UNIT = _DEPLOY / "systemd/tidegate.service"
_BIN = Path(sys.executable).parent
_DURATION = {"s": 1, "m": 60, "min": 60}


def _lint(*command: str | Path, cwd: Path = _ROOT) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def _seconds(duration: str) -> int:
    number, unit = re.fullmatch(r"(\d+)([a-z]+)", duration).groups()  # type: ignore[union-attr]
    return int(number) * _DURATION[unit]


@cache
def _compose() -> Mapping[str, Any]:
    return yaml.safe_load((_COMPOSE / "compose.yaml").read_text())  # type: ignore[no-any-return]


@cache
def _manifests() -> tuple[Mapping[str, Any], ...]:
    files = sorted(_KUBERNETES.glob("*.yaml"))
    return tuple(part for file in files for part in yaml.safe_load_all(file.read_text()))


def _manifest(kind: str) -> Mapping[str, Any]:
    [found] = (manifest for manifest in _manifests() if manifest["kind"] == kind)
    return found


def _check_config(text: str, folder: Path) -> None:
    """The configuration is good where each variable that it names has a value, and gives no warning."""
    file = folder / "tidegate.toml"
    file.write_text(text)
    urls = {"TIDEGATE_DATABASE": "postgresql://a:b@c/d", "TIDEGATE_REDIS": "redis://redis:6379/0"}
    environ = dict.fromkeys(re.findall(r"env:(\w+)", text), "sk-tg-a-value-of-some-length") | urls
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "check-config", str(file)],
        env=environ | {"PYTHONPATH": str(_ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


# Container


def test_the_dockerfile_passes_its_linter() -> None:
    _lint(_BIN / "hadolint", _ROOT / "Dockerfile")


def test_the_image_is_built_from_files_that_are_there_and_sent_to_the_engine() -> None:
    ignored = (_ROOT / ".dockerignore").read_text().splitlines()
    sent = {line[1:] for line in ignored if line.startswith("!")}
    dockerfile = (_ROOT / "Dockerfile").read_text()
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", dockerfile, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    assert copied
    assert set(copied) == sent
    assert all((_ROOT / name).exists() for name in copied)


def _pins(lock: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)", (_ROOT / lock).read_text(), re.MULTILINE))


def test_the_image_has_the_versions_that_were_tested() -> None:
    tested = _pins("requirements.lock")
    run = _pins("requirements-run.lock")
    assert run
    assert run == {name: tested[name] for name in run}
    built = dict(re.findall(r'"([\w-]+)==([\w.]+)"', (_ROOT / "Dockerfile").read_text()))
    assert built == {"hatchling": tested["hatchling"]}


def test_the_image_runs_as_a_user_without_rights() -> None:
    text = (_ROOT / "Dockerfile").read_text()
    assert re.findall(r"^USER (.+)$", text, re.MULTILINE) == ["10001:10001"]


# Composition


def test_the_composition_is_one() -> None:
    schema = ("--builtin-schema", "vendor.compose-spec")
    _lint(_BIN / "check-jsonschema", *schema, _COMPOSE / "compose.yaml")


def test_yaml_files_are_tidy() -> None:
    rules = "{extends: default, rules: {document-start: disable, line-length: {max: 130}}}"
    _lint(_BIN / "yamllint", "--strict", "-d", rules, _DEPLOY)


def test_what_the_composition_mounts_is_there() -> None:
    mounted = [
        (_COMPOSE / volume.split(":")[0])
        for service in _compose()["services"].values()
        for volume in service.get("volumes", ())
        if volume.startswith(".")
    ]
    assert mounted
    assert [path for path in mounted if not path.exists()] == []


def test_each_variable_of_the_composition_is_in_the_example() -> None:
    wanted = set(re.findall(r"\$\{(\w+)", (_COMPOSE / "compose.yaml").read_text()))
    given = set(re.findall(r"^(\w+)=", (_COMPOSE / "env.example").read_text(), re.MULTILINE))
    assert wanted == given


def test_the_example_has_no_secret_that_everybody_knows() -> None:
    example = (_COMPOSE / "env.example").read_text()
    assert re.findall(r"^\w+=.+$", example, re.MULTILINE) == []
    demanded = re.findall(r"\$\{(\w+):\?", (_COMPOSE / "compose.yaml").read_text())
    assert {"TIDEGATE_SECRET", "TIDEGATE_ADMIN_TOKEN", "TIDEGATE_KEY", "POSTGRES_PASSWORD"} <= set(demanded)


def test_the_configuration_of_the_composition_is_good_and_gets_what_it_names(tmp_path: Path) -> None:
    text = (_COMPOSE / "tidegate.toml").read_text()
    _check_config(text, tmp_path)
    gateway = _compose()["services"]["gateway"]
    assert set(re.findall(r"env:(\w+)", text)) <= set(gateway["environment"])


def test_the_composition_waits_longer_than_open_streams() -> None:
    drain = tomllib.loads((_COMPOSE / "tidegate.toml").read_text())["server"]["drain_timeout"]
    assert _seconds(_compose()["services"]["gateway"]["stop_grace_period"]) > _seconds(drain)


def test_the_gateway_of_the_composition_writes_to_its_volume_alone() -> None:
    gateway = _compose()["services"]["gateway"]
    assert gateway["read_only"] is True
    assert gateway["cap_drop"] == ["ALL"]
    writable = [volume for volume in gateway["volumes"] if not volume.endswith(":ro")]
    assert writable == ["gateway:/var/lib/tidegate"]


# systemd


def test_the_unit_passes_its_verifier(tmp_path: Path) -> None:
    # The program is not installed here, and the verifier looks for it.
    unit = tmp_path / _UNIT.name
    unit.write_text(_UNIT.read_text().replace("/opt/tidegate/bin/tidegate", "/bin/true"))
    assert _lint("systemd-analyze", "verify", "--man=no", unit) == ""


def test_the_unit_is_shut_in() -> None:
    _lint("systemd-analyze", "security", "--offline=true", "--threshold=20", _UNIT)


def test_the_unit_calls_a_command_that_there_is() -> None:
    [line] = re.findall(r"^ExecStart=\S+ (.+)$", _UNIT.read_text(), re.MULTILINE)
    words = line.split()
    help_text = _lint(sys.executable, "-m", "tidegate", words[0], "--help")
    assert all(word in help_text for word in words if word.startswith("--"))


# Kubernetes


@pytest.mark.parametrize("file", [file.name for file in sorted(_KUBERNETES.glob("*.yaml"))])
def test_manifests_are_valid(file: str) -> None:
    if file == "kustomization.yaml":
        listed = yaml.safe_load((_KUBERNETES / file).read_text())["resources"]
        assert sorted(listed) == sorted({path.name for path in _KUBERNETES.glob("*.yaml")} - {file})
    else:
        told = _lint(_BIN / "kubernetes-validate", "--strict", _KUBERNETES / file)
        assert "WARN" not in told


def test_the_configuration_of_the_cluster_is_good(tmp_path: Path) -> None:
    _check_config(_manifest("ConfigMap")["data"]["tidegate.toml"], tmp_path)


def test_the_secret_that_the_cluster_is_told_to_make_holds_what_the_configuration_names() -> None:
    text = (_KUBERNETES / "config.yaml").read_text()
    assert set(re.findall(r"--from-literal=(\w+)", text)) == set(re.findall(r"env:(\w+)", text))


def _container() -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    pod = _manifest("StatefulSet")["spec"]["template"]["spec"]
    [container] = pod["containers"]
    return pod, container


def test_the_namespace_is_made_before_what_is_told_to_be_put_into_it() -> None:
    text = (_KUBERNETES / "config.yaml").read_text()
    commands = re.findall(r"^#   kubectl (.+)$", text, re.MULTILINE)
    assert commands[0] == "apply --filename deploy/kubernetes/namespace.yaml"
    assert "create secret" in commands[1]


def test_pods_get_the_time_to_drain() -> None:
    pod, container = _container()
    config = tomllib.loads(_manifest("ConfigMap")["data"]["tidegate.toml"])
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > pause + _seconds(config["server"]["drain_timeout"])


def test_pods_are_shut_in() -> None:
    pod, container = _container()
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    assert container["securityContext"]["capabilities"]["drop"] == ["ALL"]


def test_pods_listen_where_services_and_probes_look() -> None:
    _, container = _container()
    config = tomllib.loads(_manifest("ConfigMap")["data"]["tidegate.toml"])["server"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {"http": 8080, "metrics": int(config["metrics_listen"].rpartition(":")[2])}
    used = set(_port_names(container)) | {
        port["targetPort"]
        for manifest in _manifests()
        if manifest["kind"] == "Service"
        for port in manifest["spec"]["ports"]
    }
    assert used <= set(ports)


def _port_names(container: Mapping[str, Any]) -> Iterator[str]:
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        yield container[probe]["httpGet"]["port"]


def test_the_version_of_the_image_is_the_product_s() -> None:
    from tidegate import __version__

    _, container = _container()
    assert container["image"].endswith(f":{__version__}")
