"""Decides which reported value of a financial fact supersedes which, by the order of filing.

A fact is one quantity of one company in one period, such as the net income of 2023. Several
filings report it, and later ones may correct it.

Rule 1: rows of one fact that state a metric form one succession whatever their concepts are; rows
        that state none form one per concept. Each row supersedes the one filed before it, also
        where it repeats the value; from the first differing value on, rows count as restated.
Rule 2: the succession is a pure function of the rows that exist. So the order in which documents
        arrive does not matter, and a withdrawn row leaves the others as if it had never existed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any

import attrs

from svc_core.formats.companies import xbrl
from svc_core.intel.economy.statement import OBSERVATIONS, StoredObservation
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.linking.references import id_of
from svc_core.operation.context import Context
from svc_core.operation.members import next_revision
from svc_core.operation.ports import StoredRow

DERIVED_MEMBERS = ("restated", "supersedesId", "supersededById", "supersededDate", "repeatedDate")
"""Members of a row that follow from other rows of its fact, so that no source states them."""

FACTS_AT_ONCE = 100
ROWS_SCANNED = 1_000
"""Rows of one batch of facts: a company files a fact some dozen times, and 1,000 take 50 ms."""

Pair = tuple[StoredRow[Any] | None, Any]


# -- members -----------------------------------------------------------------------------------


def observation_members(members: dict[str, Any], _: Sequence[Contribution]) -> dict[str, Any]:
    """The members of the row of one reported fact, with its entity and the key of its fact."""
    entity, concept = id_of(members["entity"]), members["concept"]
    name = f"{concept['taxonomy']}:{concept['name']}"
    base = (entity, xbrl.metrics().get(name, name), members.get("currency"), members.get("unit"))
    fact = (*base, members.get("periodStart"), members["periodEnd"])
    return members | {"entityId": entity, "fact": "|".join(part or "" for part in fact)}


def filing_members(members: dict[str, Any], _: Sequence[Contribution]) -> dict[str, Any] | None:
    """The members of the row of one filing; None where no source states whose filing it is."""
    if members.get("entity") is None:
        return None
    return members | {"entityId": id_of(members["entity"])}


# -- what supersedes what ----------------------------------------------------------------------


def succession(rows: Iterable[StoredObservation]) -> Iterator[StoredObservation]:
    """The rows of one fact in the order of filing, each with what it supersedes and what it is
    superseded by.
    """
    history = sorted(rows, key=_place)
    lines = [row.metric or row.concept_name for row in history]
    before, after = _predecessors(history, lines), _predecessors(history[::-1], lines[::-1])[::-1]
    names = [row.concept_name for row in history]
    repeats = _predecessors(history[::-1], names[::-1])[::-1]
    restatements: dict[str, bool] = {}
    for row, earlier, later, repeat in zip(history, before, after, repeats, strict=True):
        is_other = earlier is not None and (restatements[earlier.id] or earlier.value != row.value)
        restatements[row.id] = is_other
        yield attrs.evolve(
            row,
            restated=is_other,
            supersedes_id=_id(earlier),
            superseded_by_id=_id(later),
            superseded_date=_filing_day(later),
            repeated_date=_filing_day(repeat),
        )


def _predecessors(
    rows: Sequence[StoredObservation], names: Sequence[str]
) -> list[StoredObservation | None]:
    """For each row the nearest row before it that has the same name, else None."""
    last: dict[str, StoredObservation] = {}
    predecessors = []
    for row, name in zip(rows, names, strict=True):
        predecessors.append(last.get(name))
        last[name] = row
    return predecessors


def _id(row: StoredObservation | None) -> str | None:
    return None if row is None else row.id


def _filing_day(row: StoredObservation | None) -> date | None:
    return None if row is None else row.filing.filed_date or date.min


@cache
def _ranks() -> Mapping[str, int]:
    """The rank of each concept in the table of metrics; the preferred concept comes first."""
    return {name: rank for rank, name in enumerate(xbrl.metrics())}


def _place(row: StoredObservation) -> tuple[date, bool, str, int, str]:
    """A sort key by filing day: amendments after originals, the preferred concept last."""
    filing = row.filing
    is_amended = (filing.form or "").endswith("/A")
    rank = _ranks().get(row.concept_name, 0)
    return _filing_day(row) or date.min, is_amended, filing.accession, -rank, row.id


# -- in the store ------------------------------------------------------------------------------


async def settle_succession(
    ctx: Context, pairs: Mapping[str, Pair]
) -> dict[str, StoredObservation]:
    """The rows that are about to be written, with their place in the succession of their fact.

    `pairs` holds, by row id, the stored document (None for a new row) and the row to write (None
    for one to remove). Other stored rows whose place changes by that are written here.
    """
    groups: dict[str, list[StoredObservation]] = defaultdict(list)
    for before, value in pairs.values():
        row = value or OBSERVATIONS.decode(before.raw)  # type: ignore[union-attr]  # one is there
        groups[row.fact] += [] if value is None else [row]
    for row in await _stored_rows(ctx, sorted(groups)):
        if row.id not in pairs:
            groups[row.fact].append(row)
    rows: dict[str, StoredObservation] = {}
    for group in groups.values():
        by_id = {row.id: row for row in group}
        for row in succession(group):
            if row.id in pairs:
                rows[row.id] = row
            elif row != by_id[row.id]:
                newer = next_revision(row, ctx.now)
                await ctx.tx.documents.put(OBSERVATIONS, row.id, newer)
    return rows


async def _stored_rows(ctx: Context, facts: Sequence[str]) -> list[StoredObservation]:
    batches = (
        facts[start : start + FACTS_AT_ONCE] for start in range(0, len(facts), FACTS_AT_ONCE)
    )
    return [row for batch in batches for row in await _scan_facts(ctx, batch)]


async def _scan_facts(ctx: Context, facts: Sequence[str]) -> list[StoredObservation]:
    """The stored rows of these facts, at most `ROWS_SCANNED` of a single fact."""
    filters = {"fact": tuple(facts)}
    page = await ctx.tx.documents.scan(OBSERVATIONS, where=filters, limit=ROWS_SCANNED)
    if page.has_more and len(facts) > 1:
        return [row for fact in facts for row in await _scan_facts(ctx, (fact,))]
    return [OBSERVATIONS.decode(row.raw) for row in page.rows]
