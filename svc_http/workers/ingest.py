"""Takes documents in: fetch, read, judge, write.

Rule 1: a document is written in parts that hold the writer for about `PART_SECONDS` each, so that
        others write in between; the health of its source is `partial` until the last of them.
Rule 2: reading and judging run in a thread, before anything is written: neither the event loop
        nor the writer waits for a parser.
Rule 3: one document is read and written at a time, however many sources are due; of the others
        only the bytes are held, and of at most seven.
"""

from asyncio import CancelledError
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from hashlib import sha256

import anyio
import anyio.to_thread
from attrs import field, frozen

from svc_core import corpus
from svc_core.news import intake, rules
from svc_core.news.grouping import group_new
from svc_core.news.sources import Outcome
from svc_core.operation import Context
from svc_core.ports import SYSTEM
from svc_core.resources.members import micros
from svc_core.resources.news import SOURCES, Source
from svc_core.sources import DocumentRefused, MissingExtra, ParsedFeed, parse_feed
from svc_http import system
from svc_http.fetch import Fetched, Fetcher, FetchRefused, NotModified
from svc_http.runtime.service import Service

DOCUMENTS_AT_ONCE = 1
"""Documents being read or written. Reading is bound by the interpreter, so two at once are no
faster, and a parser that runs beside the writer makes every other write wait five times as long."""

SOURCES_AT_ONCE = 8
"""Sources being pulled: as many as the fetcher asks at once."""

ROUND_SECONDS = 2.0
"""How often due sources are looked for."""

ROUND_SOURCES_MAX = 64
"""Sources claimed in one round, so that the claim does not run out before they are read."""

PART_SECONDS = 0.1
PART_ROWS, PART_ROWS_MIN, PART_ROWS_MAX = 32, 8, 256
"""Rows of the first part of a document, and of any: as many as the parts before it took time for,
the wait for the writer counted in, so that they grow smaller while others write."""

CLAIM = timedelta(minutes=5)
"""How long a source belongs to the worker that claimed it: longer than a round can take, with 64
sources, 8 at once and at most 23 seconds each, even if many are slow."""


@frozen
class _Reading:
    """A document that was read and judged, with the source as it describes itself."""

    parsed: ParsedFeed = field(repr=False)
    rows: tuple[rules.Incoming, ...] = field(repr=False)


async def add_source(
    service: Service,
    location: str,
    *,
    name: str | None = None,
    topics: Sequence[str] | None = None,
    cadence_seconds: int | None = None,
) -> Source:
    """The source at `location` (an address or an absolute path), new or known.

    What is None stays as it is, or is taken from the document when it is first read.

    Raises:
        Problem: VALIDATION_FAILED for an unknown topic or a cadence out of bounds.
    """
    wanted = None if topics is None else tuple(topics)
    wish = intake.SourceWish(location, name, wanted, cadence_seconds)
    return await service.system(lambda ctx: intake.add_source(ctx, wish))


async def pull(
    service: Service, source: Source, fetcher: Fetcher, *, gate: anyio.Semaphore | None = None
) -> Outcome:
    """Read the source's document now, due or not, and write what it brings.

    `gate` bounds how many documents are held at once. Whatever is wrong with the document or on
    the way to it is written to the source's health and is no exception.
    """
    try:
        answer = await fetcher.fetch(
            source.location, etag=source.etag, last_modified=source.last_modified
        )
        if isinstance(answer, NotModified):
            return await _unchanged(service, source)
        async with gate or anyio.Semaphore(1):
            return await _take(service, source, answer)
    except FetchRefused as refused:
        return await _failed(service, source, refused.code, refused.message, refused.status)
    except DocumentRefused as refused:
        return await _failed(service, source, refused.code, refused.reason)
    except MissingExtra as missing:
        return await _failed(service, source, "missingExtra", str(missing))


async def _take(service: Service, source: Source, answer: Fetched) -> Outcome:
    digest = sha256(answer.body).hexdigest()
    if digest == source.digest:
        return await _unchanged(service, source)
    reading = await anyio.to_thread.run_sync(_read, service, source, answer)
    new = await service.read(SYSTEM, lambda ctx: intake.unseen(ctx, reading.rows))
    batch = await anyio.to_thread.run_sync(intake.prepared, new)
    copy = intake.Copy(answer.etag, answer.last_modified, digest)
    return await _write(service, source.id, reading.parsed, batch, copy)


