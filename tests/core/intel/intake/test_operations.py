"""Sources as their operator adds them: bounded, all or none, in short units of work."""

import gzip
import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from attrs import define, evolve, field

from svc_core import catalog
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.intel.folding.contributions import CONTRIBUTIONS, Contribution
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.intake import catalogue, operations
from svc_core.intel.intake import record_intake as documents
from svc_core.intel.intake.operations import (
    AddSources,
    PullOutcome,
    PullSources,
    RemoveSources,
    SourceReader,
)
from svc_core.intel.intake.registry import SourceWish, register_source, remove_sources
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.host import Host, silent
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import WorkContext
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_http.stores import MemoryStorage


@define
class Reader:
    """A host that reads nothing; `units` is how many sources each unit of work added or removed."""

    store: MemoryStorage = field(factory=lambda: MemoryStorage([SOURCES]))
    clock: FrozenClock = field(factory=FrozenClock)
    units: list[int] = field(factory=list)
    tell = staticmethod(silent)

    def context(self, tx: Any = None) -> Any:
        host = Host(providers={SourceReader: self})
        ids, ring = CountingIds(self.clock), Keyring({1: b"k" * 32}, 1)
        actor = Actor(SYSTEM, roles=frozenset({"operator"}))
        facts = (self.clock.now(), ids, actor, "", ring)
        if tx is None:
            return WorkContext(*facts, host=host, work=self)  # type: ignore[arg-type]
        return Context(*facts, host=host, tx=tx)

    async def read(self, tenant: str, usecase: Any) -> Any:
        return await self.store.read(tenant, lambda tx: usecase(self.context(tx)))

    async def write(self, tenant: str, usecase: Any) -> Any:
        before = await self.count()
        answer = await self.store.write(tenant, lambda tx: usecase(self.context(tx)))
        self.units.append(abs(await self.count() - before))
        return answer

    async def count(self) -> int:
        page = await self.store.read(SYSTEM, lambda tx: tx.documents.scan(SOURCES, limit=9_999))
        return len(page.rows)

    def locations(self, location: str) -> Sequence[str]:
        return [f"{location}/{number}" for number in range(int(location.rpartition("*")[2] or 1))]

    async def pull(
        self, sources: Sequence[Source], tell: Any, *, force: bool = False
    ) -> Sequence[PullOutcome]:
        return [PullOutcome("unchanged", source) for source in sources]

    def run(self, usecase: Any, request: Any) -> Any:
        return drive.run(usecase(self.context(), request))


def test_many_locations_are_written_in_short_units_of_work() -> None:
    reader = Reader()
    page = reader.run(operations.add_sources, AddSources(("https://a.example/*1201",), pull=False))

    assert len(page.rows) == sum(reader.units) == 1201
    assert max(reader.units) <= operations.BATCH_SOURCES


class InVain(Reader):
    """A host that can read none of its sources."""

    async def pull(
        self, sources: Sequence[Source], tell: Any, *, force: bool = False
    ) -> Sequence[PullOutcome]:
        async def fail(ctx: Context) -> None:
            for source in sources:
                health = evolve(source.health, status="error")
                await ctx.save(SOURCES, source.id, evolve(source, health=health))

        await self.store.write(SYSTEM, lambda tx: fail(self.context(tx)))
        return [PullOutcome("failed", source) for source in sources]


def test_many_locations_that_cannot_be_read_are_forgotten_in_short_units_of_work() -> None:
    reader = InVain()
    page = reader.run(operations.add_sources, AddSources(("https://a.example/*301",)))

    assert page.failed
    assert all(b'"kept":false' in row for row in page.rows)
    assert drive.run(reader.count()) == 0
    assert max(reader.units) <= operations.BATCH_SOURCES


def test_more_sources_than_are_read_are_never_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "SOURCES_MAX", 3)
    reader = Reader()
    reader.run(operations.add_sources, AddSources(("/a*2",), pull=False))
    for location, fits in (("/b*2", False), ("/a*2", True), ("/c*1", True)):
        before = list(reader.units)
        if fits:
            reader.run(operations.add_sources, AddSources((location,), pull=False))
            continue
        with pytest.raises(Problem, match="RESOURCE_CONFLICT") as refusal:
            reader.run(operations.add_sources, AddSources((location,), pull=False))
        assert "at most 3 sources" in refusal.value.detail
        assert reader.units == before


