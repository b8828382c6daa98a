"""What one company reported to the SEC in XBRL, fact by fact and filing by filing.

A window: what a filing said stays said, and the answer for one concept of a company has the same
form. `fy` and `fp` describe the filing; the fiscal period of a fact is told from its dates. Which
fact supersedes which is for the fold to say. Of the concepts of one metric, the best that a filing
has states it.
"""

from datetime import date, datetime
from functools import partial
from typing import Any

from attrs import Factory, frozen

from svc_core.sources import sec, xbrl
from svc_core.sources.body import Body
from svc_core.sources.fiscal import FiscalYears, annual_ends, months
from svc_core.sources.model import About, Format, Given, Record, Told, Unusable
from svc_core.sources.values import day, midnight, moment, number, records, required, text

Fact = dict[str, Any]


@frozen
class Company:
    """The company of a document, and what many of its facts repeat."""

    cik: str
    years: FiscalYears
    periods: dict[tuple[Any, Any], dict[str, Any]] = Factory(dict)
    filings: dict[tuple[Any, ...], tuple[dict[str, Any], datetime | None]] = Factory(dict)
    stated: dict[tuple[Any, ...], str] = Factory(dict)


def _parse(body: Body, _: Given) -> Told:
    told = body.whole_json()
    cik = sec.company(told["cik"])
    taxonomies = told["facts"] if "facts" in told else {told["taxonomy"]: {told["tag"]: told}}
    all_series = list(xbrl.series(taxonomies))
    facts = [fact for one in all_series for fact in one.facts if isinstance(fact, dict)]
    filed = {str(fact.get("filed")) for fact in facts}
    yield About(stamp=max(filter(None, map(moment, filed)), default=None))
    said = {"type": "company", "name": text(told.get("entityName"))}
    yield sec.entity(cik, said | {"designators": sec.names(cik, [])})
    company = Company(cik, FiscalYears(annual_ends(facts)))
    for one in all_series:
        yield from records(one.facts, partial(_record, company, one), lambda fact: fact["accn"])


def _record(company: Company, series: xbrl.Series, fact: Fact) -> Record:
    start, end = fact.get("start"), fact["end"]
    period = company.periods.get((start, end)) or _period(company, start, end)
    filing, filed = company.filings.get(_filing_key(fact)) or _filing(company, fact)
    accession = filing["accession"]
    statement = (series.metric, series.said["currency"], start, end, accession)
    is_best = company.stated.setdefault(statement, series.key) == series.key
    return Record(
        "financialObservation",
        f"{company.cik}|{series.key}|{start or ''}|{end}|{accession}",
        {
            "entity": f"cik:{company.cik}",
            **series.said,
            "metric": series.metric if is_best else None,
            "value": _value(fact["val"]),
            **period,
            "filing": filing,
            "frame": text(fact.get("frame")),
        },
        stamp=filed,
        record_id=accession,
        url=filing["url"],
        published_at=filed,
    )


def _value(told: object) -> int | float:
    """The exact number; one with a fraction of nought is whole."""
    value = required(number(told), "a value")
    return required(number(int(value)), "") if value == int(value) else value


def _period(company: Company, start: Any, end: Any) -> dict[str, Any]:
    first = date.fromisoformat(start) if start else None
    last = date.fromisoformat(end)
    if first is not None and first > last:
        raise Unusable("ends before it begins")
    found = company.periods[start, end] = {
        "periodType": "duration" if first else "instant",
        "periodStart": first and first.isoformat(),
        "periodEnd": last.isoformat(),
        "periodMonths": months((last - first).days + 1) if first else None,
        **company.years.of(first, last),
    }
    return found


def _filing_key(fact: Fact) -> tuple[Any, ...]:
    return fact["accn"], fact.get("form"), fact.get("filed"), fact.get("fy"), fact.get("fp")


def _filing(company: Company, fact: Fact) -> tuple[dict[str, Any], datetime | None]:
    accession = required(text(fact["accn"]), "accn")
    told = {
        "accession": accession,
        "form": text(fact.get("form")),
        "filedDate": day(fact.get("filed")),
        "fiscalYear": number(fact.get("fy")),
        "fiscalPeriod": text(fact.get("fp")),
        "url": sec.filing_page(company.cik, accession),
    }
    found = company.filings[_filing_key(fact)] = (told, midnight(fact.get("filed")))
    return found


SEC_COMPANYFACTS = Format(
    id="sec-companyfacts",
    title="SEC company facts (XBRL)",
    kind="window",
    provider="sec",
    brings=("entity", "financialObservation"),
    recognise=lambda body: body.has("cik", "facts") or body.has("cik", "taxonomy", "tag", "units"),
    parse=_parse,
    cadence_seconds=86_400,
    license=sec.LICENSE,
    attribution=sec.ATTRIBUTION,
)
