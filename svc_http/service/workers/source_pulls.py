"""Reads the documents of sources into the store: fetch, parse, judge, write.

Rule 1: a document is written in parts that hold the writer for about `UNIT_SECONDS` each, so that
        others write in between; the health of its source is `partial` until the last part.
Rule 2: parsing and judging run in a thread, before anything is written: neither the event loop
        nor the writer waits for a parser.
Rule 3: one document is parsed and written at a time, however many sources are due. Of at most
        seven others the bytes are in memory; local files are read when their turn comes.
"""

from asyncio import FIRST_COMPLETED, CancelledError, Task, TaskGroup, wait
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
import attrs

from svc_core.formats.model import FAULTS, DocumentRefused, MissingExtra, Origin, Record
from svc_core.formats.reading.compression import unpack_document
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import BYTES_MAX, FORMATS, Document, read_document, recognise_format
from svc_core.intel.folding.due_rows import BatchSize
from svc_core.intel.folding.model import SOURCES, LastRun, RowCounts, Source
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.incidents.renewal import renew_rows
from svc_core.intel.incidents.story_grouping import group_new
from svc_core.intel.intake import document_checks as admission
from svc_core.intel.intake import health, registry
from svc_core.intel.intake import record_intake as documents
from svc_core.intel.intake.operations import PullOutcome
from svc_core.intel.news.news_corpus import ITEMS, count_texts, uncounted_texts
from svc_core.intel.news.recaps import recap_new
from svc_core.intel.signals.detection import detect_new
from svc_core.operation.context import Context
from svc_core.operation.host import Progress, ProgressListener, silent
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Overloaded, StorageUnavailable, StoredRow
from svc_core.operation.turns import Turns
from svc_core.search import corpus
from svc_http import system
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.model import FetchedDocument, FetchRefusal, NotModified
from svc_http.service.service_units import Service

T = TypeVar("T")

DOCUMENTS_AT_ONCE = 1
"""Documents parsed or written at once. Parsing is bound by the interpreter, so two are no faster,
and a parser that runs beside the writer makes every other write wait five times as long."""

SOURCES_AT_ONCE = 8
"""Sources pulled at once: as many as the fetcher asks at once."""

ROUND_SECONDS = 2.0
"""How often due sources are searched."""

LOOK_MAX = 1_000
"""Due sources that are looked at for one round."""

ROUND_SOURCES_MAX = 64
"""Sources claimed in one round, few enough to be read before the claim expires."""

HOST_SOURCES_MAX = 12
"""Sources of one host in a round: one after another, at most 23 seconds each."""

ROUNDS_MAX = 8
"""Rounds that are under way at once: those beyond the first wait for slow hosts."""

PART_ROWS, PART_ROWS_MIN, PART_ROWS_MAX = 32, 8, 256
"""Rows of the first part of a document, and of any."""

BLOCK_ROWS = 1_000
"""Records that are looked up, and judged, at once: some milliseconds for the known ones."""

CLAIM = timedelta(minutes=5)
"""How long a source belongs to the worker that claimed it: longer than a round can take, with 64
sources, 8 at once and at most 23 seconds each, even if many are slow."""


async def add_source(service: Service, location: str, **members: Any) -> Source:
    """Add the source at `location` (a URL or an absolute path), or return the existing one.

    `members` are the other members of a `SourceWish`.

    Raises:
        Problem: VALIDATION_FAILED, as `registry.add_source`.
    """
    wish = registry.SourceWish(location, **members)
    return await service.system(lambda ctx: registry.register_source(ctx, wish))


