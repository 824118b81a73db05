"""What is kept of the content of requests."""

from pathlib import Path

import pytest
from tests.unit.config.files import read, told

from tidegate.config.settings import Capture

KEY = '[[keys]]\nname = "k"\nkey = "sk-1"\n'


def test_nothing_is_kept_unless_a_key_says_so(tmp_path: Path) -> None:
    config = read(tmp_path, KEY)
    assert config.capture == Capture(max_bytes=65_536, redact=(), retention=7 * 86_400)
    assert [key.capture for key in config.keys.values()] == [0.0]


def test_all_settings_are_read(tmp_path: Path) -> None:
    text = (
        KEY + 'capture = 0.05\n[capture]\nmax_bytes = 10\nredact = [\'\\d{16}\', "a|b"]\nretention = "1h"\n'
    )
    config = read(tmp_path, text)
    assert config.capture == Capture(max_bytes=10, redact=(r"\d{16}", "a|b"), retention=3600)
    assert [key.capture for key in config.keys.values()] == [0.05]


@pytest.mark.parametrize("share", ["0", "1", "1.0", '"0.5"'])
def test_a_share_is_a_number_from_0_to_1(tmp_path: Path, share: str) -> None:
    (key,) = read(tmp_path, KEY + f"capture = {share}\n").keys.values()
    assert 0 <= key.capture <= 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (KEY + "capture = 1.1", "keys[0].capture"),
        (KEY + "capture = -0.1", "keys[0].capture"),
        (KEY + "capture = true", "keys[0].capture"),
        (KEY + 'capture = "half"', "keys[0].capture"),
        ("[capture]\nmax_bytes = 0", "capture.max_bytes"),
        ("[capture]\nmax_bytes = 100000000", "capture.max_bytes"),
        ("[capture]\nretention = -1", "capture.retention"),
        ("[capture]\nredact = 'a'", "capture.redact"),
        ("[capture]\nredact = ['(']", "capture.redact[0]"),
        ("[capture]\nredact = ['a', 'b*']", "capture.redact[1]"),
        ("[capture]\nredact = [1]", "capture.redact[0]"),
        (f"[capture]\nredact = ['{'a' * 1001}']", "capture.redact[0]"),
        (f"[capture]\nredact = {[str(number) for number in range(65)]}", "capture.redact"),
        ("[capture]\nredacts = []", "capture.redacts"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    assert place in [key for _, key, _ in told(tmp_path, text)]
