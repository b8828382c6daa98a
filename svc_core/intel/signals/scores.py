"""Finds signals about vulnerabilities: newly exploited, critical, or with a jump of their EPSS."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from svc_core.base.unset import UNSET, Unset
from svc_core.formats.reading.values import moment
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.entities.vulnerability import CVES, Cve
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.kind import RowChange
from svc_core.intel.linking.references import id_of, vendor_references
from svc_core.intel.signals.detectors import DETECTORS, signal_evidence, signal_of, write_signals
from svc_core.intel.signals.model import Signal
from svc_core.intel.signals.source_diffs import Diff
from svc_core.operation.context import Context

_VENDORS_MAX = 5  # vendors of one vulnerability that are named


# -- vulnerabilities ---------------------------------------------------------------------------


def exploitation_signals(diff: Diff) -> Iterator[Signal]:
    """The signals of a vulnerability that was added to the KEV catalogue, or marked there as used
    by ransomware.
    """
    old, kev = diff.pair("kev")
    if kev is None or not diff.has_earlier:
        return
    was_used, is_used = (
        bool(entry) and entry.get("knownRansomwareCampaignUse") == "Known" for entry in (old, kev)
    )
    day = moment(kev["dateAdded"])
    name = diff.claim.said["cveId"]
    common: dict[str, Any] = {
        "summary": kev.get("name"),
        "direction": "up",
        "evidence": diff.evidence(1, 0),
        "entities": _entities(name, [kev.get("vendorProject")], day),
    }
    if old is None:
        key, title = f"{name}|{kev['dateAdded']}", f"{name} is known to be exploited"
        common |= {"measure": float(is_used), "tags": ("ransomware",) if is_used else ()}
        yield diff.signal("kevAdded", key, title, at=day, **common)
    elif is_used and not was_used:
        title = f"{name} is known to be used by ransomware"
        yield diff.signal("kevRansomware", name, title, **common)


def _entities(
    cve: str, vendors: Iterable[str | None], day: datetime | None
) -> tuple[EntityRef, ...]:
    """The references to a vulnerability and to the vendors of the products that it affects."""
    refs = [EntityRef(id_of(cve), cve, "subject")]
    for vendor in dict.fromkeys(filter(None, vendors)):
        makers = vendor_references(vendor, day and day.date())
        refs += [EntityRef(maker, vendor, "vendor") for maker in makers]
    return tuple(refs[: 1 + _VENDORS_MAX])


def _top(claim: Contribution | None) -> float:
    scores = claim.said.get("scores") or () if claim else ()
    return max((score["baseScore"] or 0 for score in scores), default=0)


async def critical_signals(ctx: Context, diffs: Sequence[Diff]) -> list[Signal]:
    """The signals of vulnerabilities whose CVSS score in the folded row became critical."""
    least = DETECTORS["criticalCve"].numbers["scoreMin"]
    rising = [diff for diff in diffs if _top(diff.new) >= least > _top(diff.old) and _is_new(diff)]
    rows = await ctx.find_many(CVES, [diff.claim.row for diff in rising]) if rising else {}
    signals = []
    for diff in rising:
        cve = rows.get(diff.claim.row)
        score = cve and cve.score and cve.score.base_score
        if cve is None or not score or score < least or cve.state != "PUBLISHED":
            continue
        signals.append(
            diff.signal(
                "criticalCve",
                cve.cve_id,
                f"{cve.cve_id}: CVSS {score}",
                at=None if diff.old else cve.published_at,
                summary=cve.title or cve.description,
                direction="up",
                measure=score - least,
                evidence=diff.evidence(score, _top(diff.old), least),
                entities=_entities(cve.cve_id, cve.vendors, cve.published_at),
            )
        )
    return signals


def _is_new(diff: Diff) -> bool:
    """Whether a statement is a real change or about a recent publication.

    The first document of a source has vulnerabilities of many years, which are not news.
    """
    date = moment(diff.claim.said.get("publishedAt"))
    newest = timedelta(days=DETECTORS["criticalCve"].numbers["newDays"])
    return diff.has_earlier or (date is not None and diff.at - date <= newest)


async def follow_scores(ctx: Context, rows: Sequence[RowChange]) -> None:
    """Write the signals of EPSS scores that jumped, whichever of two days was read first."""
    signals = [signal for row in rows if row.after is not None for signal in _jump(row)]
    if signals:
        await write_signals(ctx, signals)


def _jump(row: RowChange) -> Iterator[Signal]:
    cve: Cve = row.after
    new = cve.epss
    old = UNSET if new is None else new.previous
    if new is None or isinstance(old, Unset) or (row.before and row.before.epss == new):
        return
    numbers = DETECTORS["epssJump"].numbers
    delta = round(new.score - old.score, 6)
    bands = [sum(score.percentile >= band for band in numbers["percentileBands"])
             for score in (old, new)]  # fmt: skip
    if abs(delta) < numbers["deltaMin"] and bands[1] <= bands[0]:
        return
    is_new = old.model_version != new.model_version
    yield signal_of(
        "epssJump",
        f"{cve.cve_id}|{new.score_date}",
        f"{cve.cve_id}: EPSS {old.score:.2f} to {new.score:.2f}",
        new.scored_at or cve.updated_at,
        summary="The two scores are of different versions of the model." if is_new else None,
        direction="up" if bands[1] > bands[0] or delta > 0 else "down",
        measure=abs(delta),
        evidence=signal_evidence(
            new.score, old.score, old.scored_at, new.scored_at, threshold=numbers["deltaMin"]
        ),
        tags=("modelChanged",) if is_new else (),
        entities=_entities(cve.cve_id, cve.vendors, new.scored_at),
        sources=tuple(source for source in cve.sources if source.provider == "first-epss"),
    )
