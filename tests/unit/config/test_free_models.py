from pathlib import Path

import pytest
from tests.unit.config.files import CHANNEL, KEY, read

ACCOUNT = '[[accounts]]\nname = "acme"\nbalance = "5"\n'
OTHER = '[[keys]]\nname = "other"\nkey = "sk-other"\n'
MINE = KEY + 'account = "acme"\n'
PRICE = 'price = { input = "0", output = "0" }\n'
SONNET = '[[models]]\nname = "sonnet"\n' + PRICE


def warned(folder: Path, text: str) -> list[tuple[str, str | None, str]]:
    return [(one.key, one.name, one.message) for one in read(folder, CHANNEL + text).warnings]


def test_a_prepaid_key_that_may_use_models_without_a_price_is_a_warning(tmp_path: Path) -> None:
    [(key, name, message)] = warned(tmp_path, ACCOUNT + OTHER + MINE + SONNET)
    assert (key, name) == ("keys[1]", "laptop")
    assert message == "may use models without a price, so that account acme pays nothing: gpt-*"


def test_only_a_few_are_named(tmp_path: Path) -> None:
    many = '[[channels]]\nname = "b"\nprotocol = "chat"\nbase_url = "https://b.example.com/v1"\nmodels = '
    [(_, _, message)] = warned(tmp_path, ACCOUNT + MINE + many + '["a1", "a2", "a3"]\n')
    assert message.endswith(": a1, a2, a3 and 2 more")


@pytest.mark.parametrize(
    "text",
    [
        ACCOUNT + MINE + 'models = ["sonnet"]\n' + SONNET,
        ACCOUNT + MINE + SONNET + '[[models]]\nname = "gpt-*"\n' + PRICE,
        ACCOUNT + MINE + 'models = ["gpt-5"]\n[[models]]\nname = "gpt-5*"\n' + PRICE,
        ACCOUNT.replace('balance = "5"', "") + MINE,
        KEY,
    ],
    ids=["only priced ones", "all have a price", "a pattern's price", "postpaid", "the default account"],
)
def test_what_is_paid_for_or_not_prepaid_is_none(tmp_path: Path, text: str) -> None:
    assert warned(tmp_path, text) == []
