"""What rows about one company tell together: a timeline, links, an exposure. Pure.

Rule 1: a link's ends are rows of the answer, and its basis is what it was read from.
Rule 2: a temporal link tells how many days lie between two dates and claims no cause.
Rule 3: more of anything never lowers an exposure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time
from hashlib import sha256
from itertools import chain
from typing import Any

from attrs import field, frozen

from svc_core.base import instants
from svc_core.base.instants import Interval

Row = Mapping[str, Any]

ALIAS, NAME = 0.95, 0.85  # how sure an owner is: by the table of aliases, by its name alone
WEAK = 0.5  # that another item than 1.05, whose words are of cyber, tells of an incident
TEMPORAL_MAX, TIMELINE_MAX = 100, 500
ROWS_MAX = 10_000  # of a page that nobody bounds: all
CAVEAT = (
    "Rows are joined by designators, by names as of a day, and by dates. Links of type temporal "
    "tell the days between two dates and claim no cause. Parts that were not loaded are unknown."
)
METHOD = (
    "svc-exposure 1: the mean of the components that were loaded, by their weights; kev n/(n+3), "
    "ransomware n/(n+1), epss the highest score, critical n/(n+10) of critical vulnerabilities, "
    "disclosure 1 for an 8-K with item 1.05, 0.5 for item 7.01 or 8.01 with words of cyber."
)
CYBER_ITEM, WEAK_ITEMS = "1.05", frozenset({"7.01", "8.01"})

_CYBER = re.compile(
    r"\b(?:cyber\w*|ransomware|malware|data breach\w*|security incident\w*|hack\w*|"
    r"unauthori[sz]ed (?:access|activity|actor)\w*|threat actor\w*)\b",
    re.IGNORECASE,
)
_HALVES = {"kev": 3, "ransomware": 1, "critical": 10}
_WEIGHTS = {"kev": 0.3, "ransomware": 0.2, "epss": 0.2, "critical": 0.15, "disclosure": 0.15}


@frozen
class Loaded:
    """The rows of an answer, as they are answered; `owners` says of a CVE's id how sure it is."""

    entity: Row
    window: Interval
    cyber: Row
    market: Row
    news: Sequence[Row] = ()
    owners: Mapping[str, tuple[str, float]] = field(factory=dict)


# -- times -------------------------------------------------------------------------------------


def moment(told: str) -> datetime:
    """An instant; of a date its midnight in UTC."""
    if len(told) == len("2026-01-31"):
        return datetime.combine(date.fromisoformat(told), time(), UTC)
    return instants.parse(told)


def is_in(window: Interval, told: str | None) -> bool:
    """Whether a time is told and lies in the window."""
    return told is not None and window.contains(moment(told))


def days_between(first: str, second: str) -> int:
    """The days from one date to another, below 0 where the second came first."""
    return (moment(second).date() - moment(first).date()).days


# -- the timeline ------------------------------------------------------------------------------


def timeline(loaded: Loaded) -> list[dict[str, Any]]:
    """What happened in the window, the earliest first; where there is more, the latest of it."""
    cyber, market = loaded.cyber, loaded.market
    told = chain(
        *map(_of_cve, cyber["cves"]),
        *map(_of_market, market["markets"]),
        map(_of_filing, market["filings"]),
        map(_of_financial, market["financials"]),
        (_entry(one["startedAt"] or one["firstSeenAt"], "incident", one)
         for one in cyber["incidents"]),
        (_entry(one["publishedAt"] or one["retrievedAt"], "news", one) for one in loaded.news),
    )  # fmt: skip
    seen = [one for one in told if is_in(loaded.window, one["at"])]
    for one in seen:
        one["at"] = instants.render(moment(one["at"]))
    seen.sort(key=lambda one: (moment(one["at"]), one["kind"], one["refId"]))
    return seen[-TIMELINE_MAX:]


