import gc
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.limits import (
    AGENT,
    AGENT_ACCOUNT_RATE,
    AGENT_KEY_RATE,
    GENERAL,
    HEADER_NAMES,
    Meter,
    Pool,
    Rate,
)
from svc_core.access.quotas import MemoryCounters, judge, limit_fields, spelled_headers

MIDNIGHT = 1_800_057_600
NOON = MIDNIGHT + 43_200


def general(key="key_1", account="wsp_1", own=(30, 5_000), plan=(30, 5_000)):
    return Meter.of(GENERAL, (key, Rate(*own)), (account, Rate(*plan)))


def agent(meter, key="key_1", account="wsp_1", own=AGENT_KEY_RATE, plan=AGENT_ACCOUNT_RATE):
    return Meter.of(AGENT, (key, own), (account, plan), beside=meter)


def hit_times(gauge, second, times):
    """How many of so many requests at one second were admitted."""
    return sum(not gauge.hit(second).exhausted for _ in range(times))


# -- windows -----------------------------------------------------------------------------------


def test_the_seconds_of_these_tests_are_what_they_say():
    assert datetime.fromtimestamp(MIDNIGHT, UTC).strftime("%H:%M:%S") == "00:00:00"


def test_the_agent_rates_are_those_of_the_spec():
    assert (AGENT_KEY_RATE, AGENT_ACCOUNT_RATE) == ((5, 100), (10, 250))


def test_the_31st_request_of_a_minute_is_refused_and_the_next_minute_is_free():
    gauge = MemoryCounters().gauge(general())
    assert hit_times(gauge, NOON, 30) == 30
    decision = gauge.hit(NOON + 13)
    assert [pool.name for pool in decision.exhausted_pools] == ["key-minute", "account-minute"]
    assert decision.retry_after_seconds == 47
    assert hit_times(gauge, NOON + 59, 1) == 0
    assert gauge.hit(NOON + 59).retry_after_seconds == 1
    assert hit_times(gauge, NOON + 60, 30) == 30


def test_the_day_ends_at_midnight_utc():
    gauge = MemoryCounters().gauge(general(own=(30, 3)))
    last = MIDNIGHT + 86_399
    assert hit_times(gauge, MIDNIGHT, 4) == 3
    decision = gauge.hit(last)
    assert [pool.name for pool in decision.exhausted_pools] == ["key-day"]
    assert decision.retry_after_seconds == 1
    assert hit_times(gauge, last + 1, 4) == 3


def test_retry_after_waits_for_the_longest_of_the_exhausted_pools():
    gauge = MemoryCounters().gauge(general(own=(2, 2)))
    hit_times(gauge, NOON, 2)
    assert gauge.hit(NOON).retry_after_seconds == 43_200


def test_a_refused_request_consumes_nothing():
    counters = MemoryCounters()
    gauge = counters.gauge(general(own=(2, 100), plan=(10, 100)))
    hit_times(gauge, NOON, 2)
    before = [gauge.hit(NOON).remaining for _ in range(5)]
    assert before == [(0, 98, 8, 98)] * 5
    assert gauge.hit(NOON + 60).remaining == (1, 97, 9, 97)


def test_more_keys_do_not_raise_the_account_quota():
    counters = MemoryCounters()
    first, second = (counters.gauge(general(key=key)) for key in ("key_1", "key_2"))
    assert hit_times(first, NOON, 20) == 20
    assert hit_times(second, NOON, 20) == 10
    assert [p.name for p in second.hit(NOON).exhausted_pools] == ["account-minute"]
    stranger = counters.gauge(general(key="key_3", account="wsp_2"))
    assert hit_times(stranger, NOON, 40) == 30


def test_a_clock_that_is_set_back_hands_out_no_second_quota():
    gauge = MemoryCounters().gauge(general())
    assert hit_times(gauge, NOON, 30) == 30
    back = NOON - 3_600
    decision = gauge.hit(back)
    assert decision.exhausted
    assert (decision.reset_minute, decision.retry_after_seconds) == (back + 60, 60)
    assert hit_times(gauge, back + 59, 1) == 0
    assert hit_times(gauge, back + 60, 30) == 30


def test_a_clock_that_is_a_little_behind_counts_in_the_later_window():
    gauge = MemoryCounters().gauge(general())
    assert hit_times(gauge, NOON, 30) == 30
    decision = gauge.hit(NOON - 1)
    assert decision.exhausted
    # a window at most
    assert (decision.reset_minute, decision.retry_after_seconds) == (NOON - 1 + 60, 60)


