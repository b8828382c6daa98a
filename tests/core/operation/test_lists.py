"""The lists of a use case: what they are narrowed to, how sorted, and what their cursors say."""

import json
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import GeoBox
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_http.stores import MemoryStorage

ROWS = (
    Note("a", "quake fire", 1, weight=3, longitude=179.5, latitude=-17.0),
    Note("b", "fire", 2, weight=9, longitude=-179.5, latitude=-17.0),
    Note("c", "quake", 3, longitude=10.0, latitude=50.0),
    Note("d", "quake quay", 4, weight=5),
)
FIJI = GeoBox(177, -20, -178, -16)
ALL_IDS = "d c b a"


@pytest.fixture
def ctx() -> Iterator[Context]:
    store, clock = MemoryStorage(SAMPLES), FrozenClock()
    keyring = Keyring({1: b"k" * 32}, 1)

    async def fill(tx):
        for row in ROWS:
            await tx.documents.put(NOTES, row.id, row)
        return Context(clock.now(), CountingIds(clock), Actor("t"), "listNotes", keyring, tx=tx)

    return drive.run(store.write("t", fill))


def walk(ctx: Context, **arguments: Any) -> str:
    """The identifiers of every row, asked for one by one."""
    rows, after = [], {}
    while True:
        page = drive.run(ctx.page(NOTES, limit=1, **arguments, **after))
        rows += [json.loads(raw)["id"] for raw in page.rows]
        if page.next_cursor is None:
            return " ".join(rows)
        after = {"after": page.next_cursor}


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({}, ALL_IDS),
        ({"order": "weight"}, "b d a c"),
        ({"ranges": {"weight": (4, None)}}, "d b"),
        ({"ranges": {"weight": (4, 8)}}, "d"),
        ({"box": FIJI}, "b a"),
        ({"box": FIJI, "order": "weight", "start": 2}, "b"),
        ({"words": ("quake",)}, "d c a"),
        ({"words": ("quake", "fire"), "end": 3}, "a"),
        ({"ranges": None, "box": None, "words": None, "order": None}, ALL_IDS),
    ],
)
def test_a_list_is_narrowed_and_sorted_page_by_page(ctx, arguments, paths):
    assert walk(ctx, **arguments) == paths


@pytest.mark.parametrize(
    "second",
    [
        {"order": "longitude"},
        {"ranges": {"weight": (3, None)}},
        {"ranges": {"weight": (None, 4)}},
        {"ranges": {"longitude": (4, None)}},
        {"box": FIJI._replace(east=-177)},
        {"box": None},
        {"words": ("fire", "quake")},
        {"start": 1},
    ],
)
def test_a_cursor_of_another_filter_or_order_is_refused(ctx, second):
    arguments = {
        "order": "weight",
        "ranges": {"weight": (1, None)},
        "box": FIJI,
        "words": ("fire",),
    }
    cursor = drive.run(ctx.page(NOTES, limit=1, **arguments)).next_cursor
    assert drive.run(ctx.page(NOTES, limit=9, after=cursor, **arguments)).rows
    with pytest.raises(Problem) as failure:
        drive.run(ctx.page(NOTES, limit=1, after=cursor, **(arguments | second)))
    assert failure.value.type is problem.INVALID_CURSOR


def test_a_cursor_of_an_order_before_is_refused(ctx):
    cursor = drive.run(ctx.page(NOTES, limit=1)).next_cursor
    with pytest.raises(Problem) as failure:
        drive.run(ctx.page(attrs.evolve(NOTES, form=2), limit=1, after=cursor))
    assert failure.value.type is problem.INVALID_CURSOR