def test_one_wish_that_cannot_be_met_adds_nothing() -> None:
    reader = Reader()
    request = AddSources(("/a*600",), topics=("no such topic",), pull=False)
    with pytest.raises(Problem, match="VALIDATION_FAILED"):
        reader.run(operations.add_sources, request)
    assert reader.units == []


def test_sources_that_were_added_can_be_pulled_by_their_ids() -> None:
    reader = Reader()
    reader.run(operations.add_sources, evolve(AddSources(("/a*700",)), pull=True))
    page = drive.run(reader.read(SYSTEM, lambda ctx: ctx.tx.documents.scan(SOURCES, limit=700)))
    ids = tuple(row.id for row in page.rows)

    assert len(ids) == 700
    assert not reader.run(operations.pull_sources, PullSources(ids)).failed


# -- taking back -------------------------------------------------------------------------------


async def note_numbers(source: Source, numbers: range, ctx: Context) -> None:
    for number in numbers:
        row = f"ent_{number:024x}"
        item = Contribution(
            id=f"{source.id}:mention:{number}",
            row=row,
            source=source.id,
            resource="mention",
            format="gdelt-mentions",
            key=str(number),
            digest=number,
            said={"provider": "gdelt"},
            ref={},
            read_at=ctx.now,
        )
        await ctx.save(CONTRIBUTIONS, item.id, item)


@define
class Shelf(Reader):
    """A host whose sources have brought something; that at `again` is added anew in between."""

    store: MemoryStorage = field(factory=lambda: MemoryStorage(catalog.COLLECTIONS))
    again: str | None = None

    async def write(self, tenant: str, usecase: Any) -> Any:
        done = await Reader.write(self, tenant, usecase)
        if self.again is not None:
            wish = SourceWish(self.again)
            await self.store.write(SYSTEM, lambda tx: register_source(self.context(tx), wish))
        return done

    def source(self, location: str, numbers: range) -> Source:
        source = drive.run(
            self.write(SYSTEM, lambda ctx: register_source(ctx, SourceWish(location)))
        )
        drive.run(self.write(SYSTEM, partial(note_numbers, source, numbers)))
        return source  # type: ignore[no-any-return]

    def contribution_count(self, source: Source) -> int:
        return drive.run(self.read(SYSTEM, partial(documents.contribution_count, source=source.id)))  # type: ignore[no-any-return]


def test_all_that_a_source_brought_is_withdrawn_in_short_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents, "ROWS_SCANNED", 50)
    shelf = Shelf()
    mine, other = shelf.source("/a", range(120)), shelf.source("/b", range(100, 130))
    page = shelf.run(operations.remove_and_withdraw, RemoveSources((mine.id,), withdraw=True))
    assert b'"deleted":120' in page.rows[0]
    assert (shelf.contribution_count(mine), shelf.contribution_count(other)) == (0, 30)


def test_what_was_cut_off_while_it_withdrew_goes_on() -> None:
    shelf = Shelf()
    mine = shelf.source("/a", range(3))
    drive.run(shelf.write(SYSTEM, lambda ctx: remove_sources(ctx, [mine.id])))
    with pytest.raises(Problem, match="NOT_FOUND"):
        shelf.run(operations.remove_and_withdraw, RemoveSources((mine.id,)))
    page = shelf.run(operations.remove_and_withdraw, RemoveSources((mine.id,), withdraw=True))
    assert (b'"deleted":3' in page.rows[0], shelf.contribution_count(mine)) == (True, 0)


def test_what_is_added_anew_while_it_is_withdrawn_stays() -> None:
    shelf = Shelf()
    mine = shelf.source("/a", range(3))
    shelf.again = "/a"
    page = shelf.run(operations.remove_and_withdraw, RemoveSources((mine.id,), withdraw=True))
    assert (b'"deleted":0' in page.rows[0], shelf.contribution_count(mine)) == (True, 3)


