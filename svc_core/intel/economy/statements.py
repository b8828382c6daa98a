"""Facts of financial reports in the order in which they were filed.

Rule 1: rows of one fact that state a metric follow each other whatever their concepts are; those
        that state none follow each other by concept. Each supersedes the one filed before it, also
        where it says the same again; it is restated where its value is another.
Rule 2: what follows what is a pure function of the rows that there are, so the order of documents
        does not matter, and what a source takes back leaves the rows as if it had never been.
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
from svc_core.operation.members import revised
from svc_core.operation.ports import Document

KEPT = ("restated", "supersedesId", "supersededById", "supersededDate", "repeatedDate")
"""Members that no source says."""

FACTS_AT_ONCE = 100
ROWS_SCANNED = 1_000
"""Rows that stand to each other: a company files a fact some dozen times, and these take 50 ms."""

Pair = tuple[Document[Any] | None, Any]


# -- members -----------------------------------------------------------------------------------


def observed(members: dict[str, Any], _: Sequence[Contribution]) -> dict[str, Any]:
    """The members of the row of one fact."""
    entity, concept = id_of(members["entity"]), members["concept"]
    name = f"{concept['taxonomy']}:{concept['name']}"
    base = (entity, xbrl.metrics().get(name, name), members.get("currency"), members.get("unit"))
    fact = (*base, members.get("periodStart"), members["periodEnd"])
    return members | {"entityId": entity, "fact": "|".join(part or "" for part in fact)}


def filed(members: dict[str, Any], _: Sequence[Contribution]) -> dict[str, Any] | None:
    """The members of the row of one filing; None where nobody says whose it is."""
    if members.get("entity") is None:
        return None
    return members | {"entityId": id_of(members["entity"])}


# -- what supersedes what ----------------------------------------------------------------------


def succession(rows: Iterable[StoredObservation]) -> Iterator[StoredObservation]:
    """The rows of one fact as they stand to each other, in the order of filing."""
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
    """For each row the one before it that has its name."""
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
    """How far behind the best concept of its metric each is."""
    return {name: rank for rank, name in enumerate(xbrl.metrics())}


def _place(row: StoredObservation) -> tuple[date, bool, str, int]:
    """By the day of filing; amendments come last, and of one filing the best concept."""
    filing = row.filing
    is_amended = (filing.form or "").endswith("/A")
    rank = _ranks().get(row.concept_name, 0)
    return _filing_day(row) or date.min, is_amended, filing.accession, -rank


# -- in the store ------------------------------------------------------------------------------


async def settled(ctx: Context, pairs: Mapping[str, Pair]) -> dict[str, StoredObservation]:
    """Rows that are about to be written, as they stand to each other and to those that are stored.

    Each is given as it is stored and as it is to be, None where it is to be removed. What changes
    of others by it is written.
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
                newer = revised(row, ctx.now)
                await ctx.tx.documents.put(OBSERVATIONS, row.id, newer)
    return rows


async def _stored_rows(ctx: Context, facts: Sequence[str]) -> list[StoredObservation]:
    batches = (
        facts[start : start + FACTS_AT_ONCE] for start in range(0, len(facts), FACTS_AT_ONCE)
    )
    return [row for batch in batches for row in await _scan_facts(ctx, batch)]


async def _scan_facts(ctx: Context, facts: Sequence[str]) -> list[StoredObservation]:
    """The rows of these facts; of one that was filed thousands of times, not all."""
    filters = {"fact": tuple(facts)}
    page = await ctx.tx.documents.scan(OBSERVATIONS, where=filters, limit=ROWS_SCANNED)
    if page.more and len(facts) > 1:
        return [row for fact in facts for row in await _scan_facts(ctx, (fact,))]
    return [OBSERVATIONS.decode(row.raw) for row in page.rows]