def _entry(
    at: str | None, kind: str, row: Row, title: str | None = None, measured: Row | None = None
) -> dict[str, Any]:
    """Something of a row; `sources` are its own where a news item has one."""
    told = row["sources"] if "sources" in row else [row["source"]]
    return {
        "at": at, "kind": kind, "refId": row["id"], "title": title or row["title"],
        "measurement": measured, "sourceIds": list(dict.fromkeys(one["id"] for one in told)),
    }  # fmt: skip


def _of_cve(row: Row) -> Iterator[dict[str, Any]]:
    kev, score = row.get("kev"), row["score"] or {}
    title = ": ".join(filter(None, (row["cveId"], row["title"])))
    measured = None
    if score.get("baseScore") is not None:
        basis = f"CVSS {score['version']}"
        measured = _share("baseScore", score["baseScore"], score["provider"], basis)
    listing = [one for one in row["sources"] if one["provider"] == "cisa-kev"]
    others = [one for one in row["sources"] if one not in listing]
    publishing = {**row, "sources": others or listing}
    yield _entry(row["publishedAt"], "cvePublished", publishing, title, measured)
    if kev:
        by_catalogue = {**row, "sources": listing or others}
        yield _entry(kev["dateAdded"], "kevAdded", by_catalogue, kev["name"] or title)


def _of_market(row: Row) -> Iterator[dict[str, Any]]:
    resolved, title = (row["resolution"] or {}).get("resolvedAt"), row["question"]
    first = (row["outcomes"] or ({"probability": None},))[0]["probability"]
    share = (
        None if first is None else _share("probability", first, row["provider"], row["priceBasis"])
    )
    yield _entry(row["opensAt"], "marketOpened", row, title)
    kind = "marketResolved" if resolved else "marketCloses"
    yield _entry(resolved or row["closesAt"], kind, row, title, share)


def _share(metric: str, value: float, provider: str, basis: str | None) -> Row:
    told = {"metric": metric, "value": value, "unit": "1", "provider": provider}
    return told | ({"basis": basis} if basis else {})


def _of_filing(row: Row) -> dict[str, Any]:
    items = f" ({', '.join(row['items'])})" if row["items"] else ""
    return _entry(row["acceptedAt"] or row["filedDate"], "filing", row, row["form"] + items)


def _of_financial(row: Row) -> dict[str, Any]:
    units = {name: row[name] for name in ("unit", "currency") if row[name]}
    measured = {"metric": row["metric"], "value": row["value"], "asOf": row["periodEnd"], **units}
    period = " to ".join(filter(None, (row["periodStart"], row["periodEnd"])))
    title = f"{row['metric']} of {period}"
    return _entry(row["filing"]["filedDate"], "financial", row, title, measured)


# -- links -------------------------------------------------------------------------------------


def links(loaded: Loaded) -> list[dict[str, Any]]:
    """What joins the rows, the nearest of those that dates join."""
    me, cyber, owners = loaded.entity["id"], loaded.cyber, loaded.owners
    near = sorted(_temporal(loaded), key=lambda one: (abs(one["lagDays"]), one["toId"]))
    return [
        *(_link(me, id_, "sameEntity", "designator", 1.0) for id_ in loaded.entity["mergedIds"]),
        *(_link(me, row["id"], "vendorOf", *owners[row["id"]])
          for row in cyber["cves"] if row["id"] in owners),
        *(_link(row["id"], me, "affects", f"takes part as {one['role']}", row["confidence"])
          for row in cyber["incidents"] for one in row["entities"]
          if one["entityId"] == me and one["role"] in {"target", "victim", "affected"}),
        *(_link(me, row["id"], "disclosedIn", basis, sure)
          for row in loaded.market["filings"] for basis, sure in disclosure(row)),
        *near[:TEMPORAL_MAX],
    ]  # fmt: skip


