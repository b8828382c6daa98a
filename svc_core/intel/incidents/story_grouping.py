"""Groups news items into stories, and gives each new item its `storyId`.

Rule 1: what is written waits in `UNGROUPED`, in the same unit of work, until it was looked at. A
        pass that is cut off leaves it there.
Rule 2: a window of up to `WINDOW_ITEMS_MAX` items is grouped anew as a whole, so that neither the
        order in which documents came nor the day decides who is together: a window is of the dates
        that items have, and those without one make their own. In a larger one the new items are
        grouped with their neighbours, found through the text index, and the stories of these.
Rule 3: a story has a name from its second item on, derived from its earliest.
Rule 4: a pass writes in short units. Each checks that no other pass wrote since this one read, so
        of two at once one begins again.
"""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime, timedelta
from functools import partial

import attrs
from attrs import field, frozen

from svc_core.base import ids
from svc_core.intel.incidents import queue
from svc_core.intel.news.model import (
    NEWS,
    NEWS_TEXTS,
    STORY_PASSES,
    UNDATED,
    UNGROUPED_ITEMS,
    NewsItem,
    NewsText,
    StoryPass,
    UngroupedItem,
)
from svc_core.intel.news.news_corpus import ITEMS, item_evidence
from svc_core.intel.signals.detection_queue import mark_items
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Slice, StoredRow
from svc_core.operation.units import Units
from svc_core.search import corpus
from svc_core.text.evidence import EvidenceTexts, Reading, reading_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.grouping import SPAN, group_readings
from svc_core.text.templates import template_made

WINDOW_ITEMS_MAX = 1_000
"""The most items of a window that is grouped as a whole: about 0.3 s beside other work."""
BULK, BULK_SHARE = 10, 5
"""A window up to `BULK` times larger is still grouped as a whole if it has at most `BULK_SHARE`
items for each new one: an item in a window costs 0.8 ms, a search for neighbours 4 ms."""
NEW_AT_ONCE = 100
"""The most new items of one pass over a larger window: each takes a search of some 5 ms."""
NEAR_TERMS, NEAR_ITEMS = 8, 12
"""How many of its rarest terms an item's neighbours are searched by, and how many neighbours are
taken: twice as many as an item borrows terms from."""
MEMBERS_MAX = 1_000
"""The most items of known stories that are read in addition, the newest."""
ROWS_AT_ONCE = 100
"""Rows written in one unit: about 50 ms."""
TRIES_MAX = 3
"""How often a pass begins again because another pass wrote; then the rest waits for the next."""
PASSES_MAX = 50
"""Passes of one call, so that a stream of writes does not keep a process from reading sources:
5,000 new items of a large window, some 50 s beside other work."""

_NEWS = "news"
_SPAN = SPAN // timedelta(microseconds=1)


Pair = tuple[StoredRow[NewsItem], StoredRow[NewsText]]
"""An item as it is stored, and its words."""


@frozen
class StoryScene:
    """The new items of one pass with stored items around them, and the version of the last pass."""

    new: tuple[StoredRow[UngroupedItem], ...]
    around: tuple[Pair, ...] = field(repr=False)
    frequencies: Frequencies = field(repr=False)
    version: int

    def readings(self) -> list[Reading]:
        """Reads the items' words: slow, so the caller runs it beside the event loop."""
        return [
            reading_of(
                _timeless(item_evidence(NEWS.decode(item.raw), NEWS_TEXTS.decode(words.raw)))
            )
            for item, words in self.around
        ]


def _timeless(evidence: EvidenceTexts) -> EvidenceTexts:
    """The evidence without the time of reading, which would keep undated items apart."""
    return attrs.evolve(evidence, retrieved_at=evidence.published_at or UNDATED)


def story_changes(items: Sequence[Reading], frequencies: Frequencies) -> dict[str, str | None]:
    """The items whose story changes, with its new name; None for an item that is alone, as each is
    that a template of its source made.
    """
    made = template_made(item.evidence for item in items)
    reports = [item for item in items if item.evidence.id not in made]
    events = [
        [item.evidence for part in event for item in part]
        for event in group_readings(reports, frequencies)
    ]
    events += [[item.evidence] for item in items if item.evidence.id in made]
    before = {item.evidence.id: item.evidence.story for item in items}
    return {id_: name for id_, name in story_names(events).items() if name != before[id_]}


def story_names(events: Sequence[Sequence[EvidenceTexts]]) -> dict[str, str | None]:
    """The name of each item's story: `inc_...`, or None for an item that is alone."""
    names: dict[str, str | None] = {}
    for event in events:
        first = min(event, key=_age)
        name = ids.derived_id("inc", "story", "", first.id) if len(event) > 1 else None
        names.update((item.id, name) for item in event)
    return names


def _age(item: EvidenceTexts) -> tuple[datetime, str]:
    return item.published_at or UNDATED, item.id


# -- a pass ------------------------------------------------------------------------------------


async def group_new(work: Units, *, at_once: int = WINDOW_ITEMS_MAX) -> int:
    """Give the new items their stories; returns how many were looked at.

    A window of up to `at_once` items is grouped as a whole, a larger one where most of it is new.
    """
    count, tries = 0, 0
    for _ in range(PASSES_MAX):
        scene = await work.read(SYSTEM, partial(_scene, at_once=at_once))
        if scene is None or tries == TRIES_MAX:
            break
        items = await work.aside(scene.readings)
        names = {item.evidence.story for item in items if item.evidence.story is not None}
        known_ids = frozenset(item.evidence.id for item in items)
        rest = await work.read(SYSTEM, partial(_members, names=sorted(names), known_ids=known_ids))
        items += await work.aside(attrs.evolve(scene, around=rest).readings)
        after = await work.aside(partial(story_changes, items, scene.frequencies))
        if await _write(work, scene, sorted(after.items())):
            count += len(scene.new)
        else:
            tries += 1
    return count


