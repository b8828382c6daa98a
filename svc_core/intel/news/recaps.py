"""Recaps: summarises the news items of one topic and day (UTC) in sentences quoted from them.

Rule 1: without a model a recap is extractive. Each bullet is a sentence or the headline of an item
        of the story that it is about; it cites the items of the story that contain it, at least its
        own. A model may rewrite it, as it may reports: a sentence that its items do not support
        gives way to the bullet that cites them, and if nothing else is left all stays as it was.
Rule 2: when items of a day change, the unit of work that writes them marks the recap as due. It is
        made in a unit of its own, which checks that no other change was marked meanwhile. An item
        without a date is in the recap of no day.
Rule 3: stories that more publishers report come first; among equal ones the newer.
Rule 4: all sentences are in one language, that of most of the items.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TypeAlias

import attrs
from attrs import field, frozen

from svc_core.base import ids
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
from svc_core.intel.news.news_corpus import ITEMS, news_evidence
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, StoredRow
from svc_core.operation.units import Units
from svc_core.operation.writer import INSTRUCTIONS, Writer, prompt_of
from svc_core.search import corpus
from svc_core.text.citations import supported_sentences
from svc_core.text.containment import TextWords
from svc_core.text.evidence import EvidenceTexts, ScoredItem, readings
from svc_core.text.extracts import extract_sentences, vector_of
from svc_core.text.facts import TextFacts
from svc_core.text.frequencies import Frequencies
from svc_core.text.stories import Story, group_stories
from svc_core.text.templates import without_templates

DAY = timedelta(days=1)
ITEMS_MAX = 300
"""The newest items of one topic and day that a recap reads: grouping them takes about 0.1 s."""
BULLETS_MAX = 6
EVERY = timedelta(minutes=5)
"""How often at most one recap is made again while its day goes on."""
REWRITES_MAX = 40
"""Recaps of one pass that a model rewrites, all within the time of one answer; others stay."""
PASS_MAX = 500  # recaps of one pass: 40 topics on twelve days

METHOD = RecapMethod("extractive", "story-leads", "1")
REWRITTEN = RecapMethod("model", "checked-rewrite", "1")


@frozen
class RecapMaterial:
    """What a recap is made from: the topic and day that is due, and the items of that day."""

    due: StoredRow[RecapDue]
    evidence: tuple[EvidenceTexts, ...] = field(repr=False)
    frequencies: Frequencies = field(repr=False)

    now: datetime

    def recap(self) -> Recap | None:
        """The recap of these items; takes long enough to run outside a unit of work."""
        due = RECAPS_DUE.decode(self.due.raw)
        return recap_of(due, self.evidence, self.frequencies, self.now)


Draft: TypeAlias = tuple[RecapMaterial, Recap | None]
"""What a recap is made from, and the recap; None where nothing is to be told."""
Finish: TypeAlias = Callable[[Units, Sequence[Draft]], Awaitable[list[Draft]]]


def recap_id(due: RecapDue) -> str:
    """The id of the recap of a topic and day, derived from both."""
    return ids.derived_id("rcp", "recap", due.topic, f"{due.day:%Y-%m-%d}")


def recap_of(
    due: RecapDue, evidence: Sequence[EvidenceTexts], frequencies: Frequencies, now: datetime
) -> Recap | None:
    """The recap of some items, but for those that a template of their source made; None where there
    are no others.
    """
    reports = [item for item in without_templates(readings(evidence)) if not item.is_form]
    if not reports:
        return None
    items = [ScoredItem(reading, 1.0) for reading in reports]
    tongues = Counter(item.reading.language for item in items)
    language = min(tongues, key=lambda tongue: (-tongues[tongue], tongue or ""))
    subset = [item for item in items if item.reading.language == language]
    ranking = sorted(group_stories(subset, frequencies), key=_weight)[:BULLETS_MAX]
    bullets = tuple(_bullet(story, frequencies) for story in ranking)
    return Recap(
        id=recap_id(due),
        topic=due.topic,
        window=RecapWindow(due.day, due.day + DAY),
        generated_at=now,
        headline=ranking[0].best_reading.headline,
        text=" ".join(bullet.text for bullet in bullets),
        bullets=bullets,
        item_count=len(items),
        source_count=len({item.evidence.publisher for item in items}),
        language=language,
        method=METHOD,
    )


def _weight(story: Story) -> tuple[int, int, float, str]:
    return (-len(story.publishers), -len(story.members), -story.last_at.timestamp(), story.key)


def _bullet(story: Story, frequencies: Frequencies) -> RecapBullet:
    best = story.best_reading
    headline = vector_of(best.headline, best.language, frequencies)
    quotes = [
        quote for quote in extract_sentences(story.members, headline, frequencies) if quote.leads
    ]
    quote = max(quotes, key=lambda o: (o.opens, o.score, o.item.evidence.id), default=None)
    item = best.evidence if quote is None else quote.item.evidence
    text = best.headline if quote is None else quote.text
    words = TextWords.of(text)
    citations = [
        member.evidence.id
        for member in story.members
        if member.evidence.id != item.id and member.evidence.says(words)
    ]
    events = {member.evidence.story for member in story.members}
    incident = events.pop() if len(events) == 1 else None
    return RecapBullet(text, (item.id, *citations), incident)


# -- a pass ------------------------------------------------------------------------------------


async def recap_new(work: Units) -> int:
    """Make every recap whose items changed, and return how many were made."""
    due = await work.read(SYSTEM, _due)
    count = await _make(work, due[:REWRITES_MAX], _rewrite)
    for row in due[REWRITES_MAX:]:
        count += await _make(work, [row])
    return count


async def _make(
    work: Units, due: Sequence[StoredRow[RecapDue]], finish: Finish | None = None
) -> int:
    """Make some recaps, and `finish` them before they are written; how many were made."""
    materials = [await work.read(SYSTEM, partial(_material, due=row)) for row in due]
    drafts = [(item, await work.aside(item.recap)) for item in materials if item is not None]
    if finish is not None:
        drafts = await finish(work, drafts)
    writes = [
        await work.write(SYSTEM, partial(_write, material=material, draft=draft))
        for material, draft in drafts
    ]
    return sum(writes)


async def _rewrite(work: Units, drafts: Sequence[Draft]) -> list[Draft]:
    """The recaps as the host's model rewrites them, if it has one."""
    writer = work.host.providers.get(Writer)
    bullets = [draft.bullets if draft else () for _, draft in drafts]
    if writer is None or not any(bullets):
        return list(drafts)
    numbers = [_numbers(row) for row in bullets]
    prompts = [
        prompt_of((b.text, [ids_[id_] for id_ in b.news_ids]) for b in row)
        for row, ids_ in zip(bullets, numbers, strict=True)
    ]
    texts = await writer.write([(INSTRUCTIONS, prompt) for prompt in prompts])
    return [
        (material, draft if draft is None or text is None else rewritten(draft, text, material))
        for (material, draft), text in zip(drafts, texts, strict=True)
    ]