async def pull(
    service: Service,
    source: Source,
    fetcher: Fetcher,
    *,
    gate: anyio.Semaphore | None = None,
    force: bool = False,
    tell: ProgressListener = silent,
) -> PullOutcome:
    """Fetch the document of a source now, due or not, and write its records.

    `gate` bounds how many documents are in memory at once. With `force` an unchanged document is
    read again, and so is a snapshot that shrank. `tell` reports its bytes and rows. Any fault of
    the document or of the fetch is written to the health of the source and raises nothing.
    """
    is_anew = force or not admission.is_read_alike(source)
    fetch = partial(
        fetcher.fetch,
        source.location,
        etag=None if is_anew else source.etag,
        last_modified=None if is_anew else source.last_modified,
        tell=tell,
    )
    gate = gate or anyio.Semaphore(1)
    try:
        if urlsplit(source.location).scheme not in {"http", "https"}:
            async with gate:  # a file is read when its turn comes: nobody waits for it
                return await _take(service, source, await fetch(), tell, force=force)
        answer = await fetch()
        async with gate:
            return await _take(service, source, answer, tell, force=force)
    except FetchRefusal as refusal:
        return await _note_failure(service, source, refusal.code, refusal.message, refusal.status)
    except DocumentRefused as refusal:
        return await _note_failure(service, source, refusal.code, refusal.reason)
    except MissingExtra as error:
        return await _note_failure(service, source, "missingExtra", str(error))
    except FAULTS as fault:
        reason = f"The document says what no row can hold ({type(fault).__name__})."
        return await _note_failure(service, source, "malformed", reason)


async def _take(
    service: Service,
    source: Source,
    answer: FetchedDocument | NotModified,
    tell: ProgressListener,
    *,
    force: bool,
) -> PullOutcome:
    if isinstance(answer, NotModified):
        return await _note_unchanged(service, source, HTTPStatus.NOT_MODIFIED)
    digest = admission.document_digest(answer.body)
    if not force and admission.is_known(source, digest):
        return await _note_unchanged(service, source, answer.status)
    document = await anyio.to_thread.run_sync(_read, source, answer)
    if document.format.kind == "snapshot" and not force:
        if admission.is_outdated(source, document):
            await _note_late(service, source, document)
            return await _note_unchanged(service, source, answer.status)
        memory = await service.read(SYSTEM, partial(documents.contribution_count, source=source.id))
        admission.check_size(source, document, memory)
    copy = registry.DocumentValidators(answer.etag, answer.last_modified, digest)
    return await _Writer(service, source, document, copy, status=answer.status, tell=tell).run()


def _read(source: Source, answer: FetchedDocument) -> Document:
    format_ = FORMATS.get(source.format or "")
    data = unpack_document(answer.body, BYTES_MAX if format_ is None else format_.bytes_max)
    body = Body(data, answer.content_type)
    format_ = format_ or recognise_format(body)
    zone, country_zone = health.zones(source)
    hints = Origin(
        options=source.options,
        base_url=answer.final_url,
        content_type=answer.content_type,
        name=answer.final_url.rpartition("/")[2],
        zone=zone,
        country_zone=country_zone,
    )
    return read_document(body, format_, hints)


