from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from tidegate.routing.breaker import (
    LONGEST_RETRY_AFTER,
    Cooling,
    Health,
    MayProbe,
    Probed,
    Ready,
    Rules,
    Standing,
    Turn,
)

RULES = Rules(failures_before_cooldown=2, cooldown=10)
PAIRS = [("a", "m"), ("a", "n"), ("b", "m")]
waits = st.one_of(st.none(), st.floats(min_value=-1, max_value=1000))


class BreakerStory(RuleBasedStateMachine):
    """Any order of attempts, outcomes and pauses on three pairs."""

    turns = Bundle("turns")

    def __init__(self) -> None:
        super().__init__()
        self.health = Health(RULES)
        self.now = 0.0
        self.asked: dict[tuple[str, str], float] = {}
        """Until when an upstream asked to be left alone."""
        self.probes: dict[tuple[str, str], Turn] = {}

    def standing(self, pair: tuple[str, str]) -> Standing:
        return self.health.standing(*pair, self.now)

    @rule(target=turns, pair=st.sampled_from(PAIRS))
    def begin(self, pair: tuple[str, str]) -> object:
        before = self.standing(pair)
        turn = self.health.begin(*pair, self.now)
        match before:
            case Ready():
                assert turn is not None
                assert self.standing(pair) == Ready()
            case MayProbe():
                assert turn is not None
                self.probes[pair] = turn
                assert isinstance(self.standing(pair), Probed)
            case Probed() | Cooling():
                assert turn is None
        return turn if turn is not None else multiple()

    @rule(turn=consumes(turns))
    def succeed(self, turn: Turn) -> None:
        pair = (turn.channel, turn.upstream_model)
        before = self.standing(pair)
        self.health.succeeded(turn)
        ended = isinstance(before, Probed) and self.probes[pair] == turn
        assert self.standing(pair) == (Ready() if ended else before)

    @rule(turn=consumes(turns), asked=waits)
    def fail(self, turn: Turn, asked: float | None) -> None:
        pair = (turn.channel, turn.upstream_model)
        before = self.standing(pair)
        self.health.failed(turn, self.now, "cut", asked)
        if asked is not None and asked > 0:
            until = self.now + min(asked, LONGEST_RETRY_AFTER)
            self.asked[pair] = max(self.asked.get(pair, 0), until)
        if isinstance(before, Probed) and self.probes[pair] == turn:
            after = self.standing(pair)
            assert isinstance(after, Cooling)
            assert after.until >= self.now + RULES.cooldown

    @rule(turn=consumes(turns))
    def release(self, turn: Turn) -> None:
        pair = (turn.channel, turn.upstream_model)
        before = self.standing(pair)
        self.health.released(turn, self.now)
        if isinstance(before, Probed) and self.probes[pair] == turn:
            assert isinstance(self.standing(pair), MayProbe)
        else:
            assert self.standing(pair) == before

    @rule(seconds=st.floats(min_value=0, max_value=400))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def reload(self) -> None:
        before = [self.standing(pair) for pair in PAIRS]
        self.health.adopt(RULES, lambda _channel, _model: True)
        assert [self.standing(pair) for pair in PAIRS] == before

    @invariant()
    def no_rest_is_longer_than_allowed(self) -> None:
        for pair in PAIRS:
            match self.standing(pair):
                case Cooling(until, _):
                    assert self.now < until <= self.now + max(RULES.cooldown, LONGEST_RETRY_AFTER)
                case Ready() | MayProbe() | Probed():
                    pass

    @invariant()
    def an_upstreams_wish_is_kept(self) -> None:
        for pair, until in self.asked.items():
            if self.now < until:
                assert isinstance(self.standing(pair), Cooling)

    @invariant()
    def every_standing_has_a_reason(self) -> None:
        assert all(self.health.why(*pair, self.now) for pair in PAIRS)


TestBreakerStory = BreakerStory.TestCase
TestBreakerStory.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
