"""Pure rules that join the rows of one company into a timeline, links and an exposure score.

Rule 1: a link's ends are rows of the answer, and its basis is what it was read from.
Rule 2: a temporal link tells how many days lie between two dates and claims no cause; dates that
        lie further apart than its bound are not linked.
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
LAG_MAX = 120  # days of a temporal link, where nothing else is asked for
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
class FusionRows:
    """The rows that a fusion joins, as JSON members.

    `owners` maps a CVE's row id to the reason why it is the company's and how certain that is;
    `lag_max` is how many days a temporal link may be long.
    """

    entity: Row
    window: Interval
    cyber: Row
    market: Row
    news: Sequence[Row] = ()
    owners: Mapping[str, tuple[str, float]] = field(factory=dict)
    lag_max: int = LAG_MAX


# -- times -------------------------------------------------------------------------------------


def instant_of(text: str) -> datetime:
    """A timestamp as an instant; a date is its midnight in UTC."""
    if len(text) == len("2026-01-31"):
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    return instants.parse(text)


def is_in(window: Interval, time: str | None) -> bool:
    """Whether a time is present and lies in the window."""
    return time is not None and window.contains(instant_of(time))


def days_between(first: str, second: str) -> int:
    """The days from one date to another, below 0 where the second came first."""
    return (instant_of(second).date() - instant_of(first).date()).days


# -- the timeline ------------------------------------------------------------------------------


def timeline(rows: FusionRows) -> list[dict[str, Any]]:
    """The events of the window, the earliest first; of too many the latest."""
    cyber, market = rows.cyber, rows.market
    candidates = chain(
        *map(_of_cve, cyber["cves"]),
        *map(_of_market, market["markets"]),
        map(_of_filing, market["filings"]),
        map(_of_financial, market["financials"]),
        (_entry(row["startedAt"], "incident", row) for row in cyber["incidents"]),
        (_entry(row["publishedAt"] or row["updatedAt"], "news", row) for row in rows.news),
    )  # fmt: skip
    events = [event for event in candidates if is_in(rows.window, event["at"])]
    for event in events:
        event["at"] = instants.render(instant_of(event["at"]))
    events.sort(key=lambda event: (instant_of(event["at"]), event["kind"], event["refId"]))
    return events[-TIMELINE_MAX:]


def _entry(
    at: str | None, kind: str, row: Row, title: str | None = None, measure: Row | None = None
) -> dict[str, Any]:
    """One event of the timeline, read from a row; a news item has a single `source`."""
    sources = row["sources"] if "sources" in row else [row["source"]]
    return {
        "at": at, "kind": kind, "refId": row["id"], "title": title or row["title"],
        "measurement": measure, "sourceIds": list(dict.fromkeys(ref["id"] for ref in sources)),
    }  # fmt: skip


def _of_cve(row: Row) -> Iterator[dict[str, Any]]:
    kev, score = row.get("kev"), row["score"] or {}
    title = ": ".join(filter(None, (row["cveId"], row["title"])))
    measure = None
    if score.get("baseScore") is not None:
        basis = f"CVSS {score['version']}"
        measure = _share("baseScore", score["baseScore"], score["provider"], basis)
    listing = [ref for ref in row["sources"] if ref["provider"] == "cisa-kev"]
    rest = [ref for ref in row["sources"] if ref not in listing]
    publishing = {**row, "sources": rest or listing}
    yield _entry(row["publishedAt"], "cvePublished", publishing, title, measure)
    if kev:
        by_catalogue = {**row, "sources": listing or rest}
        yield _entry(kev["dateAdded"], "kevAdded", by_catalogue, kev["name"] or title)


def _of_market(row: Row) -> Iterator[dict[str, Any]]:
    decision, title = (row["resolution"] or {}).get("resolvedAt"), row["question"]
    first = (row["outcomes"] or ({"probability": None},))[0]["probability"]
    share = (
        None if first is None else _share("probability", first, row["provider"], row["priceBasis"])
    )
    yield _entry(row["opensAt"], "marketOpened", row, title)
    kind = "marketResolved" if decision else "marketCloses"
    yield _entry(decision or row["closesAt"], kind, row, title, share)


def _share(metric: str, value: float, provider: str, basis: str | None) -> Row:
    members = {"metric": metric, "value": value, "unit": "1", "provider": provider}
    return members | ({"basis": basis} if basis else {})


def _of_filing(row: Row) -> dict[str, Any]:
    items = f" ({', '.join(row['items'])})" if row["items"] else ""
    return _entry(row["acceptedAt"] or row["filedDate"], "filing", row, row["form"] + items)


def _of_financial(row: Row) -> dict[str, Any]:
    units = {name: row[name] for name in ("unit", "currency") if row[name]}
    measure = {"metric": row["metric"], "value": row["value"], "asOf": row["periodEnd"], **units}
    period = " to ".join(filter(None, (row["periodStart"], row["periodEnd"])))
    title = f"{row['metric']} of {period}"
    return _entry(row["filing"]["filedDate"], "financial", row, title, measure)


# -- links -------------------------------------------------------------------------------------


def fusion_links(rows: FusionRows) -> list[dict[str, Any]]:
    """The links between the rows; of those by dates the nearest `TEMPORAL_MAX`."""
    firm, cyber, owners = rows.entity["id"], rows.cyber, rows.owners
    near = sorted(_temporal(rows), key=lambda link: (abs(link["lagDays"]), link["toId"]))
    return [
        *(_link(firm, id_, "sameEntity", "designator", 1.0) for id_ in rows.entity["mergedIds"]),
        *(_link(firm, row["id"], "vendorOf", *owners[row["id"]])
          for row in cyber["cves"] if row["id"] in owners),
        *(_link(row["id"], firm, "affects", f"takes part as {party['role']}", row["confidence"])
          for row in cyber["incidents"] for party in row["entities"]
          if party["entityId"] == firm and party["role"] in {"target", "victim", "affected"}),
        *(_link(firm, row["id"], "disclosedIn", basis, sure)
          for row in rows.market["filings"] for basis, sure in disclosure(row)),
        *near[:TEMPORAL_MAX],
    ]  # fmt: skip


def disclosure(filing: Row) -> list[tuple[str, float]]:
    """The disclosure of a cyber incident in a filing: its basis and certainty, or nothing."""
    items = set(filing["items"] or ())
    if CYBER_ITEM in items:
        return [(f"{filing['form']} item {CYBER_ITEM}", 1.0)]
    weak, words = sorted(items & WEAK_ITEMS), _CYBER.search(filing["description"] or "")
    if not weak or words is None:
        return []
    return [(f"{filing['form']} item {weak[0]} with {words[0].lower()!r}", WEAK)]


def _temporal(rows: FusionRows) -> Iterator[dict[str, Any]]:
    """Links from the day a vulnerability entered the KEV catalogue to filings and market dates."""
    points = [*_points(rows)]
    for row in rows.cyber["cves"]:
        listing = (row.get("kev") or {}).get("dateAdded")
        if listing is None or not is_in(rows.window, listing) or row["id"] not in rows.owners:
            continue
        certainty = rows.owners[row["id"]][1]
        for id_, source, at, sure in points:
            basis = f"KEV dateAdded to {source}; days between dates, no cause"
            lag = days_between(listing, at)
            if abs(lag) <= rows.lag_max:
                link = _link(row["id"], id_, "temporal", basis, min(sure, certainty))
                yield link | {"lagDays": lag, "maxLagDays": rows.lag_max}


def _points(rows: FusionRows) -> Iterator[tuple[str, str, str, float]]:
    for row in rows.market["filings"]:
        for _, sure in disclosure(row):
            yield row["id"], f"{row['form']} filedDate", row["filedDate"], sure
    for row in rows.market["markets"]:
        decision = (row["resolution"] or {}).get("resolvedAt")
        for name, at in (("opensAt", row["opensAt"]), ("resolvedAt", decision)):
            if is_in(rows.window, at):
                yield row["id"], f"market {name}", str(at), NAME


def _link(from_id: str, to_id: str, type_: str, basis: str, sure: float) -> dict[str, Any]:
    ends = {"fromId": from_id, "toId": to_id, "lagDays": None, "maxLagDays": None}
    return {**ends, "type": type_, "basis": basis, "confidence": sure}


# -- pages ---------------------------------------------------------------------------------------


def fusion_page(fusion: Row, after: str, limit: int) -> tuple[Row, list[str], str | None]:
    """The fusion with one page of its timeline and links, the keys of that page, and its last key.

    The last key is None on the last page. A key depends on its row alone, so that pages join
    while other rows come in.
    """
    rows = {f"0 {row['at']} {row['kind']} {row['refId']}": row for row in fusion["timeline"]}
    for link in fusion["links"]:
        rows[f"1 {sha256(repr(sorted(link.items())).encode()).hexdigest()}"] = link
    keys = sorted(key for key in rows if key > after)
    chunk = keys[:limit]
    parts = {"0": "timeline", "1": "links"}
    page = {name: [rows[key] for key in chunk if key[0] == kind] for kind, name in parts.items()}
    return {**fusion, **page}, chunk, chunk[-1] if len(keys) > len(chunk) else None


# -- exposure ----------------------------------------------------------------------------------


def exposure(
    coverage: Mapping[str, str], cyber: Row, filings: Iterable[Row]
) -> dict[str, Any] | None:
    """The exposure of a company to cyber attacks; None without vulnerabilities or KEV catalogue."""
    if "notLoaded" in (coverage["cve"], coverage["kev"]):
        return None
    certainty = max((sure for row in filings for _, sure in disclosure(row)), default=0.0)
    counts = cyber["kevCount"], cyber["ransomwareCount"], cyber["bySeverity"]["critical"]
    tally = dict(zip(_HALVES, counts, strict=True))
    values = {name: (n, n / (n + _HALVES[name])) for name, n in tally.items()}
    if coverage["epss"] != "notLoaded":
        values["epss"] = (cyber["maxEpss"] or 0.0, cyber["maxEpss"] or 0.0)
    if coverage["filings"] != "notLoaded":
        values["disclosure"] = (certainty, certainty)
    weight = sum(_WEIGHTS[name] for name in values)
    parts = {
        name: {"observed": count, "value": round(value, 6), "weight": _WEIGHTS[name] / weight}
        for name, (count, value) in values.items()
    }
    total = sum(part["weight"] * values[name][1] for name, part in parts.items())
    return {"value": round(min(1.0, total), 6), "method": METHOD, "components": parts}
