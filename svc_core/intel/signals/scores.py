"""Signals of vulnerabilities: what is exploited, critical, or more probable to be."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from svc_core.base.unset import UNSET, Unset
from svc_core.formats.reading.values import moment
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.entities.vulnerability import CVES, Cve
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.kind import Written
from svc_core.intel.linking.references import id_of, of_vendor
from svc_core.intel.signals.detectors import DETECTORS, found, measured, raised
from svc_core.intel.signals.differences import Diff
from svc_core.intel.signals.model import Signal
from svc_core.operation.context import Context

_VENDORS_MAX = 5  # vendors of one vulnerability that are named


# -- vulnerabilities ---------------------------------------------------------------------------


def listed(diff: Diff) -> Iterator[Signal]:
    """What the catalogue of exploited vulnerabilities gained."""
    old, kev = diff.said("kev")
    if kev is None or not diff.has_earlier:
        return
    was_used, is_used = (
        bool(one) and one.get("knownRansomwareCampaignUse") == "Known" for one in (old, kev)
    )
    day = moment(kev["dateAdded"])
    name = diff.told.said["cveId"]
    common: dict[str, Any] = {
        "summary": kev.get("name"),
        "direction": "up",
        "evidence": diff.evidence(1, 0),
        "entities": _whom(name, [kev.get("vendorProject")], day),
    }
    if old is None:
        key, title = f"{name}|{kev['dateAdded']}", f"{name} is known to be exploited"
        common |= {"measure": float(is_used), "tags": ("ransomware",) if is_used else ()}
        yield diff.found("kevAdded", key, title, at=day, **common)
    elif is_used and not was_used:
        title = f"{name} is known to be used by ransomware"
        yield diff.found("kevRansomware", name, title, **common)


def _whom(cve: str, vendors: Iterable[str | None], day: datetime | None) -> tuple[EntityRef, ...]:
    """The vulnerability, and who makes what it is in."""
    whom = [EntityRef(id_of(cve), cve, "subject")]
    for vendor in dict.fromkeys(filter(None, vendors)):
        named = of_vendor(vendor, day and day.date())
        whom += [EntityRef(one, vendor, "vendor") for one in named]
    return tuple(whom[: 1 + _VENDORS_MAX])


def _worst(one: Contribution | None) -> float:
    scores = one.said.get("scores") or () if one else ()
    return max((score["baseScore"] or 0 for score in scores), default=0)


async def critical(ctx: Context, diffs: Sequence[Diff]) -> list[Signal]:
    """What became critical by the score that its row goes by."""
    least = DETECTORS["criticalCve"].numbers["scoreMin"]
    rising = [one for one in diffs if _worst(one.now) >= least > _worst(one.was) and _is_new(one)]
    rows = await ctx.find_many(CVES, [one.told.row for one in rising]) if rising else {}
    signals = []
    for diff in rising:
        cve = rows.get(diff.told.row)
        score = cve and cve.score and cve.score.base_score
        if cve is None or not score or score < least or cve.state != "PUBLISHED":
            continue
        signals.append(
            diff.found(
                "criticalCve",
                cve.cve_id,
                f"{cve.cve_id}: CVSS {score}",
                at=None if diff.was else cve.published_at,
                summary=cve.title or cve.description,
                direction="up",
                measure=score - least,
                evidence=diff.evidence(score, _worst(diff.was), least),
                entities=_whom(cve.cve_id, cve.vendors, cve.published_at),
            )
        )
    return signals


def _is_new(diff: Diff) -> bool:
    """Whether it is a change, or was published lately: a first document has years of them."""
    published = moment(diff.told.said.get("publishedAt"))
    newest = timedelta(days=DETECTORS["criticalCve"].numbers["newDays"])
    return diff.has_earlier or (published is not None and diff.at - published <= newest)


async def follow_scores(ctx: Context, written: Sequence[Written]) -> None:
    """Write the signals of EPSS scores that moved, in whatever order two days were read."""
    signals = [one for row in written if row.after is not None for one in _jump(row)]
    if signals:
        await raised(ctx, signals)


def _jump(row: Written) -> Iterator[Signal]:
    cve: Cve = row.after
    now = cve.epss
    was = UNSET if now is None else now.previous
    if now is None or isinstance(was, Unset) or (row.before and row.before.epss == now):
        return
    numbers = DETECTORS["epssJump"].numbers
    delta = round(now.score - was.score, 6)
    bands = [sum(one.percentile >= band for band in numbers["percentileBands"])
             for one in (was, now)]  # fmt: skip
    if abs(delta) < numbers["deltaMin"] and bands[1] <= bands[0]:
        return
    is_new = was.model_version != now.model_version
    yield found(
        "epssJump",
        f"{cve.cve_id}|{now.score_date}",
        f"{cve.cve_id}: EPSS {was.score:.2f} to {now.score:.2f}",
        now.score_date or cve.updated_at,
        summary="The two scores are of different versions of the model." if is_new else None,
        direction="up" if bands[1] > bands[0] or delta > 0 else "down",
        measure=abs(delta),
        evidence=measured(
            now.score, was.score, was.score_date, now.score_date, threshold=numbers["deltaMin"]
        ),
        tags=("modelChanged",) if is_new else (),
        entities=_whom(cve.cve_id, cve.vendors, now.score_date),
        sources=tuple(one for one in cve.sources if one.provider == "first-epss"),
    )
