"""Reads who may administer, and how long they stay signed in."""

from ipaddress import IPv4Network, IPv6Network, ip_network

from tidegate.config import values
from tidegate.config.names import name
from tidegate.config.problems import shown
from tidegate.config.settings import DAY, Admin
from tidegate.config.short_secrets import warn_of_short
from tidegate.config.table import Table
from tidegate.config.values import Wrong
from tidegate.core.secret import Secret

_FIRST = "admin"
"""The operator whose token is `admin.token`."""
_LEAST, _MOST = 60.0, 366 * DAY


def admin(table: Table) -> Admin:
    """The table `[admin]`."""
    default = Admin()
    read = Admin(
        token=table.read("token", values.credential, default.token),
        operators=table.entries("operators", values.credential),
        session_idle=table.read("session_idle", lifetime, default.session_idle),
        session_lifetime=table.read("session_lifetime", lifetime, default.session_lifetime),
        trusted_proxies=table.items("trusted_proxies", network) or default.trusted_proxies,
        audit_retention=table.read("audit_retention", values.seconds, default.audit_retention),
    )
    _check_operators(table, read)
    table.close()
    return read


def lifetime(raw: object) -> float | Wrong:
    """How long a session lasts."""
    read = values.seconds(raw)
    if isinstance(read, Wrong) or _LEAST <= read <= _MOST:
        return read
    return Wrong("is out of range", "choose from 1m to 366d")


def network(raw: object) -> IPv4Network | IPv6Network | Wrong:
    """An address, or all that begin alike."""
    read = values.text(raw)
    if isinstance(read, Wrong):
        return read
    try:
        return ip_network(read, strict=False)
    except ValueError:
        return Wrong("is no address and no network", 'write it like "10.0.0.7" or "10.0.0.0/8"')


def _check_operators(table: Table, read: Admin) -> None:
    if read.operators and read.token is None:
        table.error("operators", "is set without token", "set token too: without it the admin API is off")
    owners: dict[Secret, str] = {}
    for operator, token in ({_FIRST: read.token} | dict(read.operators)).items():
        path = (*table.path, "operators", operator) if operator in read.operators else (*table.path, "token")
        wrong = name(operator) if path[-1] != "token" else operator
        if isinstance(wrong, Wrong):
            table.report.error(path, f"has a name that {wrong.message}", wrong.mend)
        elif operator == _FIRST and operator in read.operators:
            table.report.error(path, "is the name that the owner of token has", "choose another name")
        if token is None:
            continue
        if token in owners:
            table.report.error(
                path, f"is also the token of {shown(owners[token])}", "give each operator their own"
            )
        owners.setdefault(token, operator)
        warn_of_short(table.report, path, token)