class _Writer:
    """Writes the records of one document in parts."""

    def __init__(
        self,
        service: Service,
        source: Source,
        document: Document,
        copy: registry.DocumentValidators,
        *,
        status: int | None,
        tell: ProgressListener,
    ) -> None:
        self._service = service
        self._first_source = source
        self._source = health.with_description(source, document)
        self._document = document
        self._copy = copy
        self._status = status
        self._tell = tell
        self._size = BatchSize(PART_ROWS, PART_ROWS_MIN, PART_ROWS_MAX)
        self._stamp = document.metadata.stamp
        self._ids: set[str] = set()
        self._counts = RowCounts()

    async def run(self) -> PullOutcome:
        """Write the document; return the outcome with its counts."""
        records = self._document.records
        for start in range(0, len(records), BLOCK_ROWS):
            block = records[start : start + BLOCK_ROWS]
            if not await self._block(block):
                return PullOutcome("removed", None)
            count = start + len(block)
            self._tell(Progress(count, len(records), self._source.name, "rows"))
        if self._document.format.kind == "snapshot" and not await self._withdraw():
            return PullOutcome("removed", None)
        after = await self._service.system(self._finish)
        await tidy(self._service)
        if after is None:
            return PullOutcome("removed", None)
        return PullOutcome("taken", after, LastRun.of(self._counts, self._document.rejection_count))

    async def _block(self, records: Sequence[Record]) -> bool:
        readings = await anyio.to_thread.run_sync(
            documents.record_readings, self._source, self._document, records, self._ids
        )
        fresh = await self._service.read(SYSTEM, partial(documents.new_readings, readings=readings))
        self._counts += RowCounts(unchanged=len(readings) - len(fresh))
        now = self._service.now()
        items = await anyio.to_thread.run_sync(
            lambda: [documents.judge_reading(self._source, reading, now) for reading in fresh]
        )
        return await self._write(partial(documents.write_readings, stamp=self._stamp), items)

    async def _withdraw(self) -> bool:
        after = None
        while True:
            rows, after = await self._service.read(
                SYSTEM,
                partial(
                    documents.absent_contributions,
                    source=self._source.id,
                    present_ids=self._ids,
                    after=after,
                ),
            )
            if not await self._write(partial(documents.lapse, stamp=self._stamp), rows):
                return False
            if after is None:
                return True

    async def _write(
        self, write: Callable[[Context, Sequence[T]], Awaitable[RowCounts]], rows: Sequence[T]
    ) -> bool:
        """Write all rows in parts; return whether the source still exists."""
        while rows:
            part, rows = rows[: self._size.rows], rows[self._size.rows :]
            start_time = system.monotonic()
            counts = await self._service.system(partial(self._part, write, part))
            if counts is None:
                return False
            self._counts += counts
            self._size.adapt(len(part), system.monotonic() - start_time)
        return True

    async def _part(
        self,
        write: Callable[[Context, Sequence[T]], Awaitable[RowCounts]],
        part: Sequence[T],
        ctx: Context,
    ) -> RowCounts | None:
        if await registry.note_run(ctx, self._source.id, health.mark_partial) is None:
            return None
        return await write(ctx, part)

    async def _finish(self, ctx: Context) -> Source | None:
        row = await ctx.find(SOURCES, self._source.id)
        if row is None:
            return None
        source = health.with_description(row, self._document)
        memory = admission.with_delta(source, self._document, self._copy.digest)
        # What was asked of the source meanwhile asks to read the document anew.
        copy = attrs.asdict(self._copy) if registry.asks_same(self._first_source, row) else {}
        after = health.after_success(
            attrs.evolve(memory, **copy),
            ctx.now,
            LastRun.of(self._counts, self._document.rejection_count),
            self._document.rejections,
            self._status,
        )
        return await registry.save_source(ctx, after)


async def tidy(service: Service) -> bool:
    """Count the words of some uncounted news items, and merge the segments of word counts.

    Returns whether items were counted; then there may be more.
    """
    items = await service.read(SYSTEM, uncounted_texts)
    if items:
        await service.system(partial(count_texts, documents=items))
    while merge := await service.read(SYSTEM, partial(corpus.next_merge, corpus=ITEMS)):
        lines = await service.aside(merge.sum_lines)
        await service.system(partial(corpus.apply_merge, merge=merge, lines=lines))
    return bool(items)


async def _note_late(service: Service, source: Source, document: Document) -> None:
    """Write what changed from a snapshot that is older than the known one, in parts."""
    stamp = document.metadata.stamp
    note = partial(documents.note_late, source_id=source.id, stamp=stamp)
    ids: set[str] = set()
    for start in range(0, len(document.records), PART_ROWS_MAX):
        block = document.records[start : start + PART_ROWS_MAX]
        readings = await anyio.to_thread.run_sync(
            documents.record_readings, source, document, block, ids
        )
        await service.system(partial(note, late=readings))
    after = None
    while True:
        scan = partial(documents.absent_contributions, source=source.id, present_ids=ids)
        rows, after = await service.read(SYSTEM, partial(scan, after=after))
        await service.system(partial(note, late=(), absent=rows))
        if after is None:
            return