@pytest.mark.parametrize("days", [1, 365])
def test_a_clock_that_was_ahead_for_days_leaves_nobody_without_a_quota_for_longer_than_one(days):
    gauge = MemoryCounters().gauge(general(own=(30, 3)))
    assert hit_times(gauge, NOON + days * 86_400, 3) == 3
    assert hit_times(gauge, NOON, 1) == 0
    assert gauge.hit(NOON).retry_after_seconds <= 86_400
    assert hit_times(gauge, NOON + 2 * 86_400, 3) == 3


def test_a_lowered_plan_never_shows_a_negative_remainder():
    counters = MemoryCounters()
    hit_times(counters.gauge(general()), NOON, 20)
    low_gauge = counters.gauge(general(own=(10, 500), plan=(10, 500)))
    assert low_gauge.hit(NOON).remaining == (0, 480, 0, 480)


def test_a_burst_of_400_on_a_limit_of_30_admits_exactly_30():
    gauge = MemoryCounters().gauge(general())
    assert hit_times(gauge, NOON, 400) == 30


# -- agent pools -------------------------------------------------------------------------------


def test_an_agent_request_counts_in_the_agent_pools_and_the_general_ones():
    counters = MemoryCounters()
    meter = general()
    plain, talk = counters.gauge(meter), counters.gauge(agent(meter))
    assert talk.hit(NOON).remaining == (4, 99, 9, 249, 29, 4_999, 29, 4_999)
    assert plain.hit(NOON).remaining == (28, 4_998, 28, 4_998)
    assert talk.hit(NOON).remaining == (3, 98, 8, 248, 27, 4_997, 27, 4_997)


def test_both_agent_routes_of_a_key_share_five_a_minute_and_an_account_ten():
    counters = MemoryCounters()
    gauges = []
    for key in ("key_1", "key_2", "key_3"):
        meter = general(key=key)
        gauges.append(counters.gauge(agent(meter, key=key)))
    assert [hit_times(gauge, NOON, 6) for gauge in gauges] == [5, 5, 0]
    assert [p.name for p in gauges[0].hit(NOON).exhausted_pools] == [
        "agent-key-minute",
        "agent-account-minute",
    ]


def test_an_agent_request_refused_by_either_family_consumes_in_neither():
    counters = MemoryCounters()
    meter = general(own=(3, 100))
    plain, talk = counters.gauge(meter), counters.gauge(agent(meter))
    hit_times(plain, NOON, 3)
    decision = talk.hit(NOON)
    assert [p.name for p in decision.exhausted_pools] == ["key-minute"]
    assert decision.remaining[:4] == (5, 100, 10, 250)
    assert hit_times(talk, NOON + 60, 3) == 3
    assert hit_times(talk, NOON + 120, 2) == 2
    hit_times(talk, NOON + 120, 1)
    tight = counters.gauge(agent(meter, own=Rate(0, 0)))
    remaining = plain.hit(NOON + 180).remaining
    assert tight.hit(NOON + 180).remaining[4:] == remaining


# -- laws --------------------------------------------------------------------------------------


class Model:
    """Counts in a dictionary by subject and window number, the obvious way."""

    def __init__(self):
        self.counts = {}
        self.seen = {}

    def hit(self, meter, second):
        """Whether it is admitted, and what remains of each pool."""
        slots = []
        for pool in meter.all_pools:
            name = (pool.name, pool.subject)
            now, seen = second // pool.seconds, self.seen.get(name, 0)
            window = seen if seen == now + 1 else now
            if seen > now + 1:  # of before the clock was set back: it moves with its count
                self.counts[*name, now] = self.counts.pop((*name, seen), 0)
            elif seen < now:  # a new one, though the clock may show it for the second time
                self.counts.pop((*name, now), None)
            self.seen[name] = window
            slots.append((pool, (*name, window)))
        is_admitted = all(self.counts.get(slot, 0) < pool.limit for pool, slot in slots)
        for _, slot in slots:
            self.counts[slot] = self.counts.get(slot, 0) + is_admitted
        remaining = tuple(max(pool.limit - self.counts[slot], 0) for pool, slot in slots)
        resets = [min((slot[2] + 1) * pool.seconds, second + pool.seconds) for pool, slot in slots]
        return is_admitted, remaining, max(resets[0::2]), max(resets[1::2])


# (key, account, rates): two keys of one account, one of them restricted, and another account.
_FIRST = general("key_1", "wsp_1", (2, 5), (3, 7))
_TWO = general("key_2", "wsp_1", (3, 7), (3, 7))
_OTHER = general("key_3", "usr_3", (1, 2), (1, 2))
_SLOW, _FAST = Rate(1, 3), Rate(2, 4)
METERS = [
    _FIRST,
    _TWO,
    _OTHER,
    agent(_FIRST, own=_SLOW, plan=_FAST),
    agent(_TWO, key="key_2", own=_SLOW, plan=_FAST),
]
STEPS = st.one_of(
    st.sampled_from([0, 0, 1, 59, 60, 61, 86_399, 86_400, -1, -60, -3_600, -86_400]),
    st.integers(-200, 400),
)


