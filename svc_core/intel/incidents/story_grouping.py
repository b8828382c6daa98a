"""Groups news items into stories, and gives each new item its `storyId`.

Time is cut into blocks, and an item belongs to the block of its date:

    ... |  8 days  |  4 days | 2 | 1 |1|  8 days  | ...     the more items, the shorter the blocks
             |<- 2 days ->|   block   |<- 2 days ->|        a window: what a block is grouped with

A window is grouped as a whole, and each item of its block then names the earliest item that it is
together with. That one names an earlier one of its own block's window, and so on to the first item
of the event, which gives the story its name.

Rule 1: stories depend on the stored items alone: neither on the order in which documents came, nor
        on the day or the sizes of passes. How blocks are cut depends on how many items are in
        them, and the weights of words on the window.
Rule 2: what is written waits in `UNGROUPED_ITEMS`, in the same unit of work, until each window
        that it is in was grouped anew. A pass that is cut off leaves it there.
Rule 3: a window of more than `AT_ONCE` items is not grouped anew for each of them: a pass spares
        the window some time, in relation to the time that it took.
Rule 4: a pass writes in short units. Each checks that no other pass wrote since this one read, so
        of two at once one begins again.
Rule 5: items without a date are compared with one another only.
Rule 6: items are compared by meaning where their embedding vectors are stored, whoever made them,
        and by words where not. What is new by its vector alone waits until no more of them come.

Weak spot: of more than `WINDOW_MAX` items in three quarters of an hour, or without a date, some
are in no window; they are alone, or stay where they were before there were so many.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

import attrs
from attrs import field, frozen

from svc_core.base import ids
from svc_core.intel.incidents import queue
from svc_core.intel.news.model import (
    NEWS,
    NEWS_TEXTS,
    STORY_PARTS,
    STORY_PASSES,
    UNDATED,
    UNGROUPED_ITEMS,
    NewsItem,
    NewsText,
    StoryPart,
    StoryPass,
    UngroupedItem,
)
from svc_core.intel.news.news_corpus import item_evidence
from svc_core.intel.news.vectors import VECTORS
from svc_core.intel.signals.detection_queue import mark_items
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, StoredRow
from svc_core.operation.units import Units
from svc_core.search.vector_likeness import Vector
from svc_core.text.evidence import EvidenceTexts, Reading, reading_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.grouping import NO_VECTORS, group_readings
from svc_core.text.templates import without_templates

AT_ONCE = 500
"""The most items of windows that are grouped anew whatever is new in them, and of the blocks of
one pass where there are several: about 0.5 s beside other work."""
BLOCK_ITEMS_MAX = 2_000
"""The most items of a block that is not cut in halves."""
WINDOW_MAX = 10_000
"""The most items of a window that are read, and the most new ones of one pass."""
BLOCKS_MAX = 24
"""The most blocks of one pass in a busy part of time, so that its items fit in memory: 2,000 each,
and those around. What is new at one instant concerns fewer."""
SHARE = 3
"""Larger windows are grouped anew at once where one item in so many is new."""
EVERY = timedelta(milliseconds=25)
"""Else they wait so long for each of their items: ten times as long as grouping them by meaning
takes, and fifty times as long as by words."""
QUIET = timedelta(seconds=30)
"""How long no vector has come to a part of time before it is grouped for those that came."""
LATEST = timedelta(minutes=10)
"""After that long it is grouped though more come."""
ROWS_AT_ONCE = 100
"""Rows written in one unit: about 50 ms."""
TRIES_MAX = 3
"""How often a pass begins again because another pass wrote; then the rest waits for the next."""
PASSES_MAX = 50
"""Passes of one call, so that a stream of writes does not keep a process from reading sources."""

_NEWS = "news"
_LONGEST, _MARGIN = (timedelta(days=days) // timedelta(microseconds=1) for days in (8, 2))
_SHORTEST = _LONGEST >> 8


@frozen
class Block:
    """A part of time whose items are grouped together: its start, in microseconds since 1970, and
    its length.
    """

    start: int
    length: int = _LONGEST

    @classmethod
    def at(cls, instant: int) -> "Block":
        """The longest block around an instant."""
        return cls(instant - instant % _LONGEST)

    def halves(self) -> tuple["Block", "Block"]:
        """The two blocks that it is cut into."""
        half = self.length // 2
        return Block(self.start, half), Block(self.start + half, half)

    def span(self, margin: int = 0) -> tuple[int, int]:
        """Its first and last microsecond, or those of the block with a margin on either side."""
        return self.start - margin, self.start + self.length + margin - 1

    @property
    def window(self) -> tuple[int, int]:
        """The first and last microsecond of what it is grouped with."""
        return self.span(min(_MARGIN, self.length))

    def is_concerned(self, instants: Iterable[int]) -> bool:
        """Whether something new at these instants may change its window, or how it was cut."""
        length = min(2 * self.length, _LONGEST)
        before, after = Block(self.start - self.start % length, length).span()
        start, end = self.window
        return any(min(before, start) <= at <= max(after, end) for at in instants)


Pair = tuple[StoredRow[NewsItem], StoredRow[NewsText]]
"""An item as it is stored, and its words."""


@frozen
class StoryScene:
    """What one pass groups: the new items, the blocks that they concern, the items of the blocks'
    windows, and the version of the last pass.
    """

    new: tuple[StoredRow[UngroupedItem], ...]
    blocks: tuple[Block, ...]
    items: tuple[Pair, ...] = field(repr=False)
    vectors: Mapping[str, StoredRow[Vector]] = field(repr=False)
    version: int
    busy: tuple[StoryPass, ...] = ()

    def firsts(self) -> tuple[dict[str, str], dict[str, str | None]]:
        """For each item of the blocks the earliest that it is together with, and for every item
        the story that it has now. Slow, so the caller runs it beside the event loop.
        """
        readings = [
            reading_of(_timeless(item_evidence(NEWS.decode(item.raw), NEWS_TEXTS.decode(text.raw))))
            for item, text in self.items
        ]
        rows = ((VECTORS.decode(self.vectors[text.id].raw), text.version)
                for _, text in self.items if text.id in self.vectors)  # fmt: skip
        vectors = [vector for vector, version in rows if vector.version == version and vector.data]
        firsts: dict[str, str] = {}
        for block in self.blocks:
            around = [reading for reading in readings if _is_within(reading, block.window)]
            within = {item.evidence.id for item in around if _is_within(item, block.span())}
            ids_ = {item.evidence.id for item in around}
            packed = of_one_model([vector for vector in vectors if vector.id in ids_])
            first = first_members(around, packed)
            firsts.update((id_, first[id_]) for id_ in within)
        return firsts, {item.evidence.id: item.evidence.story for item in readings}


def _timeless(evidence: EvidenceTexts) -> EvidenceTexts:
    """The evidence without the time of reading, which would keep undated items apart."""
    return attrs.evolve(evidence, retrieved_at=evidence.published_at or UNDATED)


def _age(item: Reading) -> tuple[int, str]:
    return micros(item.evidence.retrieved_at), item.evidence.id


def _is_within(item: Reading, span: tuple[int, int]) -> bool:
    return span[0] <= _age(item)[0] <= span[1]


def of_one_model(vectors: Sequence[Vector]) -> dict[str, bytes]:
    """The packed vectors by item of the model and length that most of these have."""
    kinds = {vector.id: (vector.model, len(vector.raw)) for vector in vectors}
    counts = Counter(kinds.values())
    kind = max(counts, key=lambda kind: (counts[kind], kind), default=None)
    return {vector.id: vector.raw for vector in vectors if kinds[vector.id] == kind}


def first_members(
    items: Sequence[Reading], vectors: Mapping[str, bytes] = NO_VECTORS
) -> dict[str, str]:
    """For each item the earliest that reports the same event, of these alone: itself where it is
    alone, as each is that a template of its source made. `vectors` are packed, by item.
    """
    reports = without_templates(items)
    table = Frequencies.of(item.counts for item in reports if not item.is_form)
    firsts: dict[str, str] = {}
    for event in group_readings(reports, table, vectors):
        members = sorted((item for part in event for item in part), key=_age)
        firsts |= {item.evidence.id: members[0].evidence.id for item in members}
    return firsts


def story_names(firsts: Mapping[str, str]) -> dict[str, str | None]:
    """The name of each item's story: `inc_...`, derived from the item that it leads to by way of
    earlier ones; None for an item that leads to itself, and to which no other leads.
    """
    ends: dict[str, str] = {}
    for id_ in firsts:
        way = [id_]
        while way[-1] not in ends and firsts.get(way[-1], way[-1]) not in way:
            way.append(firsts[way[-1]])
        ends.update(dict.fromkeys(way, ends.get(way[-1], way[-1])))
    events = {end for id_, end in ends.items() if id_ != end}
    return {
        id_: ids.derived_id("inc", "story", "", ends[id_]) if ends[id_] in events else None
        for id_ in firsts
    }


# -- a pass ------------------------------------------------------------------------------------


async def group_new(
    work: Units, *, at_once: int = AT_ONCE, block_max: int = BLOCK_ITEMS_MAX
) -> int:
    """Give the new items their stories; returns how many were looked at."""
    count, tries = 0, 0
    for _ in range(PASSES_MAX):
        scene = await work.read(SYSTEM, partial(_scene, at_once=at_once, block_max=block_max))
        if scene is None or tries == TRIES_MAX:
            break
        firsts, before = await work.aside(scene.firsts)
        changes = await work.read(SYSTEM, partial(_changes, firsts=firsts, before=before))
        if await _write(work, scene, attrs.evolve(changes, busy=scene.busy)):
            count += len(scene.new)
        else:
            tries += 1
    return count


async def _scene(ctx: Context, at_once: int, block_max: int) -> StoryScene | None:
    """The next places of time where something is new: as many as are small together."""
    documents = ctx.tx.documents
    new: list[StoredRow[UngroupedItem]] = []
    blocks: dict[Block, None] = {}
    items: dict[str, StoredRow[NewsItem]] = {}
    busy: list[StoryPass] = []
    end: int | None = None
    while len(items) < at_once and len(new) < WINDOW_MAX:
        newest = (await documents.scan(UNGROUPED_ITEMS, end=end, limit=1)).rows
        if not newest:
            break
        start, last = Block.at(newest[0].order).span()
        end = start - 1
        page = await documents.scan(UNGROUPED_ITEMS, start=start, end=last, limit=WINDOW_MAX)
        if not is_due((UNGROUPED_ITEMS.decode(row.raw) for row in page.rows), ctx.now):
            continue
        blocks_due = await _blocks(ctx, [row.order for row in page.rows], block_max)
        markers, due = _latest(page.rows, blocks_due)
        around = await _around(ctx, [block for block in due if block not in blocks])
        if len(around) > at_once:
            if items:
                break
            now, name = ctx.now, f"{start}"
            last_pass = await ctx.find(STORY_PASSES, name)
            if len(markers) * SHARE < len(around) and last_pass and now < (last_pass.until or now):
                continue
            busy.append(StoryPass(name, now + EVERY * len(around)))
        new += markers
        blocks.update(dict.fromkeys(due))
        items |= around
    if not new:
        return None
    texts = await documents.get_many(NEWS_TEXTS, list(items))
    pairs = tuple((item, texts[id_]) for id_, item in items.items() if id_ in texts)
    vectors = await documents.get_many(VECTORS, [text.id for _, text in pairs])
    version = await _version(ctx)
    return StoryScene(tuple(new), tuple(blocks), pairs, vectors, version, tuple(busy))


def is_due(markers: Iterable[UngroupedItem], now: datetime) -> bool:
    """Whether a part of time is grouped now: not while only vectors are new, and more come."""
    times: list[datetime] = []
    for marker in markers:
        if marker.vector_at is None:
            return True
        times.append(marker.vector_at)
    return not timedelta() <= now - max(times) < QUIET or now - min(times) >= LATEST


def _latest(
    markers: Sequence[StoredRow[UngroupedItem]], due: Sequence[Block]
) -> tuple[Sequence[StoredRow[UngroupedItem]], Sequence[Block]]:
    """Some blocks, the latest, and what is new that concerns no others."""
    order = sorted(due, key=lambda block: -block.start)
    rest = order[BLOCKS_MAX:]
    part = [row for row in markers if not any(block.is_concerned([row.order]) for block in rest)]
    if not (rest and part):
        return markers, due
    instants = [row.order for row in part]
    return part, [block for block in order[:BLOCKS_MAX] if block.is_concerned(instants)]


async def _blocks(ctx: Context, instants: Sequence[int], block_max: int) -> list[Block]:
    """The blocks that something new at these instants concerns; all are in one longest block."""
    middle = Block.at(instants[0])
    blocks: list[Block] = []
    rest = [Block(middle.start + shift) for shift in (-_LONGEST, 0, _LONGEST)]
    while rest:
        block = rest.pop()
        if not block.is_concerned(instants):
            continue
        within = {"dated": block.span()}
        count = await ctx.tx.documents.count(NEWS, ranges=within, limit=block_max + 1)
        if count > block_max and block.length > _SHORTEST:
            rest += block.halves()
        elif count:
            blocks.append(block)
    return blocks


async def _around(ctx: Context, blocks: Sequence[Block]) -> dict[str, StoredRow[NewsItem]]:
    """The items of the windows of some blocks."""
    items: dict[str, StoredRow[NewsItem]] = {}
    for block in blocks:
        page = await ctx.tx.documents.scan(
            NEWS, order="dated", ranges={"dated": block.window}, limit=WINDOW_MAX
        )
        items.update((row.id, row) for row in page.rows)
    return items


@frozen
class StoryChanges:
    """What a pass writes: for some items the earliest that they are together with, for some the
    name of their story.
    """

    firsts: Mapping[str, str]
    names: Mapping[str, str | None]
    busy: Sequence[StoryPass] = ()


async def _changes(
    ctx: Context, firsts: Mapping[str, str], before: Mapping[str, str | None]
) -> StoryChanges:
    """What differs from what is stored, also in items that lead to the ones that were grouped."""
    parts = await ctx.find_many(STORY_PARTS, firsts)
    old = {id_: parts[id_].first if id_ in parts else id_ for id_ in firsts}
    every = dict(firsts)
    level = {*firsts, *old.values()}
    while level and len(every) < WINDOW_MAX:
        where = {"first": tuple(sorted(level))}
        page = await ctx.tx.documents.scan(STORY_PARTS, where=where, limit=WINDOW_MAX)
        after = [STORY_PARTS.decode(row.raw) for row in page.rows]
        level = {part.id for part in after} - every.keys()
        every = {part.id: part.first for part in after} | every
    while level := {*every.values(), *old.values()} - every.keys():
        parts = await ctx.find_many(STORY_PARTS, level)
        every |= {id_: parts[id_].first if id_ in parts else id_ for id_ in level}
    others = await ctx.find_many(NEWS, every.keys() - before.keys())
    stories = {**before, **{id_: item.story_id for id_, item in others.items()}}
    names = story_names(every)
    return StoryChanges(
        {id_: first for id_, first in firsts.items() if first != old[id_]},
        {id_: names[id_] for id_ in every if id_ in stories and names[id_] != stories[id_]},
    )


async def _write(work: Units, scene: StoryScene, changes: StoryChanges) -> bool:
    """Write the changes, then that the new items are done; false where another pass wrote."""
    version = scene.version
    rows = sorted({*changes.firsts, *changes.names})
    for start in range(0, len(rows) + len(scene.new), ROWS_AT_ONCE):
        end = start + ROWS_AT_ONCE
        waiting = scene.new[max(0, start - len(rows)) : max(0, end - len(rows))]
        part = rows[start:end]
        unit = partial(_put, changes=changes, part=part, waiting=waiting, version=version)
        new_version = await work.write(SYSTEM, unit)
        if new_version is None:
            return False
        version = new_version
    return True


async def _put(
    ctx: Context,
    changes: StoryChanges,
    part: Sequence[str],
    waiting: Sequence[StoredRow[UngroupedItem]],
    version: int,
) -> int | None:
    """Write some rows; returns the pass's new version, or None where another pass wrote.

    An item that was written anew since it was looked at goes on waiting.
    """
    if await _version(ctx) != version:
        return None
    rows = await ctx.tx.documents.get_many(NEWS, part)
    for id_ in changes.firsts.keys() & rows.keys():
        if changes.firsts[id_] == id_:
            await ctx.tx.documents.delete(STORY_PARTS, id_)
        else:
            await ctx.save(STORY_PARTS, id_, StoryPart(id_, changes.firsts[id_]))
    stories: set[str | None] = set()
    for id_ in changes.names.keys() & rows.keys():
        before, name = NEWS.decode(rows[id_].raw), changes.names[id_]
        stories |= {before.story_id, name}
        item = attrs.evolve(before, story_id=name, recorded_at=ctx.now)
        await ctx.save(NEWS, id_, item, before=rows[id_])
        await mark_items(ctx, [item])
    await queue.note_incident(ctx, filter(None, stories))
    waiting_now = await ctx.tx.documents.get_many(UNGROUPED_ITEMS, [row.id for row in waiting])
    for row in waiting:
        if waiting_now.get(row.id) == row:
            await ctx.tx.documents.delete(UNGROUPED_ITEMS, row.id)
    for last_pass in changes.busy if waiting else ():
        await ctx.save(STORY_PASSES, last_pass.id, last_pass)
    return (await ctx.save(STORY_PASSES, _NEWS, StoryPass(_NEWS))).version


async def _version(ctx: Context) -> int:
    last = await ctx.tx.documents.get(STORY_PASSES, _NEWS)
    return 0 if last is None else last.version