async def _note_unchanged(service: Service, source: Source, status: int | None) -> PullOutcome:
    async def note(ctx: Context) -> Source | None:
        return await registry.note_run(
            ctx, source.id, lambda row: health.after_unchanged(row, ctx.now, status)
        )

    after = await service.system(note)
    return PullOutcome("removed" if after is None else "unchanged", after)


async def _note_failure(
    service: Service, source: Source, code: str, message: str, status: int | None = None
) -> PullOutcome:
    async def note(ctx: Context) -> Source | None:
        return await registry.note_run(
            ctx, source.id, lambda now: health.after_failure(now, ctx.now, code, message, status)
        )

    after = await service.system(note)
    return PullOutcome("removed" if after is None else "failed", after)


async def pull_all(
    service: Service,
    sources: Sequence[Source],
    fetcher: Fetcher,
    on_progress: Callable[[PullOutcome], None] = lambda _: None,
    *,
    force: bool = False,
    tell: ProgressListener = silent,
    gate: anyio.Semaphore | None = None,
) -> tuple[PullOutcome, ...]:
    """Pull every source, several at once; `on_progress` gets each outcome when it is known.

    Returns the outcomes in the order of the sources. The sources of one host are pulled one after
    another, so that a slow host delays only its own. `gate` is as in `pull`. `tell` reports bytes
    and rows.
    """
    outcomes: dict[int, PullOutcome] = {}
    gate = gate or anyio.Semaphore(DOCUMENTS_AT_ONCE)
    lanes: dict[str, deque[int]] = {}
    for place, source in enumerate(sources):
        lanes.setdefault(_host(source), deque()).append(place)
    waiting = deque(lanes.values())

    async def work() -> None:
        while waiting:
            lane = waiting.popleft()
            place = lane.popleft()
            outcomes[place] = await pull(
                service, sources[place], fetcher, gate=gate, force=force, tell=tell
            )
            on_progress(outcomes[place])
            if lane:
                waiting.append(lane)

    async with anyio.create_task_group() as tasks:
        for _ in range(min(SOURCES_AT_ONCE, len(sources))):
            tasks.start_soon(work)
    while await tidy(service):
        pass
    read = [
        outcome.source.id
        for outcome in outcomes.values()
        if outcome.source and outcome.status != "failed"
    ]
    await run_passes(service, read)
    return tuple(outcomes[place] for place in range(len(sources)))


def _host(source: Source) -> str:
    """What sources share: their host, or of a file its path."""
    return urlsplit(source.location).netloc or source.location


async def run_passes(service: Service, read: Sequence[str] = ()) -> None:
    """Run the passes over new rows: stories, incidents, signals of the sources just `read`, recaps.

    Raises:
        ExceptionGroup: some passes failed; the others ran.
    """
    failures: list[Exception] = []
    # Recaps come last, as they may wait for a model.
    for work in (renew_rows, group_new, fold_new, partial(detect_new, sources=read), recap_new):
        try:
            await work(service)
        except (StorageUnavailable, Overloaded):
            raise
        except Exception as failure:  # the defect of one pass must not keep the others waiting
            failures.append(failure)
    if failures:
        raise ExceptionGroup("what followed from what was read could not all be done", failures)


