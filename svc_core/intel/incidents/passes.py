"""The incidents that are due are folded: after their members changed, and when time changes them.

Rule 1: an incident waits in `INCIDENTS_DUE` until it was looked at; a pass that is cut off leaves
        it there.
Rule 2: each unit of work reads all that may belong together, folds and writes it, so that two
        passes at once do each what the other left.
Rule 3: one that cannot be folded is put off for a day and told of, the others are folded.
Rule 4: rows are written where they say something new; ids that are taken up have a `merged`
        record, ids that are back a `restored` one.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from attrs import define, field

from svc_core.intel.events.model import MACHINE, OSINT_EVENTS, mark
from svc_core.intel.folding import bisection
from svc_core.intel.folding.identity import contributions_of
from svc_core.intel.folding.writing import by_row
from svc_core.intel.incidents import members, queue
from svc_core.intel.incidents.members import Member
from svc_core.intel.incidents.model import INCIDENTS, INCIDENTS_DUE, Incident, IncidentDue
from svc_core.intel.incidents.neighbourhood import Known, related
from svc_core.intel.incidents.rules import folded, says_the_same, texts
from svc_core.intel.incidents.signals import escalate
from svc_core.intel.incidents.union import ALIKE_MAX, grouped, name_of, survivor
from svc_core.intel.news.model import NEWS
from svc_core.operation.context import Context
from svc_core.operation.members import micros, revised
from svc_core.operation.ports import SYSTEM, Collection, Document
from svc_core.operation.units import Units

AT_ONCE = 32
"""Incidents of one unit: some 50 ms on a quiet machine."""
PASSES_MAX = 400
"""Units in one go, so that who writes without end does not keep a process from reading sources."""
PUT_OFF = timedelta(days=1)
"""How long one waits that cannot be folded."""
HOPS_MAX = 8
"""Marks that may lie between two members; a chain of more is no event."""
ALIKE_READ = 5 * ALIKE_MAX
"""Events with one mark that are read to see how many incidents have it: beyond, it says nothing,
and a unit that read them all would hold the writer for seconds."""
MEMBERS_MAX = 2_000
"""Members that are looked at in one unit, some 200 ms; of a single incident what is beyond is left
out, several are then folded each in a unit of its own."""
ROWS_SCANNED = 500


async def fold_new(work: Units) -> int:
    """Fold the incidents that are due; how many were looked at.

    Raises:
        ExceptionGroup: some cannot be folded; the others were.
    """
    looked, faults = 0, list[Exception]()
    for _ in range(PASSES_MAX):
        due = await work.read(SYSTEM, _due)
        if not due or len(faults) > bisection.FAULTS_MAX:
            break
        ids = [row.id for row in due]
        looked += await bisection.each(ids, partial(_fold, work), partial(_put_off, work), faults)
    bisection.tell(faults)
    return looked


async def _due(ctx: Context) -> tuple[Document[IncidentDue], ...]:
    end = micros(ctx.now)
    return (await ctx.tx.documents.scan(INCIDENTS_DUE, end=end, limit=AT_ONCE)).rows


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
    """The items of stories among these incidents, the strongest first."""
    found = await ctx.tx.documents.scan(NEWS, where={"story": tuple(ids)}, limit=ROWS_SCANNED)
    stories: dict[str, list[Member]] = defaultdict(list)
    for item in (NEWS.decode(row.raw) for row in found.rows):
        stories[str(item.story_id)].append(members.of_item(item, str(item.story_id)))
    return [sorted(each, key=lambda one: one.strength) for each in stories.values()]


def _read_names(stories: Sequence[Sequence[Member]]) -> None:
    """Read the names of texts before the unit that needs them, so that it holds nobody up."""
    for one in (one for story in stories for one in texts(story)):
        _ = one.mentioned


async def _unit(ctx: Context, ids: Sequence[str]) -> int:
    stored = (await ctx.tx.documents.get_many(INCIDENTS_DUE, ids)).values()
    due = [row for row in stored if row.order <= micros(ctx.now)]
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
    """Rows of incidents, with all members that they have or may get."""

    ctx: Context
    rows: dict[str, Document[Incident]] = field(factory=dict)
    known: dict[str, Incident] = field(factory=dict)
    members: dict[str, Member] = field(factory=dict)
    mute: set[str] = field(factory=set)
    nearby: Known = field(factory=dict)

    # -- what may belong together --------------------------------------------------------------

    async def read(self, todo: set[str]) -> None:
        """Read what these ids and marks name, and what that has in common with others."""
        seen: set[str] = set()
        for _ in range(HOPS_MAX):
            todo = todo - seen
            if not todo or len(self.members) > MEMBERS_MAX:
                break
            seen |= todo
            todo = await self._members(todo) | await self._rows(todo)

    async def _rows(self, ids: Iterable[str]) -> set[str]:
        """The marks of the rows that answer to these ids."""
        asked = tuple(sorted(id_ for id_ in ids if id_.startswith("inc_")))
        found = await self._all(INCIDENTS, "key", asked)
        new = {row.id: INCIDENTS.decode(row.raw) for row in found if row.id not in self.known}
        self.rows |= {row.id: row for row in found}
        self.known |= new
        told = {id_ for one in new.values() for id_ in one.observation_ids}
        held = sorted(told - self.members.keys())
        await self._events((await self.ctx.tx.documents.get_many(OSINT_EVENTS, held)).values())
        self._items((await self.ctx.tx.documents.get_many(NEWS, held)).values())
        named = (each for one in new.values() for each in one.designators)
        marks = {mark(one.scheme, one.value) for one in named if one.scheme != MACHINE}
        return {id_ for one in new.values() for id_ in one.keys} | marks | self._marks(held)

    async def _members(self, marks: Iterable[str]) -> set[str]:
        """The marks of the members that have these marks."""
        every = tuple(sorted(marks))
        ids = tuple(one for one in every if one.startswith("inc_"))
        if await self._holders(every) > ALIKE_READ:
            marks = [one for one in every if not one.startswith("inc_")]
            self.mute |= {one for one in marks if await self._holders([one]) > ALIKE_READ}
        told = tuple(one for one in every if one not in self.mute)
        await self._events(await self._all(OSINT_EVENTS, "mark", told))
        for name in ("story", "article"):
            self._items(await self._all(NEWS, name, ids))
        reports = by_row((await contributions_of(self.ctx, ids)).values()) if ids else {}
        for row, each in reports.items():
            self._hold(members.of_report(row, each))
        return self._marks(self.members)

    async def _holders(self, marks: Iterable[str]) -> int:
        """How many events have one of these marks, or one more than are read."""
        where = {"mark": tuple(marks)}
        return await self.ctx.tx.documents.count(OSINT_EVENTS, where=where, limit=ALIKE_READ + 1)

    async def _all(
        self, collection: Collection[Any], name: str, values: tuple[str, ...]
    ) -> list[Document[Any]]:
        every = self.ctx.every(collection, MEMBERS_MAX + 1, where={name: values})
        return [row async for row in every] if values else []

    async def _events(self, rows: Iterable[Document[Any]]) -> None:
        new = [OSINT_EVENTS.decode(row.raw) for row in rows if row.id not in self.members]
        read = {one.id: members.mentioned_as(one) for one in new if one.provider == MACHINE}
        told = by_row((await contributions_of(self.ctx, read.values())).values())
        for one in new:
            self._hold(members.of_event(one, told.get(read.get(one.id, ""), ())))

    def _items(self, rows: Iterable[Document[Any]]) -> None:
        for row in rows:
            if row.id not in self.members:
                item = NEWS.decode(row.raw)
                self._hold(members.of_item(item, item.story_id) if item.story_id else None)

    def _hold(self, one: Member | None) -> None:
        self.members |= {one.id: one} if one else {}

    def _marks(self, ids: Iterable[str]) -> set[str]:
        held = (self.members[id_] for id_ in ids if id_ in self.members)
        return {each for one in held for each in (one.home, *one.marks, *one.weak)}

    # -- what is written -----------------------------------------------------------------------

    async def write(self) -> None:
        """Write the incidents that these members make, and what became of the others."""
        groups = grouped(list(self.members.values()), self.mute)
        names = {name_of(group): at for at, group in enumerate(groups)}
        into = {
            id_: names[id_] if id_ in names else survivor(row, groups)
            for id_, row in self.known.items()
        }
        homes = [{one.home for one in group} for group in groups]
        merged = [set(own) for own in homes]
        for id_, at in into.items():
            if at is not None:
                elsewhere = {home for other, own in enumerate(homes) if other != at for home in own}
                merged[at] |= {*self.known[id_].keys} - elsewhere - names.keys()
        for name, at in names.items():
            await self._settle(name, groups[at])
        for name, at in names.items():
            await self._write(name, groups[at], merged[at] - {name})
        for id_, at in into.items():
            if id_ not in names:
                await self._remove(id_, None if at is None else name_of(groups[at]))

    async def _write(self, name: str, group: Sequence[Member], merged: set[str]) -> None:
        stored, known = self.rows.get(name), self.known.get(name)
        near = await related(self.ctx, name, group, self.nearby)
        row, until = folded(
            group, self.ctx.now, known, id=name, merged_ids=tuple(sorted(merged)),
            related_incident_ids=near,
        )  # fmt: skip
        if until is not None:
            await self.ctx.save(INCIDENTS_DUE, name, IncidentDue(name, until))
        if known is not None and says_the_same(row, known):
            return
        before = set() if known is None else set(known.related_incident_ids)
        await queue.note(self.ctx, before ^ set(near))
        if stored is None and any(name in one.merged_ids for one in self.known.values()):
            document = await self.ctx.tx.documents.put(INCIDENTS, name, row)
            await self.ctx.record(INCIDENTS, name, "restored", document.version)
        else:
            await self.ctx.save(INCIDENTS, name, row, before=stored)
        if known is not None:
            await escalate(self.ctx, known, row)

    async def _settle(self, name: str, group: Sequence[Member]) -> None:
        """Have events name the incident that they are part of."""
        events = (one for one in group if one.observed and one.provider != members.PRESS)
        strayed = [one.id for one in events if one.incident_id != name]
        for id_, stored in (await self.ctx.tx.documents.get_many(OSINT_EVENTS, strayed)).items():
            event = OSINT_EVENTS.decode(stored.raw)
            event = revised(event, self.ctx.now, incident_id=name)
            await self.ctx.save(OSINT_EVENTS, id_, event, before=stored)

    async def _remove(self, id_: str, into: str | None) -> None:
        row = self.known[id_]
        await queue.note(self.ctx, row.related_incident_ids)
        if into is None:
            await self.ctx.remove(INCIDENTS, id_)
            return
        await self.ctx.tx.documents.delete(INCIDENTS, id_)
        version = self.rows[id_].version + 1
        await self.ctx.record(INCIDENTS, id_, "merged", version, merged_into_id=into)
