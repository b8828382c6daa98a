"""Tenants share the places where units of work run, whatever any of them asks for."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from svc_core.operation.ports import Overloaded
from svc_core.testing.sample import SAMPLES
from svc_http.stores.relational.tenant_lines import (
    KNOWN_MAX,
    LONG_SECONDS,
    SHORT_UNITS,
    TenantLines,
)
from tests.backends import store_of

LONG = LONG_SECONDS * 2


@frozen
class Waiting:
    tenant: str
    number: int
    queued_at: float = 0.0


def lines_of(text: str, *, places: int = 2, is_mixed: bool = True) -> TenantLines[Waiting]:
    lines = TenantLines[Waiting](20, places=places, is_mixed=is_mixed)
    for number, tenant in enumerate(text):
        lines.note(tenant, 0.0)
        lines.add(Waiting(tenant, number, float(number)))
    return lines


def taken(lines: TenantLines[Waiting], count: int = 9) -> str:
    return "".join(job.tenant for job in lines.take(count))


@pytest.mark.parametrize(
    ("waiting", "is_mixed", "places", "batches"),
    [
        ("aaab", True, 1, ["abaa", ""]),
        ("aaab", True, 2, ["abaa", ""]),
        ("aaaabbbb", True, 4, ["abab", "ab", ""]),
        ("aaab", False, 4, ["aaa", "b", ""]),
        ("", True, 2, [""]),
    ],
)
def test_tenants_take_turns(waiting: str, is_mixed: bool, places: int, batches: list[str]) -> None:
    lines = lines_of(waiting, places=places, is_mixed=is_mixed)
    assert [taken(lines) for _ in batches] == batches


def test_a_tenant_has_half_of_the_places_and_a_newcomer_the_rest() -> None:
    lines = lines_of("aaaaaaaa", places=4)
    first, second = lines.take(4), lines.take(4)
    assert (len(first), len(second), taken(lines)) == (4, 2, "")
    lines.add(Waiting("b", 9))
    assert taken(lines) == "b"
    lines.release(first)
    assert taken(lines) == "a"


def test_who_takes_long_is_served_alone_and_leaves_a_place_to_the_others() -> None:
    lines = lines_of("abcdaeb", places=4)
    for tenant in "abc":
        lines.note(tenant, LONG)
    batches = [taken(lines) for _ in range(5)]
    assert batches == ["a", "b", "c", "de", ""]


def test_who_takes_long_no_more_shares_batches_again() -> None:
    lines = lines_of("ba", places=2)
    lines.note("a", LONG)
    for _ in range(SHORT_UNITS - 1):
        lines.note("a", 0.0)
    batch = lines.take(9)
    assert [job.tenant for job in batch] == ["b"]
    lines.release(batch)
    lines.note("a", 0.0)
    lines.add(Waiting("b", 9))
    assert taken(lines) == "ab"


def test_of_a_newcomer_it_is_not_known_how_long_its_units_take() -> None:
    lines = lines_of("ab", places=4)
    lines.add(Waiting("new", 9))
    lines.add(Waiting("newer", 9))
    assert [[job.tenant for job in lines.take(9)] for _ in range(3)] == [
        ["a", "b"],
        ["new"],
        ["newer"],
    ]


def test_only_so_many_tenants_are_remembered() -> None:
    lines = lines_of("ab", places=4)
    for number in range(KNOWN_MAX):
        lines.note(f"w{number}", 0.0)
    assert [taken(lines) for _ in range(2)] == ["a", "b"]


def test_one_tenant_fills_half_of_the_line_and_all_together_the_whole() -> None:
    lines = lines_of("a" * 10)
    with pytest.raises(Overloaded):
        lines.add(Waiting("a", 10))
    for number in range(10):
        lines.add(Waiting("b", number))
    with pytest.raises(Overloaded):
        lines.add(Waiting("c", 0))
    assert lines.count == 20


def test_who_waits_too_long_leaves_the_line_in_order() -> None:
    lines = lines_of("abab", places=2)
    assert [job.number for job in lines.drop_late(2.0)] == [0, 2, 1]
    assert (taken(lines), lines.count, lines.is_ready) == ("b", 0, False)


# -- in the stores -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_read_waits_for_no_read_of_another_tenant(kind: str, tmp_path: Path) -> None:
    """Twenty units of one tenant that end only when another tenant was answered."""

    async def scene() -> None:
        store = store_of(kind, SAMPLES, folder=tmp_path)
        answered = threading.Event()

        async def endless(_tx: Any) -> bool:
            wait: Callable[[], Any] = lambda: answered.wait(20)  # noqa: E731
            return bool(wait() if kind == "sqlite" else await asyncio.to_thread(wait))

        async def quick(tx: Any) -> Any:
            return await tx.ledger.head()

        crowd = [asyncio.create_task(store.read("crowd", endless)) for _ in range(20)]
        try:
            await answer_of(store.read("other", quick))
        finally:
            answered.set()
        assert all(await asyncio.gather(*crowd))
        await store.close()

    asyncio.run(scene())


async def answer_of(read: Awaitable[Any]) -> Any:
    """The answer of a read, which must not take longer than it could by itself."""
    return await asyncio.wait_for(read, 5)
