"""Signals of what changed between two documents, found where it is written.

Rule 1: a change is what a source says beside what it said before. The first document that a source
        ever brought is no change; what a source that is removed brought is no withdrawal.
Rule 2: nothing is looked at twice: the work is that of the rows that were written.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from attrs import frozen

from svc_core.analysis.deviation import moved, thinned
from svc_core.intake.contributions import Contribution
from svc_core.intake.detectors import DETECTORS, Finding, raised, source_of
from svc_core.intake.written import Written
from svc_core.linking.references import id_of, of_text, of_vendor
from svc_core.operation import Context
from svc_core.resources.cve import CVES, Cve
from svc_core.resources.entity import EntityRef
from svc_core.resources.facts import SEVERITIES
from svc_core.resources.incident import Incident
from svc_core.resources.members import micros
from svc_core.resources.news import SOURCES, Source
from svc_core.resources.signal import (
    MARKET_POINTS,
    MarketPoints,
    SignalEvidence,
    SignalWindow,
)
from svc_core.sources.values import moment
from svc_core.unset import UNSET, Unset

_VENDORS_MAX = 5  # vendors of one vulnerability that are named


@frozen
class Diff:
    """What a source says of a row `now`, and what it said before; None where it says nothing."""

    was: Contribution | None
    now: Contribution | None
    source: Source
    at: datetime

    @property
    def has_earlier(self) -> bool:
        """Whether the source had brought a whole document before."""
        return self.source.health.last_success_at is not None

    @property
    def told(self) -> Contribution:
        """What is said, or was said last."""
        one = self.now or self.was
        if one is None:
            raise AssertionError("a change has two sides, one of which is something")
        return one

    @property
    def stamp(self) -> datetime:
        """When it changed, by the source's own word, else now."""
        return (self.now and self.now.stamp) or self.at

    def said(self, name: str) -> tuple[Any, Any]:
        """A member as it was and as it is."""
        was, now = (one and one.said.get(name) for one in (self.was, self.now))
        return was, now

    def evidence(self, observed: float, baseline: float, threshold: float | None = None) -> Any:
        """What was measured, over the time between the two documents."""
        before = self.source.stamp or self.source.health.last_success_at
        window = SignalWindow(before and min(before, self.stamp), self.stamp)
        return SignalEvidence(observed, baseline, window=window, threshold=threshold)


async def follow(
    ctx: Context, before: Mapping[str, Contribution], after: Mapping[str, Contribution]
) -> None:
    """Write the signals of contributions that were `before` and are `after`."""
    diffs = await _diffs(ctx, before, after)
    found = [finding for one in diffs for finding in _DETECTED[one.told.resource](one)]
    for resource, look in (("cve", _critical), ("market", _moves)):
        some = [one for one in diffs if one.now is not None and one.told.resource == resource]
        found += await look(ctx, some) if some else ()
    if found:
        await raised(ctx, found)


async def _diffs(
    ctx: Context, before: Mapping[str, Contribution], after: Mapping[str, Contribution]
) -> list[Diff]:
    every = {**before, **after}
    ids = [id_ for id_, one in every.items() if one.resource in _DETECTED]
    sources = await ctx.find_many(SOURCES, {every[id_].source for id_ in ids}) if ids else {}
    diffs = []
    for id_ in ids:
        was, now = (_standing(side.get(id_)) for side in (before, after))
        source = sources.get(every[id_].source)
        if source is not None and (was or now):
            diffs.append(Diff(was, now, source, ctx.now))
    return diffs


def _standing(one: Contribution | None) -> Contribution | None:
    return None if one is None or one.gone else one


# -- vulnerabilities ---------------------------------------------------------------------------


def _vulnerability(diff: Diff) -> Iterator[Finding]:
    old, kev = diff.said("kev")
    if kev is None or not diff.has_earlier:
        return
    uses = [bool(one) and one.get("knownRansomwareCampaignUse") == "Known" for one in (old, kev)]
    day = moment(kev["dateAdded"])
    name = diff.told.said["cveId"]
    common: dict[str, Any] = {
        "summary": kev.get("name"),
        "direction": "up",
        "entities": _whom(name, [kev.get("vendorProject")], day),
        "sources": (source_of(diff.told),),
    }
    if old is None:
        yield Finding(
            type="kevAdded",
            key=f"{name}|{kev['dateAdded']}",
            title=f"{name} is known to be exploited",
            measure=float(uses[1]),
            evidence=diff.evidence(1, 0),
            detected_at=day or diff.stamp,
            tags=("ransomware",) if uses[1] else (),
            **common,
        )
    elif uses == [False, True]:
        yield Finding(
            type="kevRansomware",
            key=name,
            title=f"{name} is known to be used by ransomware",
            measure=1,
            evidence=diff.evidence(1, 0),
            detected_at=diff.stamp,
            **common,
        )


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