def _read(service: Service, source: Source, answer: Fetched) -> _Reading:
    zone, country_zone = rules.zones(source)
    parsed = parse_feed(
        answer.body,
        base_url=answer.final_url,
        content_type=answer.content_type,
        zone=zone,
        country_zone=country_zone,
    )
    described = rules.described(source, parsed)
    return _Reading(parsed, rules.incoming(described, parsed, service.now()))


async def _write(
    service: Service, id_: str, parsed: ParsedFeed, batch: intake.Batch, copy: intake.Copy
) -> Outcome:
    before, rows = intake.Taken(), PART_ROWS
    while len(batch.rows) > rows:
        part, batch = batch.cut(rows)
        began = system.monotonic()
        taken = await service.system(partial(intake.take_part, id_=id_, batch=part))
        if taken is None:
            return Outcome("removed", None)
        before += taken
        fitting = rows * PART_SECONDS / max(system.monotonic() - began, 1e-6)
        rows = max(PART_ROWS_MIN, min(PART_ROWS_MAX, round(fitting)))

    async def unit(ctx: Context) -> tuple[intake.Taken | None, Source | None]:
        taken = await intake.take_document(ctx, id_, parsed, batch, copy, before=before)
        return taken, await ctx.find(SOURCES, id_)

    taken, after = await service.system(unit)
    await tidy(service)
    if taken is None:
        return Outcome("removed", None)
    return Outcome("taken", after, taken.created, taken.updated, taken.unchanged)


async def tidy(service: Service) -> bool:
    """Count some items of before items were counted, and keep the table of counts short.

    Whether some items were counted: there may be more.
    """
    uncounted = await service.read(SYSTEM, corpus.to_count)
    if uncounted:
        await service.system(partial(corpus.counted, seen=uncounted))
    while merge := await service.read(SYSTEM, corpus.to_merge):
        lines = await service.aside(merge.made)
        await service.system(partial(corpus.merged, merge=merge, lines=lines))
    return bool(uncounted)


async def _unchanged(service: Service, source: Source) -> Outcome:
    async def note(ctx: Context) -> Source | None:
        return await intake.note_run(ctx, source.id, lambda now: rules.unchanged(now, ctx.now))

    after = await service.system(note)
    return Outcome("removed" if after is None else "unchanged", after)


async def _failed(
    service: Service, source: Source, code: str, message: str, status: int | None = None
) -> Outcome:
    async def note(ctx: Context) -> Source | None:
        return await intake.note_run(
            ctx, source.id, lambda now: rules.failed(now, ctx.now, code, message, status)
        )

    after = await service.system(note)
    return Outcome("removed" if after is None else "failed", after)


async def pull_all(
    service: Service,
    sources: Sequence[Source],
    fetcher: Fetcher,
    on_progress: Callable[[Outcome], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    """Pull every source, several at once; `on_progress` hears of each when it is done.

    The outcomes come in the order of the sources.
    """
    outcomes: dict[int, Outcome] = {}
    gate = anyio.Semaphore(DOCUMENTS_AT_ONCE)
    waiting = iter(enumerate(sources))

    async def work() -> None:
        for place, source in waiting:
            outcomes[place] = await pull(service, source, fetcher, gate=gate)
            on_progress(outcomes[place])

    async with anyio.create_task_group() as tasks:
        for _ in range(min(SOURCES_AT_ONCE, len(sources))):
            tasks.start_soon(work)
    while await tidy(service):
        pass
    await group_new(service)
    return tuple(outcomes[place] for place in range(len(sources)))


async def ingest_loop(
    service: Service, fetcher: Fetcher, *, round_seconds: float = ROUND_SECONDS
) -> None:
    """Pull what is due, for ever; it ends by being cancelled."""
    while True:
        is_busy = await tidy(service)
        if not await pull_due(service, fetcher) and not is_busy:
            await anyio.sleep(round_seconds)


async def pull_due(service: Service, fetcher: Fetcher) -> tuple[Outcome, ...]:
    """Claim the sources that are due now, and pull them; cancelled, give back what is not read."""
    due = await service.storage.across(SOURCES, end=micros(service.now()), limit=ROUND_SOURCES_MAX)
    if not due:
        await group_new(service)  # what a pass that was cut off has left
        return ()
    until = service.now() + CLAIM
    seen = [row.document for row in due]
    try:
        claimed = await service.system(partial(intake.claim, seen=seen, until=until))
        return await pull_all(service, claimed, fetcher)
    except CancelledError:
        ids = [row.id for row in seen]
        await service.system(partial(intake.release, ids=ids, until=until))
        raise
