"""Recaps: what the items of a topic told on a day (UTC), in their own sentences.

Rule 1: strictly extractive. A bullet is a sentence of an item of the story that it is about, or its
        headline; it cites the items of the story that hold it, at least the one it is from.
Rule 2: a day is told anew when its items changed: noted with the items in one unit of work, and
        made in a unit of its own, which checks that nobody noted another change meanwhile.
Rule 3: the events that most publishers tell come first, of equally told ones the newer.
Rule 4: the sentences are of one language, that of most of the items; of equally many the first.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import attrs
from attrs import field, frozen

from svc_core.base import ids
from svc_core.intel.news.indexing import ITEMS, evidence
from svc_core.intel.news.model import (
    NEWS,
    NEWS_TEXTS,
    RECAPS,
    RECAPS_DUE,
    Recap,
    RecapBullet,
    RecapDue,
    RecapMethod,
    RecapWindow,
)
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Document
from svc_core.operation.units import Units
from svc_core.search import corpus
from svc_core.text.evidence import Evidence, Scored, readings
from svc_core.text.extracts import extracts, vector_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.marks import Words
from svc_core.text.stories import Story, stories

DAY = timedelta(days=1)
ITEMS_MAX = 300
"""Items of one topic and day that are looked at, the newest: grouping them takes about 0.1 s."""
BULLETS_MAX = 6
EVERY = timedelta(minutes=5)
"""How often one recap is made anew while its day goes on."""
PASS_MAX = 500  # recaps of one pass: 40 topics on twelve days

METHOD = RecapMethod("extractive", "story-leads", "1")


@frozen
class Scene:
    """A topic and day that is due, and its items."""

    due: Document[RecapDue]
    evidence: tuple[Evidence, ...] = field(repr=False)
    frequencies: Frequencies = field(repr=False)

    now: datetime

    def told(self) -> Recap | None:
        """Its recap; to be made aside."""
        wanted = RECAPS_DUE.decode(self.due.raw)
        return recap(wanted, self.evidence, self.frequencies, self.now)


def recap_id(due: RecapDue) -> str:
    """The id of the recap of a topic and day."""
    return ids.derived_id("rcp", "recap", due.topic, f"{due.day:%Y-%m-%d}")


def recap(
    due: RecapDue, evidence: Sequence[Evidence], frequencies: Frequencies, now: datetime
) -> Recap | None:
    """The recap of some items; None without any."""
    if not evidence:
        return None
    held = [Scored(one, 1.0) for one in readings(evidence)]
    spoken = Counter(one.reading.tongue for one in held)
    language = min(spoken, key=lambda tongue: (-spoken[tongue], tongue or ""))
    told = [one for one in held if one.reading.tongue == language]
    found = sorted(stories(told, frequencies), key=_weight)[:BULLETS_MAX]
    bullets = tuple(_bullet(story, frequencies) for story in found)
    return Recap(
        id=recap_id(due),
        topic=due.topic,
        window=RecapWindow(due.day, due.day + DAY),
        generated_at=now,
        headline=found[0].best.headline,
        text=" ".join(bullet.text for bullet in bullets),
        bullets=bullets,
        item_count=len(evidence),
        source_count=len({one.publisher for one in evidence}),
        language=language,
        method=METHOD,
    )


def _weight(story: Story) -> tuple[int, int, float, str]:
    return (-len(story.publishers), -len(story.members), -story.last_at.timestamp(), story.key)


def _bullet(story: Story, frequencies: Frequencies) -> RecapBullet:
    best = story.best
    headline = vector_of(best.headline, best.tongue, frequencies)
    drawn = [one for one in extracts(story.members, headline, frequencies) if one.alone]
    chosen = max(drawn, key=lambda one: (one.score, one.item.evidence.id), default=None)
    item = best.evidence if chosen is None else chosen.item.evidence
    text = best.headline if chosen is None else chosen.text
    said = Words.of(text)
    others = [
        one.evidence.id
        for one in story.members
        if one.evidence.id != item.id
        and Words.of(f"{one.evidence.title} {one.evidence.text}").holds(said)
    ]
    known = {one.evidence.story for one in story.members}
    incident = known.pop() if len(known) == 1 else None
    return RecapBullet(text, (item.id, *others), incident)


# -- a pass ------------------------------------------------------------------------------------


async def recap_new(work: Units) -> int:
    """Make the recaps whose items changed; how many were made."""
    due = await work.read(SYSTEM, _due)
    made = 0
    for one in due:
        scene = await work.read(SYSTEM, partial(_scene, due=one))
        if scene is not None:
            told = await work.aside(scene.told)
            made += await work.write(SYSTEM, partial(_write, scene=scene, told=told))
    return made


async def _due(ctx: Context) -> tuple[Document[RecapDue], ...]:
    return (await ctx.tx.documents.scan(RECAPS_DUE, limit=PASS_MAX)).rows


async def _scene(ctx: Context, due: Document[RecapDue]) -> Scene | None:
    """The items of a topic and day; None where its recap was made just now."""
    wanted = RECAPS_DUE.decode(due.raw)
    last = await ctx.find(RECAPS, recap_id(wanted))
    if last is not None and ctx.now - last.generated_at < EVERY:
        return None
    start, end = micros(wanted.day), micros(wanted.day + DAY) - 1
    found = await ctx.tx.documents.scan(
        NEWS, where={"topics": (wanted.topic,)}, start=start, end=end, limit=ITEMS_MAX
    )
    words = await ctx.tx.documents.get_many(NEWS_TEXTS, [row.id for row in found.rows])
    return Scene(
        due=due,
        evidence=tuple(await evidence(ctx, words.values())),
        frequencies=await corpus.frequencies(ctx, ITEMS),
        now=ctx.now,
    )


async def _write(ctx: Context, scene: Scene, told: Recap | None) -> bool:
    """Write a recap and that it is no longer due; not where its items changed again meanwhile."""
    due = await ctx.unchanged(RECAPS_DUE, scene.due)
    if due is None:
        return False
    id_ = recap_id(due)
    before = await ctx.find(RECAPS, id_)
    if told is None and before is not None:
        await ctx.remove(RECAPS, id_)
    if told is not None and told != _at(before, told.generated_at):
        await ctx.save(RECAPS, id_, told)
    await ctx.tx.documents.delete(RECAPS_DUE, due.id)
    return told is not None


def _at(recap: Recap | None, at: datetime) -> Recap | None:
    return None if recap is None else attrs.evolve(recap, generated_at=at)
