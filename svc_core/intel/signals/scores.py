"""Finds signals about vulnerabilities: newly exploited, critical, or with a jump of their EPSS."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from svc_core.base.unset import Unset
from svc_core.formats.reading.values import moment
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.entities.vulnerability import CVES, Cve, EpssReading
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.kind import RowChange
from svc_core.intel.linking.references import id_of, vendor_references
from svc_core.intel.signals.detectors import (
    DETECTORS,
    signal_evidence,
    signal_id,
    signal_of,
    write_signals,
)
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.source_diffs import Diff
from svc_core.intel.vulnerabilities.rules import assigners, preferred_score
from svc_core.operation.context import Context

_VENDORS_MAX = 5  # vendors of one vulnerability that are named


# -- vulnerabilities ---------------------------------------------------------------------------


def exploitation_signals(diff: Diff) -> Iterator[Signal]:
    """The signals of a vulnerability that was added to the KEV catalogue, or marked there as used
    by ransomware.
    """
    old, kev = diff.pair("kev")
    if kev is None or not (diff.has_earlier or diff.is_late):
        return
    was_used, is_used = (
        bool(entry) and entry.get("knownRansomwareCampaignUse") == "Known" for entry in (old, kev)
    )
    day = moment(kev["dateAdded"])
    name = diff.claim.said["cveId"]
    common: dict[str, Any] = {
        "summary": kev.get("name"),
        "direction": "up",
        "entities": _entities(name, [kev.get("vendorProject")], day),
    }
    is_added = old is None and not diff.is_late
    if day is not None and (is_added or is_used):
        key, title = f"{name}|{kev['dateAdded']}", f"{name} is known to be exploited"
        extras = {"measure": float(is_used), "tags": ("ransomware",) if is_used else ()}
        evidence = signal_evidence(1, 0, day if is_added else None, day)
        yield diff.signal("kevAdded", key, title, evidence=evidence, **common, **extras)
    if is_used and not was_used and not is_added:
        title = f"{name} is known to be used by ransomware"
        yield diff.signal("kevRansomware", name, title, evidence=diff.evidence(1, 0), **common)


def _entities(
    cve: str, vendors: Iterable[str | None], day: datetime | None
) -> tuple[EntityRef, ...]:
    """The references to a vulnerability and to the vendors of the products that it affects."""
    refs = [EntityRef(id_of(cve), cve, "subject")]
    for vendor in dict.fromkeys(filter(None, vendors)):
        makers = vendor_references(vendor, day and day.date())
        refs += [EntityRef(maker, vendor, "vendor") for maker in makers]
    return tuple(refs[: 1 + _VENDORS_MAX])


async def critical_signals(ctx: Context, diffs: Sequence[Diff]) -> list[Signal]:
    """The signals of vulnerabilities whose CVSS score, as a source states it, became critical, or
    was so within `newDays` of its publication. The score of the folded row must be critical, too.
    """
    scored = [diff for diff in diffs if diff.new and diff.claim.resource == "cve"]
    drafts = [(diff.claim.row, _critical(diff)) for diff in scored]
    signals = [(row, signal) for row, signal in drafts if signal is not None]
    rows = await ctx.find_many(CVES, [row for row, _ in signals]) if signals else {}
    return [signal for row, signal in signals if is_critical(rows.get(row))]


def is_critical(cve: Cve | None) -> bool:
    """Whether a vulnerability's score is critical; a rejected one's is not."""
    if cve is None or cve.state != "PUBLISHED" or cve.score is None:
        return False
    least: float = DETECTORS["criticalCve"].numbers["scoreMin"]
    return (cve.score.base_score or 0) >= least


def _critical(diff: Diff) -> Signal | None:
    numbers, members = DETECTORS["criticalCve"].numbers, diff.claim.said
    old, new = (_score(claim) for claim in (diff.old, diff.new))
    least, first_at = numbers["scoreMin"], moment(members.get("publishedAt"))
    newest = timedelta(days=numbers["newDays"])
    is_new = first_at is not None and first_at <= diff.end <= first_at + newest
    if new < least or not (is_new or diff.is_late or (diff.old is not None and old < least)):
        return None
    name = members["cveId"]
    vendors = [product["vendor"] for product in members.get("affected") or ()]
    return diff.signal(
        "criticalCve",
        name,
        f"{name}: CVSS {new}",
        summary=members.get("title") or members.get("description"),
        direction="up",
        measure=new - least,
        evidence=diff.evidence(
            new, None if is_new else old, first_at if is_new else None, threshold=least
        ),
        entities=_entities(name, vendors, first_at),
    )


def _score(claim: Contribution | None) -> float:
    """The score that a source prefers; 0 where it states none."""
    scores = claim.said.get("scores") or () if claim else ()
    score = preferred_score(scores, assigners([claim])) if claim else None
    return float(score["baseScore"] or 0) if score else 0.0


async def follow_scores(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Write the signals of EPSS scores that jumped from one known day to the next, and remove those
    of vulnerabilities that are critical no more.
    """
    signals: list[Signal] = []
    ids: list[str] = []
    for row in rows:
        if row.after is None:  # the words of a removed source remain true of their time
            continue
        if is_critical(row.before) and not is_critical(row.after):
            ids.append(signal_id("criticalCve", row.before.cve_id))
        before, after = _epss_days(row.before), _epss_days(row.after)
        if (before, _vendors(row.before)) == (after, _vendors(row.after)):
            continue
        days = before | after
        for old, new in pairwise(sorted(days)):
            ids.append(signal_id("epssJump", f"{row.after.cve_id}|{new}"))
            signals += _jump(row.after, days[old], (new, days[new]))
    if ids:
        await write_signals(ctx, signals, ids)


def _vendors(cve: Cve | None) -> list[str]:
    return [] if cve is None else list(cve.vendors)


def _epss_days(cve: Cve | None) -> dict[datetime, EpssReading]:
    """The readings of a vulnerability's score of the newest two days, by their days."""
    epss = None if cve is None else cve.epss
    if epss is None:
        return {}
    readings = [epss] if isinstance(epss.previous, Unset) else [epss.previous, epss]
    return {reading.scored_at: reading for reading in readings if reading.scored_at}


def _jump(cve: Cve, old: EpssReading, newest: tuple[datetime, EpssReading]) -> Iterator[Signal]:
    day, new = newest
    numbers = DETECTORS["epssJump"].numbers
    delta = round(new.score - old.score, 6)
    bands = [sum(score.percentile >= band for band in numbers["percentileBands"])
             for score in (old, new)]  # fmt: skip
    is_rise = delta > 0 and bands[1] > bands[0]
    figures = [f"{score.score:.2f}" for score in (old, new)]
    if figures[0] == figures[1] or not (abs(delta) >= numbers["deltaMin"] or is_rise):
        return
    is_new = old.model_version != new.model_version
    yield signal_of(
        "epssJump",
        f"{cve.cve_id}|{day}",
        f"{cve.cve_id}: EPSS {figures[0]} to {figures[1]}",
        signal_evidence(new.score, old.score, old.scored_at, day, threshold=numbers["deltaMin"]),
        summary="The two scores are of different versions of the model." if is_new else None,
        direction="up" if delta > 0 else "down",
        measure=abs(delta),
        tags=("modelChanged",) if is_new else (),
        entities=_entities(cve.cve_id, cve.vendors, day),
        sources=tuple(source for source in cve.sources if source.provider == "first-epss"),
    )