@given(st.lists(st.tuples(st.integers(0, 4), STEPS), max_size=60))
def test_any_history_agrees_with_the_model(history):
    counters, model, second = MemoryCounters(), Model(), NOON
    gauges = [counters.gauge(meter) for meter in METERS]
    for index, step in history:
        second += step
        decision = gauges[index].hit(second)
        is_admitted, remaining, reset_minute, reset_day = model.hit(METERS[index], second)
        assert (not decision.exhausted) is is_admitted
        assert decision.remaining == remaining
        assert (decision.reset_minute, decision.reset_day) == (reset_minute, reset_day)
        assert (decision.retry_after_seconds > 0) is not is_admitted
        spans = [METERS[index].all_pools[place].seconds for place in decision.exhausted]
        assert decision.retry_after_seconds <= max(spans, default=0)


@given(
    st.sampled_from(METERS),
    st.lists(st.integers(0, 8), min_size=8, max_size=8),
    st.integers(NOON, NOON + 90_000),
)
def test_counting_in_memory_says_what_judge_says_of_the_same_counts(meter, counts, second):
    gauge = MemoryCounters().gauge(meter)
    used = counts[: len(meter.all_pools)]
    for window, minute, day in zip(gauge.windows, used[0::2], used[1::2], strict=True):
        window.minute, window.day = second // 60, second // 86_400
        window.minute_used, window.day_used = minute, day
    assert gauge.hit(second) == judge(meter, used, second)


@pytest.mark.parametrize("used", [[0, 0, 0], [0, 0, 0, 0, 0]])
def test_counts_that_do_not_fit_the_pools_are_an_error(used):
    with pytest.raises(ValueError, match="zip"):
        judge(general(), used, NOON)


# -- memory ------------------------------------------------------------------------------------


def test_a_principal_that_is_made_again_finds_its_counts():
    counters = MemoryCounters()
    hit_times(counters.gauge(general()), NOON, 29)
    gc.collect()
    assert hit_times(counters.gauge(general()), NOON, 5) == 1


def test_subjects_of_past_days_take_no_memory():
    counters = MemoryCounters()
    for n in range(100):
        counters.gauge(general(key=f"key_{n}", account=f"wsp_{n}")).hit(NOON)
    gc.collect()
    assert len(counters) == 200
    gauge_ = counters.gauge(general(key="key_0", account="wsp_0"))
    counters.gauge(general(key="key_x", account="wsp_x")).hit(NOON + 86_400)
    gc.collect()
    assert len(counters) == 4
    assert gauge_.hit(NOON).remaining == (28, 4_998, 28, 4_998)


# -- header fields -----------------------------------------------------------------------------

SPEC_NAMES = [
    "X-RateLimit-Limit-Minute",
    "X-RateLimit-Limit-Day",
    "X-RateLimit-Limit-User-Minute",
    "X-RateLimit-Limit-User-Day",
    "X-RateLimit-Remaining-Minute",
    "X-RateLimit-Remaining-Day",
    "X-RateLimit-Remaining-User-Minute",
    "X-RateLimit-Remaining-User-Day",
    "X-Svc-Agent-RateLimit-Limit-Minute",
    "X-Svc-Agent-RateLimit-Limit-Day",
    "X-Svc-Agent-RateLimit-Account-Limit-Minute",
    "X-Svc-Agent-RateLimit-Account-Limit-Day",
    "X-Svc-Agent-RateLimit-Remaining-Minute",
    "X-Svc-Agent-RateLimit-Remaining-Day",
    "X-Svc-Agent-RateLimit-Account-Remaining-Minute",
    "X-Svc-Agent-RateLimit-Account-Remaining-Day",
    "X-RateLimit-Reset-Minute",
    "X-RateLimit-Reset-Day",
    "RateLimit-Policy",
    "RateLimit",
    "Retry-After",
]


def test_the_field_names_are_those_of_the_spec():
    assert list(HEADER_NAMES) == SPEC_NAMES


def test_the_fields_of_an_admitted_request():
    meter = general(own=(20, 2_000), plan=(30, 5_000))
    decision = MemoryCounters().gauge(meter).hit(NOON + 48)
    assert dict(limit_fields(decision)) == {
        b"x-ratelimit-limit-minute": b"20",
        b"x-ratelimit-remaining-minute": b"19",
        b"x-ratelimit-limit-day": b"2000",
        b"x-ratelimit-remaining-day": b"1999",
        b"x-ratelimit-limit-user-minute": b"30",
        b"x-ratelimit-remaining-user-minute": b"29",
        b"x-ratelimit-limit-user-day": b"5000",
        b"x-ratelimit-remaining-user-day": b"4999",
        b"x-ratelimit-reset-minute": b"%d" % (NOON + 60),
        b"x-ratelimit-reset-day": b"%d" % (MIDNIGHT + 86_400),
        b"ratelimit-policy": b'"key-minute";q=20;w=60, "key-day";q=2000;w=86400, '
        b'"account-minute";q=30;w=60, "account-day";q=5000;w=86400',
        b"ratelimit": b'"key-minute";r=19;t=12, "key-day";r=1999;t=43152, '
        b'"account-minute";r=29;t=12, "account-day";r=4999;t=43152',
    }


