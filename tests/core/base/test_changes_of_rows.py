"""The change records that the verbs of a use case leave, and what they cost in reading."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from attrs import evolve

from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Change, Collection, FeedPosition, Transaction
from svc_core.testing.clock import START, CountingIds
from svc_core.testing.sample import NOTES, NOTICES, SAMPLES, SECRETS, Note
from svc_http.stores import MemoryStorage

NOTE = Note("a", "flood", 1)
NEXT_NOTE = evolve(NOTE, text="fire", status="open")


class Reading:
    """A transaction whose readings of single rows are counted."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.reads = 0

    @property
    def documents(self) -> Any:
        return self

    async def get(self, collection: Collection[Any], id_: str) -> Any:
        self.reads += 1
        return await self.tx.documents.get(collection, id_)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tx.documents if hasattr(self.tx.documents, name) else self.tx, name)


Outcome = tuple[list[Change], int]


def changes_after(
    tenant: str, work: Callable[[Context], Awaitable[Any]], row: Any = None
) -> Outcome:
    """What comes of `work` on a store where `row` has a row, and how often it read one."""
    store = MemoryStorage(SAMPLES)

    async def unit(tx: Transaction) -> Outcome:
        if row is not None:
            await tx.documents.put(row, NOTE.id, NOTE)
        reading: Any = Reading(tx)
        keyring = Keyring({1: bytes(32)}, 1)
        await work(Context(START, CountingIds(), Actor(tenant), "", keyring, tx=reading))
        return list((await tx.changes.read(FeedPosition(), limit=9)).changes), reading.reads

    return drive.run(store.write(tenant, unit))


def details(change: Change) -> tuple[Any, ...]:
    return change.change_type, change.changed_fields, change.last_state, change.merged_into_id


@pytest.mark.parametrize(
    ("collection", "how", "fields", "reads"),
    [
        (NOTES, {}, ("status", "text"), 1),
        (NOTES, {"expect": 1}, ("status", "text"), 1),
        (NOTICES, {}, ("status", "text"), 1),
        (SECRETS, {}, None, 0),
    ],
)
def test_an_update_names_what_changed_for_one_more_reading(collection, how, fields, reads) -> None:
    tenant = "ann" if collection is NOTES else SYSTEM
    changes, read = changes_after(
        tenant, lambda ctx: ctx.save(collection, "a", NEXT_NOTE, **how), collection
    )
    assert read == reads
    assert [details(change) for change in changes] == (
        [] if fields is None else [("updated", fields, None, None)]
    )


def test_an_update_of_a_row_that_is_at_hand_reads_nothing() -> None:
    async def update(ctx: Context) -> None:
        (row,) = (await ctx.tx.documents.get_many(NOTES, ["a"])).values()
        row = await ctx.save(NOTES, "a", NEXT_NOTE, before=row)
        inner = evolve(ctx, target=row)
        await inner.rewrite(NOTES, evolve(NEXT_NOTE, status=None))

    changes, read = changes_after("ann", update, NOTES)
    assert read == 0
    assert [change.changed_fields for change in changes] == [("status", "text"), ("status",)]


def test_a_new_row_is_created_without_a_reading() -> None:
    for work in (
        lambda ctx: ctx.create(NOTES, "a", NOTE),
        lambda ctx: ctx.save(NOTES, "a", NOTE, before=None),
    ):
        changes, read = changes_after("ann", work)
        assert ([details(change) for change in changes], read) == (
            [("created", None, None, None)],
            0,
        )


@pytest.mark.parametrize(
    ("collection", "tenant", "state"), [(NOTES, "ann", None), (NOTICES, SYSTEM, True)]
)
def test_what_everybody_read_is_told_as_it_was_when_it_goes(collection, tenant, state) -> None:
    changes, _ = changes_after(tenant, lambda ctx: ctx.remove(collection, "a"), collection)
    last = collection.record(NOTE).raw if state else None
    assert [details(change) for change in changes] == [("deleted", None, last, None)]


def test_a_merge_names_what_its_row_lives_on_in() -> None:
    async def merge(ctx: Context) -> None:
        await ctx.record(NOTICES, "a", "merged", 2, merged_into_id="b")
        await ctx.record(NOTICES, "a", "restored", 3)

    changes, _ = changes_after(SYSTEM, merge)
    assert [details(change) for change in changes] == [
        ("merged", None, None, "b"),
        ("restored", None, None, None),
    ]
    assert {change.path for change in changes} == {"/api/v1/sample_notices/a"}