def disclosure(filing: Row) -> list[tuple[str, float]]:
    """What a filing discloses of a cyber incident and how sure that is; nothing for others."""
    items = set(filing["items"] or ())
    if CYBER_ITEM in items:
        return [(f"{filing['form']} item {CYBER_ITEM}", 1.0)]
    weak, words = sorted(items & WEAK_ITEMS), _CYBER.search(filing["description"] or "")
    if not weak or words is None:
        return []
    return [(f"{filing['form']} item {weak[0]} with {words[0].lower()!r}", WEAK)]


def _temporal(loaded: Loaded) -> Iterator[dict[str, Any]]:
    """From the day on which the catalogue listed a vulnerability to filings and market points."""
    points = [*_points(loaded)]
    for row in loaded.cyber["cves"]:
        added = (row.get("kev") or {}).get("dateAdded")
        if added is None or not is_in(loaded.window, added) or row["id"] not in loaded.owners:
            continue
        owned = loaded.owners[row["id"]][1]
        for id_, what, at, sure in points:
            basis = f"KEV dateAdded to {what}; days between dates, no cause"
            lag = days_between(added, at)
            yield _link(row["id"], id_, "temporal", basis, min(sure, owned), lag=lag)


def _points(loaded: Loaded) -> Iterator[tuple[str, str, str, float]]:
    for row in loaded.market["filings"]:
        for _, sure in disclosure(row):
            yield row["id"], f"{row['form']} filedDate", row["filedDate"], sure
    for row in loaded.market["markets"]:
        resolved = (row["resolution"] or {}).get("resolvedAt")
        for name, at in (("opensAt", row["opensAt"]), ("resolvedAt", resolved)):
            if is_in(loaded.window, at):
                yield row["id"], f"market {name}", str(at), NAME


def _link(
    from_id: str, to_id: str, type_: str, basis: str, sure: float, *, lag: int | None = None
) -> dict[str, Any]:
    ends = {"fromId": from_id, "toId": to_id}
    return {**ends, "type": type_, "basis": basis, "confidence": sure, "lagDays": lag}


# -- pages ---------------------------------------------------------------------------------------


def page_of(told: Row, after: str, limit: int) -> tuple[Row, list[str], str | None]:
    """What is told, with one page of its timeline and links; their keys, and the key to go on from.

    A key depends on nothing but its row, so that pages join while others come.
    """
    rows = {f"0 {one['at']} {one['kind']} {one['refId']}": one for one in told["timeline"]}
    for one in told["links"]:
        rows[f"1 {sha256(repr(sorted(one.items())).encode()).hexdigest()}"] = one
    left = sorted(key for key in rows if key > after)
    some = left[:limit]
    parts = {"0": "timeline", "1": "links"}
    page = {name: [rows[key] for key in some if key[0] == kind] for kind, name in parts.items()}
    return {**told, **page}, some, some[-1] if len(left) > len(some) else None


# -- exposure ----------------------------------------------------------------------------------


def exposure(
    coverage: Mapping[str, str], cyber: Row, filings: Iterable[Row]
) -> dict[str, Any] | None:
    """How exposed a company is; None where it cannot be told."""
    if "notLoaded" in (coverage["cve"], coverage["kev"]):
        return None
    disclosed = max((sure for row in filings for _, sure in disclosure(row)), default=0.0)
    counts = cyber["kevCount"], cyber["ransomwareCount"], cyber["bySeverity"]["critical"]
    observed = dict(zip(_HALVES, counts, strict=True))
    values = {name: (n, n / (n + _HALVES[name])) for name, n in observed.items()}
    if coverage["epss"] != "notLoaded":
        values["epss"] = (cyber["maxEpss"] or 0.0, cyber["maxEpss"] or 0.0)
    if coverage["filings"] != "notLoaded":
        values["disclosure"] = (disclosed, disclosed)
    whole = sum(_WEIGHTS[name] for name in values)
    parts = {
        name: {"observed": seen, "value": round(value, 6), "weight": _WEIGHTS[name] / whole}
        for name, (seen, value) in values.items()
    }
    total = sum(part["weight"] * values[name][1] for name, part in parts.items())
    return {"value": round(min(1.0, total), 6), "method": METHOD, "components": parts}