# -- items of before contributions were kept ---------------------------------------------------


# -- what is offered ---------------------------------------------------------------------------


def test_a_preset_that_cannot_be_read_is_kept_and_told() -> None:
    reader = Reader()
    reader.run(catalogue.list_presets, catalogue.ListPresets(add=("cisa-kev",), pull=False))
    assert drive.run(reader.count()) == 1
    page = reader.run(catalogue.list_presets, catalogue.ListPresets(("cisa-kev",), add=("epss",)))
    assert [b'"sourceId":null' in row for row in page.rows] == [False, False]
    with pytest.raises(Problem, match="VALIDATION_FAILED"):
        reader.run(catalogue.list_presets, catalogue.ListPresets(("nobody",)))


@define
class Lists(Reader):
    """A host with one list of feeds."""

    body: bytes = b""
    pulled_ids: list[str] = field(factory=list)

    def context(self, tx: Any = None) -> Any:
        reader = _Place(self.body, self.pulled_ids)
        return evolve(super().context(tx), host=Host(providers={SourceReader: reader}))


@define
class _Place:
    body: bytes
    pulled_ids: list[str]

    def locations(self, location: str) -> Sequence[str]:
        if location.startswith("ftp:"):
            raise ValueError("Neither a web address nor a file.")
        return [location]

    async def read(self, _: str) -> bytes:
        return self.body

    async def pull(self, sources: Sequence[Source], _: Any, *, force: bool = False) -> None:
        self.pulled_ids.extend(source.location for source in sources)


def opml_of(*urls: str) -> bytes:
    feeds = "".join(f'<outline xmlUrl="{url}" category="ai"/>' for url in urls)
    return f"<opml><body>{feeds}</body></opml>".encode()


URLS = ("https://a.example/feed", "ftp://b.example/feed", "https://c.example/feed")


def test_a_list_of_feeds_is_taken_but_for_what_nobody_can_read() -> None:
    reader = Lists(body=gzip.compress(opml_of(*URLS)))
    for pull, status in ((False, "added"), (True, "known")):
        request = catalogue.ImportSources("https://list.example/feeds.opml", pull=pull)
        rows = [json.loads(row) for row in reader.run(catalogue.import_sources, request).rows]
        outcomes = [(row["status"], row["topics"]) for row in rows]
        assert outcomes == [(status, ["ai"]), (status, ["ai"]), ("refused", ["ai"])]
    assert reader.pulled_ids == [URLS[0], URLS[2]]


FILES_AND_NOT = ("/etc/passwd", "file:///etc/passwd", "FILE:/etc/passwd", "feed.xml", URLS[0])


@pytest.mark.parametrize(
    ("location", "local", "count"),
    [
        ("https://list.example/feeds.opml", False, 1),
        ("https://list.example/feeds.opml", True, 1),
        ("HTTP://list.example/feeds.opml", True, 1),
        ("/x.opml", False, 1),
        ("file:///x.opml", False, 1),
        ("/x.opml", True, 5),
        ("file:///x.opml", True, 5),
    ],
)
def test_a_list_names_files_where_it_is_one_and_the_operator_says_so(
    location: str, local: bool, count: int
) -> None:
    reader = Lists(body=opml_of(*FILES_AND_NOT))
    request = catalogue.ImportSources(location, local=local)
    rows = [json.loads(row) for row in reader.run(catalogue.import_sources, request).rows]
    assert [row["status"] for row in rows].count("added") == count
    reasons = {row["reason"] for row in rows if row["status"] == "refused"}
    assert all("--local" in reason for reason in reasons)
    assert len(reasons) == (count == 1)


@pytest.mark.parametrize(
    "body",
    [b"", b"no list", opml_of(), opml_of("ftp://b.example/"), b" " * (catalogue.OPML_BYTES + 1)],
)
def test_what_lists_nothing_that_can_be_read_adds_nothing(body: bytes) -> None:
    reader = Lists(body=body)
    with pytest.raises(Problem, match="VALIDATION_FAILED"):
        reader.run(catalogue.import_sources, catalogue.ImportSources("/x.opml"))
    assert reader.units == []
