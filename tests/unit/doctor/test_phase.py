from tidegate.doctor.phase import Phase


def test_a_stream_is_over_when_it_has_ended_or_failed() -> None:
    assert [phase for phase in Phase if phase.is_over] == [Phase.ENDED, Phase.FAILED]