async def _scene(ctx: Context, at_once: int) -> StoryScene | None:
    documents = ctx.tx.documents
    new = (await documents.scan(UNGROUPED_ITEMS, limit=BULK * at_once)).rows
    if not new:
        return None
    is_dated = new[0].order > micros(UNDATED)
    new = tuple(row for row in new if (row.order > micros(UNDATED)) == is_dated)
    window = await _window(ctx, new, at_once)
    while window.has_more and len(new) > NEW_AT_ONCE:
        new = new[: max(NEW_AT_ONCE, len(new) // 2)]
        window = await _window(ctx, new, at_once)
    table = await corpus.term_frequencies(ctx, ITEMS)
    if window.has_more:
        texts = await _near(ctx, [row.id for row in new], table)
    else:
        texts = await documents.get_many(NEWS_TEXTS, [row.id for row in window.rows])
    return StoryScene(
        new=tuple(new),
        around=await _pairs(ctx, texts),
        frequencies=table,
        version=await _version(ctx),
    )


async def _window(
    ctx: Context, new: Sequence[StoredRow[UngroupedItem]], at_once: int
) -> Slice[NewsItem]:
    """The items with dates around those of new ones; it has more where it is not whole."""
    span = (new[-1].order - _SPAN, new[0].order + _SPAN)
    limit = max(at_once, min(BULK * at_once, BULK_SHARE * len(new)))
    return await ctx.tx.documents.scan(NEWS, order="dated", ranges={"dated": span}, limit=limit)


async def _near(
    ctx: Context, new: Sequence[str], table: Frequencies
) -> dict[str, StoredRow[NewsText]]:
    """The words of new items and of the items most like them."""
    documents = await ctx.tx.documents.get_many(NEWS_TEXTS, new)
    for row in list(documents.values()):
        title, lead, _ = (NEWS_TEXTS.decode(row.raw).with_terms().terms or "").split("\n")
        terms = set(f"{title} {lead}".split())
        rarest = sorted(terms, key=lambda term: (table.counts.get(term, 0), term))[:NEAR_TERMS]
        neighbours = await corpus.candidate_ids(
            ctx,
            dict.fromkeys(rarest, 1.0),
            table,
            texts=NEWS_TEXTS,
            start=row.order - _SPAN,
            end=row.order + _SPAN,
            limit=NEAR_ITEMS,
        )
        documents.update((document.id, document) for document in neighbours)
    return documents


async def _members(ctx: Context, names: Sequence[str], known_ids: Set[str]) -> tuple[Pair, ...]:
    """The items of some stories that were not read yet."""
    if not names:
        return ()
    page = await ctx.tx.documents.scan(NEWS, where={"story": tuple(names)}, limit=MEMBERS_MAX)
    unknown = [row.id for row in page.rows if row.id not in known_ids]
    return await _pairs(ctx, await ctx.tx.documents.get_many(NEWS_TEXTS, unknown))


async def _pairs(ctx: Context, texts: Mapping[str, StoredRow[NewsText]]) -> tuple[Pair, ...]:
    items = await ctx.tx.documents.get_many(NEWS, list(texts))
    return tuple((item, texts[id_]) for id_, item in items.items())


async def _write(work: Units, scene: StoryScene, rows: Sequence[tuple[str, str | None]]) -> bool:
    """Write the changes, then that the new items are done; false where another pass wrote."""
    version = scene.version
    for start in range(0, len(rows) + len(scene.new), ROWS_AT_ONCE):
        end = start + ROWS_AT_ONCE
        waiting = scene.new[max(0, start - len(rows)) : max(0, end - len(rows))]
        unit = partial(_put, names=dict(rows[start:end]), waiting=waiting, version=version)
        new_version = await work.write(SYSTEM, unit)
        if new_version is None:
            return False
        version = new_version
    return True


async def _put(
    ctx: Context,
    names: Mapping[str, str | None],
    waiting: Sequence[StoredRow[UngroupedItem]],
    version: int,
) -> int | None:
    """Write some rows; returns the pass's new version, or None where another pass wrote.

    An item that was written anew since it was looked at goes on waiting.
    """
    if await _version(ctx) != version:
        return None
    stories: set[str | None] = set()
    for id_, document in (await ctx.tx.documents.get_many(NEWS, list(names))).items():
        before = NEWS.decode(document.raw)
        stories |= {before.story_id, names[id_]}
        item = attrs.evolve(before, story_id=names[id_], recorded_at=ctx.now)
        await ctx.save(NEWS, id_, item, before=document)
        await mark_items(ctx, [item])
    await queue.note_incident(ctx, filter(None, stories))
    waiting_now = await ctx.tx.documents.get_many(UNGROUPED_ITEMS, [row.id for row in waiting])
    for row in waiting:
        if waiting_now.get(row.id) == row:
            await ctx.tx.documents.delete(UNGROUPED_ITEMS, row.id)
    return (await ctx.save(STORY_PASSES, _NEWS, StoryPass(_NEWS))).version


async def _version(ctx: Context) -> int:
    last = await ctx.tx.documents.get(STORY_PASSES, _NEWS)
    return 0 if last is None else last.version
