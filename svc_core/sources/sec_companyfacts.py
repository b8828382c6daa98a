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
from svc_core.sources.model import About, Given, Record, Told, Unusable
from svc_core.sources.values import day, midnight, number, records, required, text

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
    yield About(stamp=sec.latest(fact.get("filed") for fact in facts))
    said = {"type": "company", "name": text(told.get("entityName"))}
    yield sec.entity(cik, said | {"designators": sec.names(cik, [])})
    company = Company(cik, FiscalYears(annual_ends(facts)))
    for one in all_series:
        yield from records(one.facts, partial(_record, company, one), lambda fact: fact["accn"])


def _record(company: Company, series: xbrl.Series, fact: Fact) -> Record:
    period, (filing, filed) = _period(company, fact), _filing(company, fact)
    accession, ends = filing["accession"], (period["periodStart"], period["periodEnd"])
    stated = company.stated.setdefault  # the best concept comes first
    statement = (series.metric, series.said["currency"], *ends, accession)
    return Record(
        "financialObservation",
        f"{company.cik}|{series.key}|{ends[0] or ''}|{ends[1]}|{accession}",
        {
            "entity": f"cik:{company.cik}",
            **series.said,
            "value": xbrl.exact(fact["val"]),
            "metric": series.metric if series.key == stated(statement, series.key) else None,
            **period,
            "filing": filing,
            "frame": text(fact.get("frame")),
        },
        stamp=filed,
        record_id=accession,
        url=filing["url"],
        published_at=filed,
    )


def _period(company: Company, fact: Fact) -> dict[str, Any]:
    start, end = stated = fact.get("start") or None, fact["end"]
    if stated not in company.periods:
        first, last = start and date.fromisoformat(start), date.fromisoformat(end)
        if first is not None and first > last:
            raise Unusable("ends before it begins")
        company.periods[stated] = {
            "periodType": "duration" if first else "instant",
            "periodStart": first and first.isoformat(),
            "periodEnd": last.isoformat(),
            "periodMonths": months((last - first).days + 1) if first else None,
            **company.years.of(first, last),
        }
    return company.periods[stated]


def _filing(company: Company, fact: Fact) -> tuple[dict[str, Any], datetime | None]:
    accession, *about = stated = tuple(map(fact.get, ("accn", "form", "filed", "fy", "fp")))
    if stated not in company.filings:
        number_ = required(text(accession), "accn")
        form, filed, year, period = about
        told = {
            "accession": number_,
            "form": text(form),
            "filedDate": day(filed),
            "fiscalYear": number(year),
            "fiscalPeriod": text(period),
            "url": sec.filing_page(company.cik, number_),
        }
        company.filings[stated] = (told, midnight(filed))
    return company.filings[stated]


SEC_COMPANYFACTS = sec.sec_format(
    id="sec-companyfacts",
    title="SEC company facts (XBRL)",
    kind="window",
    brings=("entity", "financialObservation"),
    recognise=lambda body: body.has("cik", "facts") or body.has("cik", "taxonomy", "tag", "units"),
    parse=_parse,
    cadence_seconds=86_400,
)
