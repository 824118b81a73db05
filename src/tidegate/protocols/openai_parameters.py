"""Reads the request members that the two OpenAI protocols have under one name."""

from typing import Any

from tidegate.core.capability import Effort
from tidegate.core.conversation import Format, Given, Structured
from tidegate.protocols.client_members import Members
from tidegate.protocols.losses import Losses

_SAMPLING_DEFAULT = 1


def read_sampling(members: Members, others: list[Given[Any]]) -> dict[str, Given[float]]:
    """Temperature and top_p; the default spelled out goes to `others`, as it is never lost but may matter."""
    found = {}
    for name in ("temperature", "top_p"):
        given = members.number(name)
        if given is not None and given.value == _SAMPLING_DEFAULT:
            others.append(given)
        elif given is not None:
            found[name] = given
    return found


def read_end_user(members: Members, others: list[Given[Any]]) -> Given[str] | None:
    """`safety_identifier`, else `user`; with both, `user` is one of the others."""
    identifier, user = members.text("safety_identifier"), members.text("user")
    if identifier is None:
        return user
    if user is not None:
        others.append(user)
    return identifier


def read_effort(given: Given[str] | None, refusals: Losses) -> Given[Effort] | None:
    """A level of the ladder; another word is refused."""
    if given is None:
        return None
    try:
        return Given(Effort(given.value), given.path)
    except ValueError:
        levels = ", ".join(effort.value for effort in Effort)
        refusals.refuse_value(given.path, f"`{given.path}` must be one of {levels}.")
        return None


def read_format(
    form: Members | None, inner: Members | None, path: str, refusals: Losses
) -> Structured | None:
    """The output format. `inner` is where name and schema stand: in the format itself, or one level down."""
    type_ = None if form is None else form.text("type")
    if form is None or type_ is None or type_.value == "text":
        return None
    match type_.value:
        case "json_object":
            return Structured(format=Format.JSON_OBJECT, path=path)
        case "json_schema":
            return _read_schema(inner or form, path)
        case _:  # a grammar or whatever else a vendor invents
            refusals.refuse_value(type_.path)
            return None


def _read_schema(inner: Members, path: str) -> Structured:
    name, description, strict = inner.text("name"), inner.text("description"), inner.flag("strict")
    return Structured(
        format=Format.JSON_SCHEMA,
        path=path,
        name=None if name is None else name.value,
        schema=inner.take("schema"),
        strict=None if strict is None else strict.value,
        description=None if description is None else description.value,
    )


def unless(given: Given[Any] | None, default: object) -> Any:
    """The parameter, unless it is at its default, which says nothing."""
    return None if given is None or given.value == default else given
