from decimal import Decimal
from pathlib import Path

import pytest
from tests.unit.config.files import CHANNEL, KEY, problems, read, told

from tidegate.config.settings import Account
from tidegate.core.capability import Conversion, UnsupportedTools
from tidegate.core.price import Price
from tidegate.routing.catalog import Account as Payer
from tidegate.routing.catalog import Key, Model, digest

FULL = """
[streaming]
first_event_timeout = "100s"
idle_timeout = "200s"
[[models]]
name = "sonnet"
first_event_timeout = "150s"
idle_timeout = 0
max_output_tokens = 8192
capabilities = { sampling = false }
price = { input = "3.00", output = "15.00" }
[[models]]
name = "gpt-4*"
price = { input = "0", output = "0" }
[[accounts]]
name = "acme"
balance = "25.000000001"
max_concurrency = 40
requests_per_minute = 1000
tokens_per_minute = 300000
budget_per_day = "10.5"
budget_per_month = 200
[[accounts]]
name = "unlimited"
[[keys]]
name = "laptop"
account = "acme"
key = "env:TIDEGATE_KEY"
models = ["sonnet", "gpt-4*"]
conversion = "strict"
unsupported_tools = "reject"
max_concurrency = 20
requests_per_minute = 600
tokens_per_minute = 200000
budget_per_day = "0.000000001"
budget_per_month = "1000000000"
[[keys]]
name = "open"
key = "sk-tg-two"
"""


def test_every_setting_of_models_accounts_and_keys_is_read(tmp_path: Path) -> None:
    config = read(tmp_path, FULL + CHANNEL, {"TIDEGATE_KEY": "sk-tg-hunter2"})
    sonnet, pattern = config.models
    assert (sonnet.first_event_timeout, sonnet.idle_timeout, sonnet.max_output_tokens) == (150, 0, 8192)
    assert sonnet.capabilities.sampling is False
    free = Price(input=Decimal(0), output=Decimal(0))
    assert pattern == Model(name="gpt-4*", first_event_timeout=100, idle_timeout=200, price=free)
    assert config.accounts == (
        Account(
            name="acme",
            balance=Decimal("25.000000001"),
            prepaid=True,
            max_concurrency=40,
            requests_per_minute=1000,
            tokens_per_minute=300_000,
            budget_per_day=10_500_000_000,
            budget_per_month=200_000_000_000,
        ),
        Account(name="unlimited"),
    )
    assert config.keys == {
        digest("sk-tg-hunter2"): Key(
            name="laptop",
            account="acme",
            models=("sonnet", "gpt-4*"),
            conversion=Conversion.STRICT,
            unsupported_tools=UnsupportedTools.REJECT,
            max_concurrency=20,
            requests_per_minute=600,
            tokens_per_minute=200_000,
            budget_per_day=1,
            budget_per_month=10**18,
        ),
        digest("sk-tg-two"): Key(name="open", account="default"),
    }
    assert "hunter2" not in repr(config)
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ('[[models]]\nname = "opus"', ["models[0].name"]),
        ('[[models]]\nname = "claude-*"', ["models[0].name"]),
        ('[[models]]\nname = "g*t"', ["models[0].name"]),
        ('[[models]]\nname = "sonnet"\nmax_output_tokens = 0', ["models[0].max_output_tokens"]),
        ('[[models]]\nname = "sonnet"\n[[models]]\nname = "sonnet"', ["models[1].name"]),
        ('[[accounts]]\nname = "a"\nbalance = "-1"', ["accounts[0].balance"]),
        ('[[accounts]]\nname = "a"\nbalance = "99999999999"', ["accounts[0].balance"]),
        ('[[accounts]]\nname = "a"\nbalance = "0.0000000001"', ["accounts[0].balance"]),
        ('[[accounts]]\nname = "a"\nbudget_per_day = "-1"', ["accounts[0].budget_per_day"]),
        ('[[accounts]]\nname = "a"\nbudget_per_month = "lots"', ["accounts[0].budget_per_month"]),
        ('[[accounts]]\nname = "a"\nrequests_per_minute = 0', ["accounts[0].requests_per_minute"]),
        ('[[keys]]\nname = "k"\nkey = "k"\nbudget_per_day = "1000000001"', ["keys[0].budget_per_day"]),
        ('[[accounts]]\nname = "a"\n[[accounts]]\nname = "a"', ["accounts[1].name"]),
        ("[[accounts]]", ["accounts[0].name"]),
        ('[[accounts]]\nname = " a"', ["accounts[0].name"]),
        ('[[accounts]]\nname = "' + "a b " * 100 + 'c"', ["accounts[0].name"]),
        ('[[keys]]\nname = "k"', ["keys[0].key"]),
        ('[[keys]]\nkey = "k"', ["keys[0].name"]),
        ('[[keys]]\nname = "k"\nkey = "two words"', ["keys[0].key"]),
        ('[[keys]]\nname = "k"\nkey = "env:NONE"', ["keys[0].key"]),
        ('[[keys]]\nname = "k"\nkey = "k"\naccount = "nobody"', ["keys[0].account"]),
        ('[[keys]]\nname = "k"\nkey = "k"\nmodels = "sonnet"', ["keys[0].models"]),
        ('[[keys]]\nname = "k"\nkey = "k"\nconversion = "loose"', ["keys[0].conversion"]),
        ('[[keys]]\nname = "k"\nkey = "k"\nmax_concurrency = 0', ["keys[0].max_concurrency"]),
        ('[[keys]]\nname = "k"\nkey = "a"\n[[keys]]\nname = "k"\nkey = "b"', ["keys[1].name"]),
        ('[[keys]]\nname = "k"\nkey = "a"\n[[keys]]\nname = "l"\nkey = "a"', ["keys[1].key"]),
    ],
)
def test_each_mistake_is_told_at_its_key(tmp_path: Path, text: str, keys: list[str]) -> None:
    assert [where for _, where, _ in told(tmp_path, CHANNEL + text)] == keys


