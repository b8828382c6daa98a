"""What the operator does with addresses that are locked out."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from svc_core.access.lockout import MemoryLockouts
from svc_core.access.lockouts import (
    LOCAL_OPERATIONS,
    ClearLockouts,
    clear_lockouts,
    list_lockouts,
)
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import OPERATOR
from svc_core.operation.host import Host
from svc_core.operation.members import NoMembers
from svc_core.operation.ports import SYSTEM, Lockouts
from svc_core.testing.clock import CountingIds, FrozenClock

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def context(lends: dict[type, Any]) -> Context:
    ids, keyring = CountingIds(FrozenClock()), Keyring({1: b"k" * 32}, 1)
    return Context(NOW, ids, Actor(SYSTEM), "", keyring, host=Host(providers=lends), tx=None)  # type: ignore[arg-type]


@pytest.fixture
def book() -> MemoryLockouts:
    """Two addresses that are locked, and one that is not yet."""
    lockouts = MemoryLockouts()
    for address in ("192.0.2.7", "2001:db8::/64", "the socket", "192.0.2.8"):
        for _ in range(1 if address == "192.0.2.8" else 5):
            lockouts.note(address, NOW)
    return lockouts


def test_what_is_locked_is_listed(book: MemoryLockouts) -> None:
    page = drive.run(list_lockouts(context({Lockouts: book}), NoMembers()))
    assert [json.loads(row)["address"] for row in page.rows] == [
        "192.0.2.7",
        "2001:db8::/64",
        "the socket",
    ]


@pytest.mark.parametrize(
    ("text", "count", "remaining"),
    [
        ("192.0.2.7", 1, 3),
        ("::ffff:192.0.2.7", 1, 3),
        ("2001:DB8:0::1", 1, 3),
        ("2001:db8::/64", 1, 3),
        ("2001:db8:0:1::1", 0, 4),
        ("the socket", 1, 3),
        ("192.0.2.8", 1, 3),
        ("192.0.2.9", 0, 4),
        (None, 4, 0),
    ],
)
def test_an_address_is_found_however_it_is_written(
    book: MemoryLockouts, text: str | None, count: int, remaining: int
) -> None:
    rows = drive.run(clear_lockouts(context({Lockouts: book}), ClearLockouts(text)))
    assert json.loads(rows.raw) == {"cleared": count}
    assert len(book) == remaining


def test_only_the_operator_may_and_only_where_there_are_lockouts() -> None:
    assert {operation.roles for operation in LOCAL_OPERATIONS} == {OPERATOR}
    with pytest.raises(Problem, match="SERVICE_UNAVAILABLE"):
        drive.run(list_lockouts(context({}), NoMembers()))
