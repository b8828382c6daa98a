"""Rows of three kinds in a store of any sort, and questions about them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from attrs import frozen

from svc_core.base.seals import Keyring
from svc_core.intel.linking.name_forms import normal_name
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, Collection
from svc_core.search.field_index import FieldIndex
from svc_core.search.lists import Listing
from svc_core.search.ranked_rows import Near, RankedRow, SearchKind, rank_rows
from svc_core.search.row_names import RowNames
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_core.text.words import terms

OWN, FOREIGN = "wsp_" + "a" * 24, "wsp_" + "b" * 24


@frozen
class Line:
    """A row of a test: `codes` are those of a register."""

    id: str
    title: str
    text: str = ""
    aliases: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    written: int = 0
    prominence: int = 1


PEOPLE_WORDS: FieldIndex[Line] = FieldIndex(
    lambda row: {"name": [row.title], "aliases": row.aliases},
    is_names=True,
    bare=normal_name,
    names=lambda row: RowNames(row.title, row.aliases, row.codes, row.prominence),
)
PAPER_WORDS: FieldIndex[Line] = FieldIndex(
    lambda row: {"title": [row.title], "text": [row.text]},
    names=lambda row: RowNames(row.title, (), row.codes, prominence=0),
    levels=(0,),
)
NEWS_WORDS: FieldIndex[Line] = FieldIndex(
    lambda row: {"title": [row.title], "text": [row.text]},
    terms=lambda row: {"title": terms(row.title), "text": terms(row.text)},
)
SHARED: Any = {"model": Line, "prefix": "", "order": lambda row: row.written, "scope": "global"}
PEOPLE: Collection[Line] = Collection(name="people", search=PEOPLE_WORDS, **SHARED)
PAPERS: Collection[Line] = Collection(
    name="papers", search=PAPER_WORDS, **{**SHARED, "scope": "tenant"}
)
ITEMS: Collection[Line] = Collection(name="items", search=NEWS_WORDS, **SHARED)
COLLECTIONS = (PEOPLE, PAPERS, ITEMS)
KINDS = tuple(
    SearchKind(collection.name, Listing(collection, words), "getLine", "title", "text")
    for collection, words in (
        (PEOPLE, PEOPLE_WORDS),
        (PAPERS, PAPER_WORDS),
        (ITEMS, NEWS_WORDS),
    )
)


def context(tx: Any, tenant: str) -> Context:
    """The context of a unit of work of a tenant."""
    clock = FrozenClock()
    members = (datetime(2026, 1, 1, tzinfo=UTC), CountingIds(clock), Actor(tenant), "")
    return Context(*members, keyring=Keyring({1: b"k" * 32}, 1), tx=tx)


Run = Callable[[Any], Any]


def fill(store: Any, run: Run, rows: Mapping[Collection[Line], Sequence[Line]]) -> None:
    """Write these rows: those of tenants for both of them, of the other with a title of its own."""

    async def write(tx: Any, tenant: str, is_tenants: bool) -> None:
        for collection, lines in rows.items():
            for line in lines if (collection.scope == "tenant") == is_tenants else ():
                await context(tx, tenant).save(collection, line.id, line)

    run(store.write(SYSTEM, lambda tx: write(tx, SYSTEM, False)))
    run(store.write(OWN, lambda tx: write(tx, OWN, True)))


def ask(
    store: Any,
    run: Run,
    question: str,
    *,
    limit: int = 50,
    tenant: str = OWN,
    near: Near = MappingProxyType({}),
) -> list[RankedRow]:
    """The rows that answer a question."""

    async def unit(tx: Any) -> list[RankedRow]:
        ctx = context(tx, tenant)
        return await rank_rows(ctx, KINDS, question, limit, rows={}, near=near)

    rows: list[RankedRow] = run(store.read(tenant, unit))
    return rows
