"""One suite for the places that processes share: memory, a database, a Redis or Valkey server."""

from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from svc_core.access.limits import AGENT, GENERAL, Meter, Rate
from svc_core.access.lockout import is_locked, record_failure
from svc_core.access.quotas import MemoryCounters, judge
from svc_core.operation.ports import LockedAddress, PoolUsage
from tests.sampling import examples

NOON = int(datetime(2026, 3, 4, 12, tzinfo=UTC).timestamp())
NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
FRESH = count()

few = examples(40, suppress_health_check=[HealthCheck.too_slow])


def meters():
    """Two keys of one account, with their agents, and a stranger; nobody has seen them before."""
    n = next(FRESH)
    account, slow, fast = f"wsp_{n}", Rate(3, 5), Rate(4, 7)
    keys = [
        Meter.of(GENERAL, (f"key_{n}_{k}", slow), (owner, fast))
        for k, owner in enumerate((account, account, f"wsp_{n}_other"))
    ]
    agents = [
        Meter.of(AGENT, (f"key_{n}_{k}", Rate(2, 4)), (account, Rate(3, 4)), beside=keys[k])
        for k in range(2)
    ]
    return [*keys, *agents]


class Model:
    """Every pool by itself, in the slowest way.

    A process that counts alone has no other clock than its own, which may have been set back.
    """

    def __init__(self, *, is_alone):
        self.is_alone = is_alone
        self.windows = {}

    def hit(self, pools, second):
        used = []
        for pool in pools:
            latest, count = self.windows.get(pool.name + pool.subject, (-1, 0))
            clock = second // pool.seconds
            if clock > latest or (self.is_alone and latest > clock + 1):
                latest, count = clock, count if latest > clock else 0
            used.append(count)
            self.windows[pool.name + pool.subject] = latest, count
        windows = [self.windows[pool.name + pool.subject][0] for pool in pools]
        if all(count < pool.limit for count, pool in zip(used, pools, strict=True)):
            for pool, window, count in zip(pools, windows, used, strict=True):
                self.windows[pool.name + pool.subject] = window, count + 1
        return PoolUsage(tuple(used), max(windows[0::2]), max(windows[1::2]))


# -- counters ----------------------------------------------------------------------------------

STEPS = st.one_of(
    st.sampled_from([0, 0, 0, 1, 59, 60, 61, 86_399, 86_400, -1, -60, -3_600, -86_400]),
    st.integers(-200, 400),
)


@few
@given(history=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1), STEPS), max_size=40))
def test_any_history_over_two_processes_agrees_with_the_model(place, history):
    is_alone = isinstance(place.first.counters, MemoryCounters)
    choices, model, second = meters(), Model(is_alone=is_alone), NOON
    # In memory a window of an earlier day lives while a principal holds it.
    own = [
        c.gauge(m) for m in choices for c in [place.first.counters] if isinstance(c, MemoryCounters)
    ]
    for index, process, step in history:
        second += step
        pools = choices[index].all_pools
        usage = place.run(place.processes[process].counters.hit(pools, second))
        assert usage == model.hit(pools, second)
    assert len(own) in {0, 5}


def test_a_refusal_too_is_remembered_by_the_clock(place):
    n = next(FRESH)
    meter = Meter.of(GENERAL, (f"k{n}", Rate(9, 1)), (f"w{n}", Rate(9, 9)))
    for minutes, used in ((0, (0, 0, 0, 0)), (2, (0, 1, 0, 1)), (1, (0, 1, 0, 1))):
        usage = place.run(place.first.counters.hit(meter.pools, NOON + 60 * minutes))
        assert usage.used == used
    assert usage.minute == NOON // 60 + 2


@pytest.mark.parametrize(("index", "limit"), [(0, 50), (3, 20)])
def test_of_hundreds_at_once_over_two_processes_exactly_the_limit_is_admitted(place, index, limit):
    n = next(FRESH)
    general = Meter.of(GENERAL, (f"key_{n}", Rate(50, 900)), (f"wsp_{n}", Rate(60, 900)))
    agent = Meter.of(
        AGENT, (f"key_{n}", Rate(20, 900)), (f"wsp_{n}", Rate(30, 900)), beside=general
    )
    meter = (general, general, general, agent)[index]
    hits = [
        process.counters.hit(meter.all_pools, NOON)
        for process in place.processes
        for _ in range(200)
    ]
    decisions = [judge(meter, usage.used, NOON) for usage in place.together(*hits)]
    admissions = [decision for decision in decisions if not decision.exhausted]
    assert len(admissions) == limit
    # Each was told another rest: none was counted twice, and none was forgotten.
    assert sorted(decision.remaining[0] for decision in admissions) == list(range(limit))


def test_keys_of_one_account_at_once_never_pass_its_limit_nor_their_own(place):
    n = next(FRESH)
    keys = [Meter.of(GENERAL, (f"k{n}_{k}", Rate(30, 99)), (f"w{n}", Rate(70, 99))) for k in "abc"]
    hits = [
        process.counters.hit(meter.pools, NOON)
        for _ in range(40)
        for process in place.processes
        for meter in keys
    ]
    usages = place.together(*hits)
    admissions = [c for c in usages if c.used[0] < 30 and c.used[2] < 70]
    assert len(admissions) == 70
    # The last word on each key agrees with what was admitted of it: a refusal took nothing.
    last = place.together(*(place.second.counters.hit(meter.pools, NOON) for meter in keys))
    assert sum(usage.used[0] for usage in last) == 70
    assert {usage.used[2] for usage in last} == {70}


