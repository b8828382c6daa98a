"""The rates of a key that asks again: the short way says what the counters say."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.authorize import limited
from svc_core.access.counters import MemoryCounters
from svc_core.access.limits import AGENT, GENERAL, Meter, Rate, headers
from svc_http.requests.rates import Rates

NOON = 1_772_625_600


def at(second):
    """The middle of a Unix second."""
    return datetime.fromtimestamp(second + 0.5, UTC)


ACCOUNT = ("wsp_1", Rate(6, 14))
AGENT_STREAMS = 2


def three_gauges():
    """Two keys of one account, and the agent streams of the second."""
    counters = MemoryCounters()
    first = Meter.of(GENERAL, ("key_1", Rate(2, 9)), ACCOUNT)
    second = Meter.of(GENERAL, ("key_2", Rate(6, 5)), ACCOUNT)
    agent = Meter.of(AGENT, ("key_2", Rate(3, 9)), ("wsp_1", Rate(3, 9)), beside=second)
    return [counters.gauge(meter) for meter in (first, second, agent)]


# Most requests come within a second; the clock may be set, also back.
STEPS = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 2]), st.sampled_from([0, 0, 0, 1, 59, 60, -1, -60, 86_400])
    ),
    max_size=60,
)


@given(STEPS)
def test_a_request_is_counted_and_told_as_the_counters_do(steps):
    asked, model = three_gauges(), three_gauges()
    rates = [Rates(gauge) for gauge in asked[:2]]
    second = NOON
    for which, passed in steps:
        second += passed
        verdict = model[which].hit(second)
        if which == AGENT_STREAMS:  # it has pools beside its own, and no short way
            assert asked[which].hit(second).remaining == verdict.remaining
            continue
        fields, again = rates[which].count(at(second))
        assert fields == headers(verdict)
        assert (again is None) == (not verdict.exhausted)
        if again is not None:
            refusal = limited(verdict)
            assert (again.refusal.type, again.refusal.detail) == (refusal.type, refusal.detail)


def test_the_same_refusal_is_given_again_until_something_changes():
    first, second, _ = three_gauges()
    rates, other = Rates(first), Rates(second)
    assert [rates.count(at(NOON))[1] for _ in range(2)] == [None, None]
    fields, again = rates.count(at(NOON))
    assert rates.count(at(NOON)) == (fields, again)
    assert rates.count(at(NOON))[0] is fields
    other.count(at(NOON))
    moved, still = rates.count(at(NOON))
    assert still is again
    assert dict(moved)[b"x-ratelimit-remaining-user-minute"] == b"3"
    assert dict(rates.count(at(NOON + 1))[0])[b"retry-after"] == b"59"
    assert rates.count(at(NOON + 60))[1] is None


def test_a_window_that_another_request_turned_is_seen_when_the_clock_is_set_back():
    _, second, agent = three_gauges()
    rates = Rates(second)
    for _ in range(5):
        assert rates.count(at(NOON))[1] is None
    before, _ = rates.count(at(NOON))
    assert agent.hit(NOON + 60).exhausted  # the day of the key: nothing is counted
    after, _ = rates.count(at(NOON))
    assert dict(before)[b"x-ratelimit-remaining-minute"] == b"1"
    assert dict(after)[b"x-ratelimit-remaining-minute"] == b"6"
    assert after == headers(second.hit(NOON))


def test_a_turned_window_of_the_account_alone_is_seen_as_well():
    _, second, _ = three_gauges()
    rates = Rates(second)
    for _ in range(5):
        assert rates.count(at(NOON))[1] is None
    before, _ = rates.count(at(NOON))
    second.account.minute += 1
    after, _ = rates.count(at(NOON))
    assert before != after == headers(second.hit(NOON))
