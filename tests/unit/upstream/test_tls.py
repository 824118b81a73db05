import os
import ssl

import pytest
from tests.unit.upstream.certificates import Authority

from tidegate.upstream import tls
from tidegate.upstream.tls import Roots, Trust, roots_of


async def test_every_context_verifies(authority: Authority) -> None:
    trust = Trust()
    for roots in (None, roots_of(authority.ca_file)):
        context = await trust.context(roots)
        assert context.check_hostname
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.minimum_version is ssl.TLSVersion.TLSv1_2
        assert await trust.context(roots) is context


async def test_extra_roots_come_on_top_of_the_systems(authority: Authority) -> None:
    trust = Trust()
    plain, extended = await trust.context(None), await trust.context(roots_of(authority.ca_file))
    known = extended.get_ca_certs(binary_form=True)
    assert len(known) == len(plain.get_ca_certs(binary_form=True)) + 1


def test_a_file_that_changed_is_another(authority: Authority) -> None:
    before = roots_of(authority.ca_file)
    assert before == roots_of(authority.ca_file)
    os.utime(authority.ca_file, ns=(1, 1))
    assert roots_of(authority.ca_file) == Roots(authority.ca_file, 1) != before


def test_no_file_means_no_extra_roots() -> None:
    assert roots_of(None) is None
    assert roots_of("") is None
    with pytest.raises(FileNotFoundError):
        roots_of("/does/not/exist")


async def test_contexts_do_not_pile_up(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "_MAX_CONTEXTS", 2)
    trust = Trust()
    for number in range(5):
        await trust.context(Roots(authority.ca_file, number))
    assert len(trust._contexts) <= 2
