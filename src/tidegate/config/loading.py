"""Loads a config file: reads every part, gathers every problem."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from tidegate.config import callers, document, sections
from tidegate.config.admin import admin
from tidegate.config.capture import capture
from tidegate.config.channels import channels
from tidegate.config.free_models import warn_of_free_models
from tidegate.config.lines import key_lines
from tidegate.config.names import known_account, served_model
from tidegate.config.problems import ConfigError, Severity
from tidegate.config.report import Report
from tidegate.config.settings import Config
from tidegate.config.sources import Sources
from tidegate.config.table import Table
from tidegate.config.tracing import tracing
from tidegate.routing.catalog import Catalog


def load(path: Path, environ: Mapping[str, str]) -> Config:
    """The checked config; `Config.warnings` are problems it can run with. Raises ConfigError with all."""
    text = document.read_text(path)
    values = document.parse(path, text)
    report = Report(document.file_name(path), key_lines(text), values)
    config = _read(Table(values, (), report, Sources(path.parent, environ)))
    problems = report.problems()
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ConfigError(problems)
    warn_of_free_models(config, build_catalog(config), values, report)
    return replace(config, warnings=report.problems())


def build_catalog(config: Config) -> Catalog:
    """The snapshot of a config that requests are routed by."""
    return Catalog(
        config.channels,
        config.models,
        config.keys,
        tuple(account.payer for account in config.accounts),
        first_event_timeout=config.streaming.first_event_timeout,
        idle_timeout=config.streaming.idle_timeout,
    )


def _read(top: Table) -> Config:
    report = top.report
    streaming = sections.streaming(top.table("streaming"))
    upstreams = channels(top)
    served = served_model(upstreams, report)
    accounts = callers.accounts(top)
    keys = callers.keys(top, served, known_account(accounts, report))
    config = Config(
        server=sections.server(top.table("server")),
        database=sections.database(top.table("database")),
        redis=sections.redis(top.table("redis")),
        admin=admin(top.table("admin")),
        streaming=streaming,
        routing=sections.routing(top.table("routing")),
        capture=capture(top.table("capture")),
        tracing=tracing(top.table("tracing")),
        channels=upstreams,
        models=callers.models(top, streaming, served),
        accounts=accounts,
        keys=dict(keys),
    )
    top.close()
    _warn(top, config)
    return config


def _warn(top: Table, config: Config) -> None:
    """What a gateway can run with, but hardly anyone means."""
    if config.server.secret is None and config.database.url.reveal().startswith("postgres"):
        message = "is not set, so each node makes one of its own and cannot open what another has sealed"
        top.report.warning(
            ("server", "secret"), message, 'write "env:TIDEGATE_SECRET", the same on all nodes'
        )
    if not top.peek("channels"):
        message = "no channel is set, so nothing can be served but by those of the database"
        top.report.warning(("channels",), message, "add [[channels]], or add one over the admin API")
    if not top.peek("keys"):
        message = "no key is set, so nobody can call but with those of the database"
        top.report.warning(("keys",), message, "add [[keys]], or make one with `tidegate keys create`")
