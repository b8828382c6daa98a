"""Counting in memory, asked through the ports that processes may share."""

from datetime import timedelta

import pytest

from svc_core.access.authorization import (
    ANONYMOUS,
    Facts,
    OperationAccess,
    Principal,
    authorize,
    authorize_shared,
)
from svc_core.access.keys import Bearer
from svc_core.access.limits import GENERAL, Meter, Rate
from svc_core.access.lockout import ATTEMPTS_MAX, MemoryLockouts
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.access.quotas import MemoryCounters, judge
from svc_core.base import drive
from svc_core.contract.problem import Problem
from svc_core.operation.ports import LockedAddress

NOON = 1_772_625_600
METER = Meter.of(GENERAL, ("key_1", Rate(2, 9)), ("wsp_1", Rate(3, 9)))


def test_what_the_port_counts_a_gauge_sees_and_the_other_way_round():
    counters = MemoryCounters()
    gauge = counters.gauge(METER)
    assert drive.run(counters.hit(METER.pools, NOON)).used == (0, 0, 0, 0)
    assert gauge.hit(NOON).remaining == (0, 7, 1, 7)
    full = drive.run(counters.hit(METER.pools, NOON))
    assert full == ((2, 2, 2, 2), NOON // 60, NOON // 86_400)
    assert judge(METER, full.used, NOON) == gauge.hit(NOON)


def test_the_port_of_lockouts_says_what_memory_knows(now):
    book = MemoryLockouts()
    for n in range(ATTEMPTS_MAX + 1):
        assert len(drive.run(book.record("a", now))) == n
    book.note("b", now)
    assert drive.run(book.failures("a")) == book.known("a") == (now,) * ATTEMPTS_MAX
    assert drive.run(book.locked(now)) == (LockedAddress("a", now + timedelta(minutes=15)),)
    assert drive.run(book.clear("a")) == 1
    assert drive.run(book.clear("a")) == 0
    assert drive.run(book.clear(None)) == 1
    assert len(book) == 0


@pytest.fixture
def facts(make_key):
    key = make_key()
    principal = Principal.of(key, DEFAULT_PLANS.plan("pro"), MemoryCounters())
    return Facts(Bearer(key.digest_hex), principal)


@pytest.mark.parametrize("pool", ["account", "agent", "none"])
def test_who_counts_elsewhere_is_told_the_same(make_key, facts, now, pool):
    access, counters = OperationAccess(pool=pool), MemoryCounters()
    for _ in range(40):
        members = []
        for decide in (
            lambda: authorize(access, facts, now),
            lambda: drive.run(authorize_shared(access, facts, now, counters)),
        ):
            try:
                grant = decide()
                members.append((grant.actor, grant.headers))
            except Problem as error:
                members.append((error.type, error.detail, error.headers))
        assert members[0] == members[1]


def test_who_needs_no_key_is_counted_nowhere(facts, now):
    access, counters = OperationAccess(auth="public"), MemoryCounters()
    assert drive.run(authorize_shared(access, facts, now, counters)) is ANONYMOUS
    assert len(counters) == 0
