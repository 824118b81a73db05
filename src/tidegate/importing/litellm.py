"""Turns the config of a LiteLLM proxy into ours."""

import re
from decimal import Decimal

from msgspec import Struct

from tidegate.importing import reasons
from tidegate.importing.channels import Table, channel_tables, duration, model_tables
from tidegate.importing.deployments import read_deployments
from tidegate.importing.groups import in_order, with_aliases, with_fallbacks
from tidegate.importing.members import Members
from tidegate.importing.notes import ENVIRON, Note, Notes, Variable
from tidegate.importing.toml_text import written
from tidegate.importing.yaml_text import BadYaml, read_yaml

_RETENTION = re.compile(r"\d{1,6}[smhd]")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MEGABYTE = 1 << 20
_LEAST_TRIES = 2
_MOST_TRIES = 1000


class Imported(Struct, frozen=True, kw_only=True):
    """The new configuration as TOML, without any secret, and what is to be said of it."""

    toml: str
    channels: int
    models: int
    variables: tuple[Variable, ...]
    left: tuple[Note, ...]
    changed: tuple[Note, ...]


def import_litellm(text: str) -> Imported:
    """What a LiteLLM proxy config comes to here. Raises BadYaml."""
    read = read_yaml(text)
    if not isinstance(read, dict):
        raise BadYaml("it holds no names with values")
    notes = Notes(text)
    top = Members(read, "", notes)
    router, module = top.inner("router_settings"), top.inner("litellm_settings")
    own = with_aliases(in_order(read_deployments(top, notes), notes), router, notes)
    all_of_them = with_fallbacks(own, (router, module), notes)
    channels = channel_tables(all_of_them, notes)
    general = top.inner("general_settings")
    sections: dict[str, Table | list[Table]] = {
        "server": _server(general),
        "database": _database(general, notes),
        "redis": _redis(router, notes),
        "admin": {"token": _master_key(general, notes)},
        "streaming": _streaming(router, module, notes),
        "routing": _routing(router, module, notes, fallbacks=len(all_of_them) > len(own)),
        "channels": channels,
        "models": model_tables(all_of_them, notes),
    }
    sections["keys"] = [_key(sections["admin"], module, notes)]
    _environment(top.inner("environment_variables"), notes)
    _rest(top, router, module, general, notes)
    return Imported(
        toml=written(sections),
        channels=len(channels),
        models=len({public for table in channels for public in _public(table)}),
        variables=notes.variables,
        left=tuple(sorted(set(notes.left))),
        changed=tuple(sorted(set(notes.changed))),
    )


def _public(table: Table) -> list[str]:
    models = table["models"]
    return [str(name) for name in models] if isinstance(models, list | dict) else []


def _server(general: Members) -> Table:
    size = general.number("max_request_size_mb")
    return {} if not size else {"max_body_bytes": max(1, int(size * _MEGABYTE))}


def _database(general: Members, notes: Notes) -> Table:
    kept = general.text("maximum_spend_logs_retention_period")
    if kept is None:
        return {}
    if _RETENTION.fullmatch(kept) is None:
        path = general.at("maximum_spend_logs_retention_period")
        notes.leave(path, "is no duration like 30d")
        return {}
    return {"retention": kept}


def _redis(router: Members, notes: Notes) -> Table:
    """One URL; where a password is in it, the whole URL is a secret."""
    url, host = router.text("redis_url"), router.text("redis_host")
    port, password = router.text("redis_port") or "6379", router.text("redis_password")
    database = router.text("redis_db") or "0"
    if url is not None:
        return {"url": notes.secret(url, router.at("redis_url"), ("redis", "url"))}
    if host is None:
        return {}
    if password is None and not any(part.startswith(ENVIRON) for part in (host, port, database)):
        return {"url": f"redis://{host}:{port}/{database}"}
    holds = "redis://:PASSWORD@HOST:PORT/0, made of router_settings.redis_…"
    return {"url": notes.derived("redis_host", ("redis", "url"), holds)}