def _numbers(bullets: Iterable[RecapBullet]) -> dict[str, int]:
    every = dict.fromkeys(id_ for bullet in bullets for id_ in bullet.news_ids)
    return {id_: number for number, id_ in enumerate(every, 1)}


def rewritten(recap: Recap, text: str, material: RecapMaterial) -> Recap:
    """A recap in a model's words, as far as the items that these cite support them."""
    items = {item.id: item for item in material.evidence}
    numbers = _numbers(recap.bullets)
    ids_ = {number: id_ for id_, number in numbers.items()}
    facts = {n: TextFacts.of(f"{items[id_].title}\n{items[id_].text}") for n, id_ in ids_.items()}
    quotes = {
        n: TextFacts.of("\n".join(b.text for b in recap.bullets if id_ in b.news_ids))
        for n, id_ in ids_.items()
    }
    sentences = supported_sentences(text, facts, quotes)[: 2 * BULLETS_MAX]
    if all(sentence.is_quoted for sentence in sentences):
        return recap
    incidents = {id_: bullet.incident_id for bullet in recap.bullets for id_ in bullet.news_ids}
    bullets = tuple(
        RecapBullet(row.text, cited, incidents[cited[0]])
        for row in sentences
        if (cited := tuple(ids_[n] for n in row.citations))
    )
    whole = " ".join(bullet.text for bullet in bullets)
    return attrs.evolve(recap, text=whole, bullets=bullets, method=REWRITTEN)


async def _due(ctx: Context) -> tuple[StoredRow[RecapDue], ...]:
    return (await ctx.tx.documents.scan(RECAPS_DUE, limit=PASS_MAX)).rows


async def _material(ctx: Context, due: StoredRow[RecapDue]) -> RecapMaterial | None:
    """The items of a topic and day; None where its recap was made less than `EVERY` ago."""
    topic_day = RECAPS_DUE.decode(due.raw)
    last = await ctx.find(RECAPS, recap_id(topic_day))
    if last is not None and ctx.now - last.generated_at < EVERY:
        return None
    start, end = micros(topic_day.day), micros(topic_day.day + DAY) - 1
    page = await ctx.tx.documents.scan(
        NEWS, where={"topics": (topic_day.topic,)}, start=start, end=end, limit=ITEMS_MAX
    )
    dated_ids = [row.id for row in page.rows if NEWS.decode(row.raw).dated_at is not None]
    words = await ctx.tx.documents.get_many(NEWS_TEXTS, dated_ids)
    return RecapMaterial(
        due=due,
        evidence=tuple(await news_evidence(ctx, words.values())),
        frequencies=await corpus.term_frequencies(ctx, ITEMS),
        now=ctx.now,
    )


async def _write(ctx: Context, material: RecapMaterial, draft: Recap | None) -> bool:
    """Write a recap and clear its mark, unless its items changed again meanwhile."""
    due = await ctx.if_unchanged(RECAPS_DUE, material.due)
    if due is None:
        return False
    id_ = recap_id(due)
    before = await ctx.find(RECAPS, id_)
    if draft is None and before is not None:
        await ctx.remove(RECAPS, id_)
    if draft is not None and draft != _with_time(before, draft.generated_at):
        await ctx.save(RECAPS, id_, draft)
    await ctx.tx.documents.delete(RECAPS_DUE, due.id)
    return draft is not None


def _with_time(recap: Recap | None, instant: datetime) -> Recap | None:
    return None if recap is None else attrs.evolve(recap, generated_at=instant)