async def _critical(ctx: Context, diffs: Sequence[Diff]) -> list[Finding]:
    """What became critical by the score that its row goes by."""
    least = DETECTORS["criticalCve"].numbers["scoreMin"]
    rising = [one for one in diffs if _worst(one.now) >= least > _worst(one.was) and _is_new(one)]
    rows = await ctx.find_many(CVES, [one.told.row for one in rising]) if rising else {}
    found = []
    for diff in rising:
        cve = rows.get(diff.told.row)
        score = cve and cve.score and cve.score.base_score
        if cve is None or not score or score < least or cve.state != "PUBLISHED":
            continue
        found.append(
            Finding(
                type="criticalCve",
                key=cve.cve_id,
                title=f"{cve.cve_id}: CVSS {score}",
                summary=cve.title or cve.description,
                direction="up",
                measure=score - least,
                evidence=diff.evidence(score, _worst(diff.was), least),
                detected_at=(None if diff.was else cve.published_at) or diff.stamp,
                entities=_whom(cve.cve_id, cve.vendors, cve.published_at),
                sources=(source_of(diff.told),),
            )
        )
    return found


def _is_new(diff: Diff) -> bool:
    """Whether it is a change, or was published lately: a first document has years of them."""
    published = moment(diff.told.said.get("publishedAt"))
    newest = timedelta(days=DETECTORS["criticalCve"].numbers["newDays"])
    return diff.has_earlier or (published is not None and diff.at - published <= newest)


# -- sanctions ---------------------------------------------------------------------------------

_ENTRY = ("authority", "listName", "programId")


def _sanctions(diff: Diff) -> Iterator[Finding]:
    was, now = map(_active, diff.said("sanctions"))
    told = diff.told
    if not diff.has_earlier or was.keys() == now.keys():
        return
    for type_, gained, side, word in (
        ("sanctionListed", now.keys() - was.keys(), now, "listed"),
        ("sanctionDelisted", was.keys() - now.keys(), was, "delisted"),
    ):
        if not gained:
            continue
        entries = [side[one] for one in sorted(gained)]
        dates = sorted(filter(None, (one.get("listedDate") for one in entries)))
        since = moment(dates[-1]) if dates and type_ == "sanctionListed" else None
        name = told.said.get("name") or told.key
        lists = sorted({one.get("listName") or one.get("authority") or "" for one in entries})
        reference = told.names[0] if told.names else told.row
        yield Finding(
            type=type_,  # type: ignore[arg-type]  # one of the two above
            key="|".join([told.key, *map(" ".join, sorted(gained)), *dates[-1:]]),
            title=f"{name} is {word}: {', '.join(filter(None, lists))}",
            summary=next(filter(None, (one.get("reason") for one in entries)), None),
            direction="up" if word == "listed" else "down",
            measure=1,
            evidence=diff.evidence(len(now), len(was)),
            detected_at=since or diff.stamp,
            entities=(EntityRef(reference, name, "target"),),
            sources=(source_of(told),),
        )


def _active(entries: Sequence[Mapping[str, Any]] | None) -> dict[tuple[str, ...], Any]:
    active = [one for one in entries or () if one.get("status") != "delisted"]
    return {tuple(one.get(name) or "" for name in _ENTRY): one for one in active}


# -- filings -----------------------------------------------------------------------------------


def _filing(diff: Diff) -> Iterator[Finding]:
    item = DETECTORS["filing8k105"].numbers["item"]
    had, has = (item in (told or ()) for told in diff.said("items"))
    said = diff.told.said
    if had or not has or not str(said.get("form")).startswith("8-K"):
        return
    filed = moment(said.get("acceptedAt") or said.get("filedDate"))
    yield Finding(
        type="filing8k105",
        key=diff.told.key,
        title=f"{said['form']} with item {item}: material cybersecurity incident",
        summary=f"Filed by CIK {said.get('cik')}, accession {said.get('accession')}.",
        direction="up",
        measure=1,
        evidence=SignalEvidence(1, 0, window=SignalWindow(None, filed)),
        detected_at=filed or diff.stamp,
        entities=(EntityRef(id_of(said["entity"]), f"CIK {said.get('cik')}", "subject"),),
        observation_ids=(diff.told.row,),
        sources=(source_of(diff.told),),
    )


# -- markets -----------------------------------------------------------------------------------


async def _moves(ctx: Context, diffs: Sequence[Diff]) -> list[Finding]:
    """What moved, and the points of each market as they are then."""
    known = await ctx.find_many(MARKET_POINTS, [one.told.row for one in diffs])
    found: list[Finding] = []
    for diff in diffs:
        row = diff.told.row
        before = known.get(row) or MarketPoints(row, None)
        price = _price(diff.told.said, before.label)
        if price is None:
            continue
        label, share = price
        at = micros(diff.stamp)
        points = before.points if label == before.label else ()
        found += _move(diff, label, _prevailing(points, diff), (at, share))
        after = MarketPoints(row, label, thinned(points, (at, share)))
        if after != before:
            await ctx.save(MARKET_POINTS, row, after)
            known[row] = after
    return found