def _master_key(general: Members, notes: Notes) -> str:
    told, path = general.text("master_key"), general.at("master_key")
    if told is None:
        notes.change(path, "is not set, so anybody could call: here every caller needs a key")
        return notes.variable(
            "TIDEGATE_ADMIN_TOKEN", "a token of your choice for the admin API and the console"
        )
    return notes.secret(told, path, ("litellm", "master", "key"))


def _key(admin: Table | list[Table], module: Members, notes: Notes) -> Table:
    """The master key goes on being good for calls; further keys are in LiteLLM's database."""
    token = admin["token"] if isinstance(admin, dict) else ""
    if token == "env:TIDEGATE_ADMIN_TOKEN":  # noqa: S105 - the name of a variable
        key: Table = {
            "name": "default",
            "key": notes.variable("TIDEGATE_KEY", "a key of your choice for callers"),
        }
    else:
        key = {"name": "master", "key": token}
    if module.flag("drop_params") is False:
        key["conversion"] = "strict"
    return key


def _streaming(router: Members, module: Members, notes: Notes) -> Table:
    """A time limit of a whole call is one of silence here."""
    whole, stream = router.number("timeout"), router.number("stream_timeout")
    general = module.number("request_timeout")
    if whole and general:
        notes.change(module.at("request_timeout"), "router_settings.timeout counts")
    if whole or general:
        notes.change(router.at("timeout") if whole else module.at("request_timeout"), reasons.SILENCE)
    whole = whole or general
    table: Table = {}
    if stream or whole:
        table["first_event_timeout"] = duration(stream or whole or Decimal(0))
    if whole:
        table["idle_timeout"] = duration(whole)
    return table


def _routing(router: Members, module: Members, notes: Notes, *, fallbacks: bool) -> Table:
    table: Table = {}
    strategy = router.text("routing_strategy")
    if strategy not in (None, "simple-shuffle"):
        notes.change(router.at("routing_strategy"), "channels are chosen by priority and weight")
    for name in ("num_retries", "allowed_fails", "cooldown_time"):
        if name in router and name in module:
            module.take(name)
            notes.change(module.at(name), f"router_settings.{name} counts")
    retries = _either(router, module, "num_retries")
    if retries is not None:
        tries = int(retries) + 1 + (_LEAST_TRIES if fallbacks else 0)
        table["max_attempts"] = min(max(_LEAST_TRIES, tries), _MOST_TRIES)
    place = router if "allowed_fails" in router else module
    fails = _either(router, module, "allowed_fails")
    if fails is not None:
        table["failures_before_cooldown"] = int(fails) + 1
        notes.change(place.at("allowed_fails"), "counts failures in a row here, not those of a minute")
    cooldown = _either(router, module, "cooldown_time")
    if router.flag("disable_cooldowns"):
        table["cooldown"] = 0
    elif cooldown is not None:
        table["cooldown"] = duration(cooldown)
    return table


def _either(router: Members, module: Members, name: str) -> Decimal | None:
    told = router.number(name)
    return module.number(name) if told is None else told


def _environment(variables: Members, notes: Notes) -> None:
    """What LiteLLM puts into its own environment must be set outside of the file."""
    for name in variables.names():
        variables.take(name)
        if _VARIABLE.fullmatch(name):
            notes.variable(name, f"what stands at {variables.at(name)}, if it is still needed")
        else:
            notes.leave(variables.at(name), "is no name of a variable")


def _rest(top: Members, router: Members, module: Members, general: Members, notes: Notes) -> None:
    """Everything that nothing has taken, each with its reason."""
    if "database_url" in general or general.flag("store_model_in_db"):
        notes.leave("(LiteLLM's database)", "its keys, teams, budgets and models: make them anew")
    router.close(reasons.ROUTER)
    module.close(reasons.LITELLM)
    general.close(reasons.GENERAL)
    top.close(reasons.SECTIONS)