class SourceLanes:
    """Pulls due sources in rounds of one process, which may overlap.

    A host is in one round at a time, with few sources, and hosts take turns: one that does not
    answer keeps no other waiting.
    """

    def __init__(self, service: Service, fetcher: Fetcher) -> None:
        self._service = service
        self._fetcher = fetcher
        self._gate = anyio.Semaphore(DOCUMENTS_AT_ONCE)
        self._turns: Turns[tuple[Source, StoredRow[Source]]] = Turns(lambda pair: _host(pair[0]))
        self._busy_hosts: set[str] = set()
        self._after: tuple[int, str, str] | None = None

    async def pull_due(self) -> tuple[PullOutcome, ...]:
        """Claim sources that are due now, and pull them; when cancelled, release the others."""
        pairs = await self._look()
        if not pairs:
            await run_passes(self._service)  # what a pass that was cut off has left
            return ()
        hosts, rows = {_host(source) for source, _ in pairs}, [row for _, row in pairs]
        self._busy_hosts |= hosts
        until = self._service.now() + CLAIM
        claim = partial(registry.claim_sources, candidates=rows, until=until)
        try:
            async with _release(self._service, [row.id for row in rows], until):
                sources = await self._service.system(claim)
                return await pull_all(self._service, sources, self._fetcher, gate=self._gate)
        finally:
            self._busy_hosts -= hosts

    async def _look(self) -> list[tuple[Source, StoredRow[Source]]]:
        """The sources of the next round; where more are due, the next look goes on behind them."""
        end, after = micros(self._service.now()), self._after
        due = await self._service.storage.across(SOURCES, end=end, after=after, limit=LOOK_MAX)
        places = [(row.document.order, row.tenant, row.document.id) for row in due]
        self._after = places[-1] if len(places) == LOOK_MAX else None
        counts = Counter(dict.fromkeys(self._busy_hosts, HOST_SOURCES_MAX))
        pairs = [(SOURCES.decode(row.document.raw), row.document) for row in due]
        chosen: list[tuple[Source, StoredRow[Source]]] = []
        for pair in self._turns.order(pairs):
            host = _host(pair[0])
            if counts[host] < HOST_SOURCES_MAX and len(chosen) < ROUND_SOURCES_MAX:
                counts[host] += 1
                chosen.append(pair)
                self._turns.note(pair)
        return chosen


async def ingest_loop(
    service: Service, fetcher: Fetcher, *, round_seconds: float = ROUND_SECONDS
) -> None:
    """Pull due sources for ever; it ends when it is cancelled.

    A round that takes longer than `round_seconds` does not keep the next one from beginning.
    """
    lanes, rounds = SourceLanes(service, fetcher), set[Task[tuple[PullOutcome, ...]]]()
    async with TaskGroup() as group:
        while True:
            is_busy = await tidy(service)
            rounds.add(group.create_task(lanes.pull_due()))
            seconds = round_seconds if len(rounds) < ROUNDS_MAX else None
            ended, rounds = await wait(rounds, timeout=seconds, return_when=FIRST_COMPLETED)
            if ended and not is_busy and not any(task.result() for task in ended):
                await anyio.sleep(round_seconds)


async def pull_now(
    service: Service,
    sources: Sequence[Source],
    fetcher: Fetcher,
    on_progress: Callable[[PullOutcome], None] = lambda _: None,
    *,
    force: bool = False,
    tell: ProgressListener = silent,
) -> tuple[PullOutcome, ...]:
    """Pull every source as `pull_all` does, due or not; no worker pulls it meanwhile."""
    ids, until = [source.id for source in sources], service.now() + CLAIM
    async with _release(service, ids, until):
        for start in range(0, len(ids), ROUND_SOURCES_MAX):
            batch = ids[start : start + ROUND_SOURCES_MAX]
            await service.system(partial(registry.hold_sources, ids=batch, until=until))
        return await pull_all(service, sources, fetcher, on_progress, force=force, tell=tell)


@asynccontextmanager
async def _release(service: Service, ids: Sequence[str], until: datetime) -> AsyncIterator[None]:
    """Release the claims when the block is cancelled, so that others may pull at once."""
    try:
        yield
    except CancelledError:
        await service.system(partial(registry.release_sources, ids=ids, until=until))
        raise