def test_a_refused_request_carries_all_fields_and_retry_after():
    gauge = MemoryCounters().gauge(general())
    is_admitted = spelled_headers(limit_fields(gauge.hit(NOON + 12)))
    hit_times(gauge, NOON, 29)
    decision = spelled_headers(limit_fields(gauge.hit(NOON + 12)))
    assert decision.keys() - is_admitted.keys() == {"Retry-After"}
    assert decision["Retry-After"] == "48"
    assert decision["X-RateLimit-Remaining-Minute"] == "0"
    assert decision["X-RateLimit-Remaining-Day"] == "4970"


def test_an_agent_answer_carries_both_families_and_no_name_twice():
    meter = general()
    decision = MemoryCounters().gauge(agent(meter)).hit(NOON)
    fields = spelled_headers(limit_fields(decision))
    assert len(limit_fields(decision)) == len(fields)
    assert set(fields) == set(SPEC_NAMES) - {"Retry-After"}
    assert fields["X-Svc-Agent-RateLimit-Remaining-Minute"] == "4"
    assert fields["X-Svc-Agent-RateLimit-Account-Remaining-Day"] == "249"
    assert fields["X-RateLimit-Remaining-User-Minute"] == "29"
    assert [part.split(";")[0] for part in fields["RateLimit"].split(", ")] == [
        f'"{pool.name}"' for pool in agent(meter).all_pools
    ]
    assert fields["RateLimit-Policy"].endswith('"account-day";q=5000;w=86400')


ITEM = re.compile(rb'"[a-z-]+";r=(?:0|[1-9][0-9]*);t=[1-9][0-9]*')


@given(
    st.sampled_from(METERS),
    st.lists(st.integers(0, 9), min_size=8, max_size=8),
    st.integers(NOON, NOON + 90_000),
    st.integers(0, 100),
)
def test_the_fields_repeat_the_verdict_whatever_it_is(meter, counts, second, ahead):
    used = counts[: len(meter.all_pools)]
    decision = judge(meter, used, second, minute=second // 60 + ahead)
    fields = dict(limit_fields(decision))
    remaining = [
        int(fields[name.lower().encode()])
        for family in ((meter.family,) if meter.beside is None else (AGENT, GENERAL))
        for name in family.field_names("Remaining")
    ]
    assert tuple(remaining) == decision.remaining
    items = fields[b"ratelimit"].split(b", ")
    assert all(ITEM.fullmatch(item) for item in items)
    waits = [int(item.rpartition(b"=")[2]) for item in items]
    assert second + waits[0] == decision.reset_minute == int(fields[b"x-ratelimit-reset-minute"])
    assert second + waits[1] == decision.reset_day == int(fields[b"x-ratelimit-reset-day"])
    if decision.exhausted:
        # The draft: Retry-After is never earlier than the `t` of a pool that refused.
        assert int(fields[b"retry-after"]) == max(waits[i] for i in decision.exhausted)
    else:
        assert b"retry-after" not in fields


@pytest.mark.parametrize("number", [0, 1, 1_023, 1_024, 49_999])
def test_every_remainder_is_written_in_decimal(number):
    limits = (number + 1, number + 1)
    decision = judge(general(own=limits, plan=limits), [0, 0, 0, 0], NOON)
    fields = spelled_headers(limit_fields(decision))
    for name in SPEC_NAMES[4:8]:
        assert fields[name] == str(number)


def test_a_pool_names_one_counter_for_a_store_elsewhere():
    meter = agent(general())
    assert len({(pool.name, pool.subject) for pool in meter.all_pools}) == 8
    assert meter.all_pools[0] == Pool("agent-key-minute", "key_1", 5, 60)
    assert meter.all_pools[7] == Pool("account-day", "wsp_1", 5_000, 86_400)


# -- the straight way --------------------------------------------------------------------------


@given(st.lists(st.integers(0, 200), min_size=1, max_size=60))
def test_the_straight_way_counts_as_the_long_one_does(steps):
    straight, long = (MemoryCounters().gauge(general(own=(3, 9), plan=(5, 12))) for _ in "ab")
    second = NOON
    for step in steps:
        second += step
        assert straight.hit(second)[1:] == long._hit(second, second // 60, second // 86_400)[1:]
