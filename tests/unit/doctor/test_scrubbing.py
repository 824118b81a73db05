from tests.unit.doctor.test_report import stream

from tidegate.core.secret import Secret
from tidegate.doctor.findings import Finding
from tidegate.doctor.scrubbing import scrubbed

KEY = "sk-secret-0123456789"


def test_no_text_repeats_a_secret() -> None:
    told = stream(Finding("status", f"answered {KEY}", f"{KEY} and {KEY}"), Finding("end-mark", "none"))
    [first, second] = scrubbed(told, [Secret(KEY), Secret("")]).findings
    assert (first.message, first.event) == ("answered (secret)", "(secret) and (secret)")
    assert second == told.findings[1]


def test_a_secret_that_is_cut_off_is_none_the_less_one() -> None:
    [finding] = scrubbed(stream(Finding("status", "a", f"wrong key {KEY[:12]}…")), [Secret(KEY)]).findings
    assert finding.event == "wrong key (secret)…"


def test_the_longer_of_two_is_taken_out_first() -> None:
    told, secrets = stream(Finding("status", f"{KEY}-more")), [Secret(KEY), Secret(f"{KEY}-more")]
    [finding] = scrubbed(told, secrets).findings
    assert finding.message == "(secret)"