def test_names_that_are_nearly_right_are_suggested(tmp_path: Path) -> None:
    text = (
        CHANNEL + KEY + 'account = "acm"\nmodels = ["sonet"]\nmax_concurency = 3\n[[accounts]]\nname = "acme"'
    )
    assert [one.mend for one in problems(tmp_path, text)] == [
        "did you mean acme?",
        "did you mean sonnet?",
        "did you mean max_concurrency?",
    ]


def test_a_broken_channel_does_not_blame_the_models_it_would_serve(tmp_path: Path) -> None:
    broken = CHANNEL.replace('models = ["sonnet", "gpt-*"]', 'modles = ["sonnet"]')
    keys = [where for _, where, _ in told(tmp_path, broken + '[[models]]\nname = "sonnet"')]
    assert keys == ["channels[0].models", "channels[0].modles"]


def test_a_mistake_elsewhere_in_a_channel_hides_no_unserved_model(tmp_path: Path) -> None:
    broken = CHANNEL.replace("https://", "ftp://")
    keys = [where for _, where, _ in told(tmp_path, broken + '[[models]]\nname = "opus"')]
    assert keys == ["channels[0].base_url", "models[0].name"]


def test_a_broken_account_does_not_blame_its_keys(tmp_path: Path) -> None:
    text = CHANNEL + KEY + 'account = "acme"\n[[accounts]]\nnmae = "acme"'
    assert [where for _, where, _ in told(tmp_path, text)] == ["accounts[0].name", "accounts[0].nmae"]


def test_a_key_without_any_model_is_a_warning(tmp_path: Path) -> None:
    [warning] = read(tmp_path, CHANNEL + KEY + "models = []").warnings
    assert warning.key == "keys[0].models"
    assert warning.name == "laptop"


def test_the_same_secret_twice_names_the_other_key_and_not_the_secret(tmp_path: Path) -> None:
    text = CHANNEL + KEY + KEY.replace('"laptop"', '"desk"')
    [problem] = problems(tmp_path, text)
    assert problem.message == "is also the secret of laptop"
    assert "sk-tg" not in str(problem)


def test_a_key_for_a_model_that_no_channel_serves_is_a_warning(tmp_path: Path) -> None:
    [warning] = read(tmp_path, CHANNEL + KEY + 'models = ["sonnet", "opus"]').warnings
    assert warning.key == "keys[0].models[1]"
    assert "opus" in warning.message


def test_accounts_have_limits_and_budgets(tmp_path: Path) -> None:
    limits = "max_concurrency = 1\nrequests_per_minute = 2\ntokens_per_minute = 3\n"
    text = f'[[accounts]]\nname = "a"\nprepaid = true\n{limits}budget_per_day = "1.5"\nbudget_per_month = 2\n'
    (account,) = read(tmp_path, text).accounts
    assert account.payer == Payer(
        name="a",
        prepaid=True,
        max_concurrency=1,
        requests_per_minute=2,
        tokens_per_minute=3,
        budget_per_day=1_500_000_000,
        budget_per_month=2_000_000_000,
    )


def test_an_account_with_a_balance_is_prepaid_and_must_be(tmp_path: Path) -> None:
    head = '[[accounts]]\nname = "a"\nbalance = "0"\n'
    assert read(tmp_path, head).accounts[0].payer.prepaid
    assert [key for _, key, _ in told(tmp_path, head + "prepaid = false\n")] == ["accounts[0].prepaid"]


@pytest.mark.parametrize("amount", ["-1", "0.0000000001", "1000000000.1", "x"])
def test_an_amount_that_cannot_be_is_told(tmp_path: Path, amount: str) -> None:
    for setting in ("balance", "budget_per_day", "budget_per_month"):
        text = f'[[accounts]]\nname = "a"\n{setting} = "{amount}"\n'
        assert [key for _, key, _ in told(tmp_path, text)] == [f"accounts[0].{setting}"]


def test_keys_have_budgets(tmp_path: Path) -> None:
    (key,) = read(tmp_path, KEY + 'budget_per_day = "0.25"\nbudget_per_month = 1\n').keys.values()
    assert (key.budget_per_day, key.budget_per_month) == (250_000_000, 1_000_000_000)