def _price(said: Mapping[str, Any], label: str | None) -> tuple[str, float] | None:
    """The outcome whose probability is followed, the first unless one was followed before."""
    shares: dict[str, float] = {
        one["label"]: one["probability"]
        for one in said.get("outcomes") or ()
        if one.get("label") is not None and one.get("probability") is not None
    }
    if said.get("status") != "open" or not shares:
        return None
    name = label if label is not None and label in shares else next(iter(shares))
    return name, shares[name]


def _prevailing(points: tuple[tuple[int, float], ...], diff: Diff) -> tuple[tuple[int, float], ...]:
    """The points, and the last one once more for when its source was read last, unchanged."""
    read_at = diff.source.health.last_success_at
    if not points or read_at is None or not points[-1][0] < micros(read_at) < micros(diff.stamp):
        return points
    return (*points, (micros(read_at), points[-1][1]))


def _move(
    diff: Diff, label: str, points: Sequence[tuple[int, float]], last: tuple[int, float]
) -> Iterator[Finding]:
    numbers = DETECTORS["marketMove"].numbers
    said, row = diff.told.said, diff.told.row
    amounts = ((said.get(name) or {}).get("value") for name in ("volume24h", "volume"))
    volume = next((one for one in amounts if one is not None), 0)
    first = moved(points, last, timedelta(hours=numbers["windowHours"]))
    if first is None or volume < numbers["volumeMin"]:
        return
    delta = round(last[1] - first[1], 6)
    if abs(delta) < numbers["deltaMin"]:
        return
    direction = "up" if delta > 0 else "down"
    start = diff.stamp - timedelta(microseconds=last[0] - first[0])
    yield Finding(
        type="marketMove",
        key=f"{row}|{direction}|{diff.stamp:%Y-%m-%d}",
        title=f"{said['question']} {label}: {first[1]:.0%} to {last[1]:.0%}",
        direction=direction,  # type: ignore[arg-type]  # one of the two above
        measure=abs(delta),
        evidence=SignalEvidence(
            last[1], first[1], window=SignalWindow(start, diff.stamp), threshold=numbers["deltaMin"]
        ),
        detected_at=diff.stamp,
        entities=tuple(
            EntityRef(reference, name, "mentioned")
            for reference, name in of_text(said["question"], diff.stamp.date()).items()
        ),
        market_ids=(row,),
        sources=(source_of(diff.told),),
    )


_DETECTED: Mapping[str, Callable[[Diff], Iterable[Finding]]] = {
    "cve": _vulnerability,
    "entity": _sanctions,
    "filing": _filing,
    "market": lambda _: (),
}
"""By the kind of row; markets are looked at with the points that they had."""


# -- rows --------------------------------------------------------------------------------------


async def follow_scores(ctx: Context, written: Sequence[Written]) -> None:
    """Write the signals of EPSS scores that moved, in whatever order two days were read."""
    found = [one for row in written if row.after is not None for one in _jump(row)]
    if found:
        await raised(ctx, found)


def _jump(row: Written) -> Iterator[Finding]:
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
    yield Finding(
        type="epssJump",
        key=f"{cve.cve_id}|{now.score_date}",
        title=f"{cve.cve_id}: EPSS {was.score:.2f} to {now.score:.2f}",
        summary="The two scores are of different versions of the model." if is_new else None,
        direction="up" if bands[1] > bands[0] or delta > 0 else "down",
        measure=abs(delta),
        evidence=SignalEvidence(
            now.score,
            was.score,
            window=SignalWindow(was.score_date, now.score_date),
            threshold=numbers["deltaMin"],
        ),
        detected_at=now.score_date or cve.updated_at,
        tags=("modelChanged",) if is_new else (),
        entities=_whom(cve.cve_id, cve.vendors, now.score_date),
        sources=tuple(one for one in cve.sources if one.provider == "first-epss"),
    )


async def follow_severity(ctx: Context, was: Incident, now: Incident) -> None:
    """Write the signal of an incident that became graver by the scale that it was judged by."""
    old, new = was.severity_basis, now.severity_basis
    grave = SEVERITIES.index(now.severity)
    if old is None or new is None or (old.provider, old.scale) != (new.provider, new.scale):
        return
    if grave <= SEVERITIES.index(was.severity):
        return
    found = Finding(
        type="escalation",
        key=f"{now.id}|{now.severity}",
        title=f"{was.severity} to {now.severity}: {now.title}",
        direction="up",
        measure=grave,
        evidence=SignalEvidence(
            grave, SEVERITIES.index(was.severity), None, SignalWindow(was.last_seen_at, ctx.now)
        ),
        detected_at=ctx.now,
        entities=tuple(
            EntityRef(one.reference, one.name, one.role)
            for one in now.entities
            if not isinstance(one.reference, Unset)
        ),
        incident_ids=(now.id,),
        place=now.place,
        sources=now.sources,
        source_count=now.source_count,
    )
    await raised(ctx, [found])
