"""Folds the incidents that are due: after their members changed, or when their status may change.

Rule 1: an incident waits in `INCIDENTS_DUE` until it was looked at; a pass that is cut off leaves
        it there.
Rule 2: each unit of work reads all that may belong together, folds and writes it, so that two
        passes at once do each what the other left.
Rule 3: one that cannot be folded is put off for a day and reported; the others are folded.
Rule 4: rows are written where they differ; an incident that became part of another leaves a
        `merged` change record, one that is back a `restored` record.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from datetime import timedelta
from functools import partial
from typing import Any

from attrs import define, field

from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.events.model import MACHINE, OSINT_EVENTS, mark
from svc_core.intel.folding.due_rows import BatchSize, DueRows, raise_faults
from svc_core.intel.folding.identity import contributions_of
from svc_core.intel.folding.union import ALIKE_MAX, follow_names
from svc_core.intel.folding.writing import by_row, remove_row, write_row
from svc_core.intel.incidents import incident_members as members
from svc_core.intel.incidents import queue
from svc_core.intel.incidents.incident_members import Member
from svc_core.intel.incidents.member_groups import group_id, group_members, surviving_group
from svc_core.intel.incidents.model import INCIDENTS, INCIDENTS_DUE, Incident, IncidentDue
from svc_core.intel.incidents.neighbourhood import SpanCache, news_around, related_incidents
from svc_core.intel.incidents.rules import (
    Rating,
    fold_members,
    incident_category,
    incident_place,
    incident_texts,
    named_references,
    says_the_same,
    vulnerability_ratings,
)
from svc_core.intel.linking.references import is_entity_id
from svc_core.intel.news.model import NEWS
from svc_core.intel.signals.detection_queue import mark_events
from svc_core.operation.context import Context
from svc_core.operation.members import micros, next_revision
from svc_core.operation.ports import SYSTEM, Collection, StoredRow
from svc_core.operation.units import Units

AT_ONCE, AT_ONCE_MIN = 32, 4
"""Incidents of one unit: some 50 ms on a quiet machine, and fewer where they take longer."""
UNITS_MAX = 400
"""Units of one pass, so that a stream of writes does not keep a process from reading sources."""
PUT_OFF = timedelta(days=1)
"""How long an incident waits that cannot be folded."""
HOPS_MAX = 8
"""The longest chain of marks between two members of an incident: no event has a longer one."""
ALIKE_READ = 5 * ALIKE_MAX
"""The most events with one mark that are read: a mark of more joins nothing, and a unit that read
them all would hold the writer for seconds."""
MEMBERS_MAX = 2_000
"""The most members that are read in one unit, some 200 ms. Beyond it several incidents are folded
in units of their own, and a single incident is folded without the rest of its members."""
ROWS_SCANNED = 500


async def fold_new(work: Units) -> int:
    """Fold the incidents that are due; returns how many were looked at.

    Raises:
        ExceptionGroup: some could not be folded; the others were.
    """
    queue = DueRows(_due, partial(_fold, work), partial(_put_off, work))
    count, faults = await queue.work_off(work, BatchSize(AT_ONCE, AT_ONCE_MIN, AT_ONCE), UNITS_MAX)
    raise_faults(faults)
    return count


async def _due(ctx: Context, limit: int) -> list[str]:
    page = await ctx.tx.documents.scan(INCIDENTS_DUE, end=micros(ctx.now), limit=limit)
    return [row.id for row in page.rows]


async def _fold(work: Units, ids: Sequence[str]) -> int:
    stories = await work.read(SYSTEM, partial(_stories, ids=ids))
    if stories:
        await work.aside(partial(_read_names, stories))
    return await work.write(SYSTEM, partial(_unit, ids=ids))


async def _put_off(work: Units, id_: str) -> None:
    async def unit(ctx: Context) -> None:
        await ctx.save(INCIDENTS_DUE, id_, IncidentDue(id_, ctx.now + PUT_OFF))

    await work.write(SYSTEM, unit)


async def _stories(ctx: Context, ids: Sequence[str]) -> list[list[Member]]:
    """The news items of the stories among these incidents, in each story the strongest first."""
    page = await ctx.tx.documents.scan(NEWS, where={"story": tuple(ids)}, limit=ROWS_SCANNED)
    stories: dict[str, list[Member]] = defaultdict(list)
    for item in (NEWS.decode(row.raw) for row in page.rows):
        stories[str(item.story_id)].append(members.item_member(item, str(item.story_id)))
    return [sorted(story, key=lambda member: member.strength) for story in stories.values()]


def _read_names(stories: Sequence[Sequence[Member]]) -> None:
    """Find names in texts ahead of the unit that needs them, so that it holds no lock for it."""
    for story in stories:
        incident_place(story)
        for member in incident_texts(story):
            _ = member.mentions


async def _unit(ctx: Context, ids: Sequence[str]) -> int:
    documents = (await ctx.tx.documents.get_many(INCIDENTS_DUE, ids)).values()
    due = [row for row in documents if row.order <= micros(ctx.now)]
    for row in due:
        await ctx.tx.documents.delete(INCIDENTS_DUE, row.id)
    scene = _Scene(ctx)
    await scene.read({row.id for row in due})
    if len(scene.members) > MEMBERS_MAX and len(due) > 1:
        raise OverflowError("more members than one unit may hold")
    await scene.write()
    return len(due)


@define
class _Scene:
    """The incidents of one unit of work, with all members that they have or may get."""

    ctx: Context
    rows: dict[str, StoredRow[Incident]] = field(factory=dict)
    incidents: dict[str, Incident] = field(factory=dict)
    members: dict[str, Member] = field(factory=dict)
    common: set[str] = field(factory=set)
    nearby: SpanCache = field(factory=dict)

    # -- what may belong together --------------------------------------------------------------

    async def read(self, frontier: set[str]) -> None:
        """Read the incidents and members with these ids and marks, then their marks, hop by hop."""
        await follow_names(frontier, self._hop, HOPS_MAX)

    async def _hop(self, names: Set[str]) -> set[str]:
        if len(self.members) > MEMBERS_MAX:
            return set()
        return await self._members(names) | await self._rows(names)

    async def _rows(self, ids: Iterable[str]) -> set[str]:
        """Read the incidents that answer to these ids; the marks of their members."""
        keys = tuple(sorted(id_ for id_ in ids if id_.startswith("inc_")))
        rows = await self._documents(INCIDENTS, "key", keys)
        new = {row.id: INCIDENTS.decode(row.raw) for row in rows if row.id not in self.incidents}
        self.rows |= {row.id: row for row in rows}
        self.incidents |= new
        observation_ids = {id_ for row in new.values() for id_ in row.observation_ids}
        missing = sorted(observation_ids - self.members.keys())
        await self._events((await self.ctx.tx.documents.get_many(OSINT_EVENTS, missing)).values())
        self._items((await self.ctx.tx.documents.get_many(NEWS, missing)).values())
        designators = (item for row in new.values() for item in row.designators)
        marks = {mark(item.scheme, item.value) for item in designators if item.scheme != MACHINE}
        return {id_ for row in new.values() for id_ in row.keys} | marks | self._marks(missing)

    async def _members(self, marks: Iterable[str]) -> set[str]:
        """Read the members that have these marks; all marks that they have."""
        all_marks = tuple(sorted(marks))
        ids = tuple(m for m in all_marks if m.startswith("inc_"))
        if await self._holders(all_marks) > ALIKE_READ:
            marks = [m for m in all_marks if not m.startswith("inc_")]
            self.common |= {m for m in marks if await self._holders([m]) > ALIKE_READ}
        speaking = tuple(m for m in all_marks if m not in self.common)
        await self._events(await self._documents(OSINT_EVENTS, "marks", speaking))
        for name in ("story", "article"):
            self._items(await self._documents(NEWS, name, ids))
        reports = by_row((await contributions_of(self.ctx, ids)).values()) if ids else {}
        for row, claims in reports.items():
            self._keep(members.report_member(row, claims))
        return self._marks(self.members)

    async def _holders(self, marks: Iterable[str]) -> int:
        """How many events have one of these marks, counted up to one more than are read."""
        clause = {"marks": tuple(marks)}
        return await self.ctx.tx.documents.count(OSINT_EVENTS, where=clause, limit=ALIKE_READ + 1)

    async def _documents(
        self, collection: Collection[Any], name: str, values: tuple[str, ...]
    ) -> list[StoredRow[Any]]:
        rows = self.ctx.every(collection, MEMBERS_MAX + 1, where={name: values})
        return [row async for row in rows] if values else []

    async def _events(self, rows: Iterable[StoredRow[Any]]) -> None:
        events = [OSINT_EVENTS.decode(row.raw) for row in rows if row.id not in self.members]
        keys = {e.id: members.mention_key(e) for e in events if e.provider == MACHINE}
        claims = by_row((await contributions_of(self.ctx, keys.values())).values())
        for event in events:
            self._keep(members.event_member(event, claims.get(keys.get(event.id, ""), ())))

    def _items(self, rows: Iterable[StoredRow[Any]]) -> None:
        for row in rows:
            if row.id not in self.members:
                item = NEWS.decode(row.raw)
                self._keep(members.item_member(item, item.story_id) if item.story_id else None)

    def _keep(self, member: Member | None) -> None:
        self.members |= {member.id: member} if member else {}

    def _marks(self, ids: Iterable[str]) -> set[str]:
        group = (self.members[id_] for id_ in ids if id_ in self.members)
        return {key for m in group for key in (m.home, *m.marks, *m.weak)}

    # -- what is written -----------------------------------------------------------------------

    async def write(self) -> None:
        """Write the incidents that these members make, and merge or remove the others."""
        groups = group_members(list(self.members.values()), self.common)
        names = {group_id(group): index for index, group in enumerate(groups)}
        group_of = {
            id_: names[id_] if id_ in names else surviving_group(row, groups)
            for id_, row in self.incidents.items()
        }
        homes = [{member.home for member in group} for group in groups]
        merged_ids = [set(own) for own in homes]
        for id_, index in group_of.items():
            if index is not None:
                elsewhere = {home for i, ids in enumerate(homes) if i != index for home in ids}
                merged_ids[index] |= {*self.incidents[id_].keys} - elsewhere - names.keys()
        for name, index in names.items():
            await self._settle(name, groups[index])
        for name, index in names.items():
            await self._write(name, groups[index], merged_ids[index] - {name})
        for id_, index in group_of.items():
            if id_ not in names:
                await self._remove(id_, None if index is None else group_id(groups[index]))

    async def _write(self, name: str, group: Sequence[Member], merged_ids: set[str]) -> None:
        stored, incident = self.rows.get(name), self.incidents.get(name)
        related_ids = await related_incidents(self.ctx, name, group, self.nearby)
        row, until = fold_members(
            group, self.ctx.now, incident, ratings=await self._ratings(group), id=name,
            merged_ids=tuple(sorted(merged_ids)), related_incident_ids=related_ids,
        )  # fmt: skip
        if until is not None:
            await self.ctx.save(INCIDENTS_DUE, name, IncidentDue(name, until))
        if incident is not None and says_the_same(row, incident):
            return
        related_before = set() if incident is None else set(incident.related_incident_ids)
        news_ids = await news_around(self.ctx, group)
        await queue.note_incident(self.ctx, (related_before ^ set(related_ids)) | set(news_ids))
        is_back = any(name in other.merged_ids for other in self.incidents.values())
        await write_row(self.ctx, INCIDENTS, name, row, before=stored, is_back=is_back)

    async def _ratings(self, group: Sequence[Member]) -> list[Rating]:
        """How grave the vulnerabilities are that a cyber incident names."""
        if incident_category(group) != "cyber":
            return []
        names = sorted(filter(is_entity_id, named_references(group)))
        cves = await self.ctx.find_many(CVES, names)
        return [rating for id_ in sorted(cves) for rating in vulnerability_ratings(cves[id_])]

    async def _settle(self, name: str, group: Sequence[Member]) -> None:
        """Store in events the id of the incident that they belong to, and how grave they are."""
        events = (m for m in group if m.is_observed and m.provider != members.PRESS)
        outdated = {m.id: m for m in events if m.incident_id != name or m.is_rated_anew}
        documents = await self.ctx.tx.documents.get_many(OSINT_EVENTS, list(outdated))
        for id_, document in documents.items():
            event, rating = OSINT_EVENTS.decode(document.raw), outdated[id_]
            event = next_revision(
                event, self.ctx.now, incident_id=name,
                severity=rating.severity, severity_basis=rating.basis,
            )  # fmt: skip
            await self.ctx.save(OSINT_EVENTS, id_, event, before=document)
            await mark_events(self.ctx, [event])

    async def _remove(self, id_: str, survivor_id: str | None) -> None:
        await queue.note_incident(self.ctx, self.incidents[id_].related_incident_ids)
        await remove_row(self.ctx, INCIDENTS, self.rows[id_], survivor_id)
