"""What a reading costs a store, counted by its engine."""

import json
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from svc_http.stores import SqliteStorage
from svc_http.stores.postgres import PostgresLimits
from svc_http.stores.postgres._session import Session

Work = Callable[[], Any]

ONE_READER = PostgresLimits(readers=1)
"""Each connection of PostgreSQL plans by the heights of indexes as it saw them last; one that has
not seen a table grow takes another index of it."""

RARE = {"topic": ("r0", "r1", "both")}
FACETS = (
    ("'r' || (ord % 2)", "ord <= 20"),
    ("'both'", "ord <= 15"),
    ("'all'", "TRUE"),
    ("'t' || (ord % 3)", "ord > 20"),
)
"""The topics of a table that grows, in SQL, and which rows have each: 20 are rare, then others."""
WHERES: tuple[tuple[str, dict[str, tuple[str, ...]]], ...] = (
    ("topic", {"topic": ("r1",)}),
    ("topic", RARE),
    ("status", {"status": ("rare", "none")}),
    ("topic", RARE | {"status": ("s0", "rare"), "author": ("a0", "a1")}),
    ("status", {"topic": ("all", "t1"), "status": ("rare",)}),
)
"""Filters that few rows meet, however many there are, and the one that leads to them."""
BOUNDS: tuple[dict[str, Any], ...] = (
    {},
    {"start": 2, "end": 10**6},
    {"ranges": {"weight": (2, None)}},
)


def lines_run(work: Work) -> int:
    """The lines of Python that a reading runs."""
    count = 0

    def trace(_frame: FrameType, _event: str, _argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def sqlite_steps(store: SqliteStorage, work: Work) -> int:
    """The instructions of SQLite's machine that a reading runs."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    connections = [reader.connection for reader in store._readers]
    for connection in connections:
        connection.set_progress_handler(step, 1)
    try:
        work()
    finally:
        for connection in connections:
            connection.set_progress_handler(None, 1)
    return count


def postgres_pages(work: Work) -> int:
    """The pages and rows that the statements of a reading look at."""
    costs: list[int] = []
    send = Session.rows

    async def rows(session: Session, statement: str, *values: object) -> list[Any]:
        text = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}"
        ((report,),) = await session.connection.fetch(text, *values)
        costs.append(_pages_of(json.loads(report)[0]["Plan"]))
        return await send(session, statement, *values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "rows", rows)
        work()
    return sum(costs)


def _pages_of(plan: Any) -> int:
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]) + rows_read(plan)


def rows_read(plan: Any) -> int:
    """Rows that any part of a plan gives or throws away."""
    discards = sum(plan.get(f"Rows Removed by {how}", 0) for how in ("Filter", "Join Filter"))
    own = (plan["Actual Rows"] + discards) * plan["Actual Loops"]
    return int(own + sum(map(rows_read, plan.get("Plans", []))))