def test_a_limit_may_be_as_large_as_a_plan_says(place):
    n = next(FRESH)
    meter = Meter.of(GENERAL, (f"k{n}", Rate(2**40, 2**40)), (f"w{n}", Rate(2**40, 2**40)))
    place.run(place.first.counters.hit(meter.pools, NOON))
    assert place.run(place.second.counters.hit(meter.pools, NOON)).used == (1, 1, 1, 1)


# -- lockouts ----------------------------------------------------------------------------------

MOMENTS = st.one_of(
    st.sampled_from([0, 1, 900_000_000, 899_999_999, 900_000_001, -1, -3_600_000_000]),
    st.integers(-400_000_000, 400_000_000),
)


@few
@given(history=st.lists(st.tuples(st.integers(0, 1), MOMENTS), max_size=20))
def test_any_failures_of_an_address_over_two_processes_follow_the_rule(place, history):
    address, failures, now = f"address {next(FRESH)}", (), NOW
    for process, step in history:
        now += timedelta(microseconds=step)
        lockouts = place.processes[process].lockouts
        assert place.run(lockouts.record(address, now)) == failures
        failures = record_failure(failures, now)
        assert place.run(lockouts.failures(address)) == failures


def test_of_a_burst_over_two_processes_exactly_five_are_not_one_too_many(place):
    address = f"address {next(FRESH)}"
    answers = place.together(
        *(process.lockouts.record(address, NOW) for process in place.processes for _ in range(100))
    )
    assert sorted(map(len, answers))[:6] == [0, 1, 2, 3, 4, 5]
    assert [is_locked(before, NOW) for before in answers].count(False) == 5


def test_what_is_locked_is_listed_and_can_be_cleared_everywhere(place):
    place.run(place.first.lockouts.clear(None))
    n = next(FRESH)
    early, late, free = f"early {n}", f"late {n}", f"free {n}"
    for address, start in ((late, NOW + SECOND), (early, NOW)):
        for _ in range(5):
            place.run(place.first.lockouts.record(address, start))
    place.run(place.second.lockouts.record(free, NOW))
    rows = (
        LockedAddress(early, NOW + timedelta(minutes=15)),
        LockedAddress(late, NOW + SECOND + timedelta(minutes=15)),
    )
    assert place.run(place.second.lockouts.locked(NOW + SECOND)) == rows
    assert place.run(place.second.lockouts.locked(NOW + timedelta(minutes=15))) == rows[1:]
    assert place.run(place.second.lockouts.clear(early)) == 1
    assert place.run(place.first.lockouts.clear(early)) == 0
    assert place.run(place.first.lockouts.failures(early)) == ()
    assert place.run(place.first.lockouts.locked(NOW + SECOND)) == rows[1:]
    assert place.run(place.first.lockouts.clear(None)) == 2
    assert place.run(place.second.lockouts.failures(free)) == ()


def test_a_stranger_has_no_failures(place):
    assert place.run(place.first.lockouts.failures("nobody")) == ()


# -- leases ------------------------------------------------------------------------------------


def test_of_many_takers_one_has_the_name(place):
    name = f"name {next(FRESH)}"
    takes = [
        process.leases.take(name, f"{n} of {k}", 60)
        for n in range(20)
        for k, process in enumerate(place.processes)
    ]
    assert sorted(place.together(*takes)) == [False] * 39 + [True]


def test_a_holder_keeps_a_name_by_taking_it_again_and_gives_back_its_own_alone(place):
    name, (first, second) = f"name {next(FRESH)}", [process.leases for process in place.processes]
    assert place.run(first.take(name, "a", 60))
    assert place.run(second.take(name, "a", 60))
    assert not place.run(second.take(name, "b", 60))
    place.run(second.release(name, "b"))
    assert not place.run(second.take(name, "b", 60))
    place.run(first.release(name, "a"))
    assert place.run(second.take(name, "b", 60))
    place.run(first.release("nobody's name", "a"))


def test_a_name_that_is_not_taken_again_is_free_once_its_time_is_over(place, soon):
    name = f"name {next(FRESH)}"
    assert place.run(place.first.leases.take(name, "a", 0.05))
    soon(lambda: place.run(place.second.leases.take(name, "b", 60)))
    assert not place.run(place.first.leases.take(name, "a", 60))


# -- signals -----------------------------------------------------------------------------------


def test_every_process_hears_what_one_of_them_tells(place):
    signals = {0: [], 1: []}
    for process, member in enumerate(place.processes):
        place.run(member.signals.hear(signals[process].append))
    notices = [frozenset({"keys"}), frozenset({"news", "reports"})]
    for names in notices:
        place.run(place.first.signals.tell(names))
    place.until(lambda: all(len(names) >= 2 for names in signals.values()))
    assert signals == {0: notices, 1: notices}


def test_all_hearers_of_a_process_hear(place):
    signals = [[], []]
    for names in signals:
        place.run(place.second.signals.hear(names.append))
    place.run(place.first.signals.tell(frozenset({"users"})))
    place.until(lambda: all(signals))
    assert signals == [[frozenset({"users"})]] * 2
