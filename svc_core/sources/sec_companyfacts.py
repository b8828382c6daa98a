"""What one company reported to the SEC in XBRL, fact by fact and filing by filing.

A window: what a filing said stays said, and the answer for one concept of a company has the same
form. `fy` and `fp` describe the filing; the fiscal period of a fact is told from its dates. Which
fact supersedes which is for the fold to say. Of the concepts of one metric, the best that a filing
has states it.
"""

from collections.abc import Callable
from datetime import date, datetime
from functools import cache, partial
from typing import Any

from attrs import Factory, frozen

from svc_core.sources import sec, xbrl
from svc_core.sources.body import Body
from svc_core.sources.fiscal import FiscalYears, annual_ends, months
from svc_core.sources.model import About, Given, Record, Told, Unusable, declared
from svc_core.sources.values import day, midnight, number, records, required, text

Fact = dict[str, Any]

_FILING = ("accn", "form", "filed", "fy", "fp")


@frozen
class Company:
    """The company of a document, and what many of its facts repeat.

    `period` is told by the start and the end of a fact, `filing` by its members of `_FILING`;
    `stated` are the series that state the metrics.
    """

    cik: str
    period: Callable[..., dict[str, Any]]
    filing: Callable[..., tuple[dict[str, Any], datetime | None]]
    stated: dict[tuple[Any, ...], str] = Factory(dict)


def _recognise(body: Body) -> bool:
    return body.has("cik", "facts") or body.has("cik", "taxonomy", "tag", "units")


def _parse(body: Body, _: Given) -> Told:
    told = body.whole_json()
    cik = sec.company(told["cik"])
    taxonomies = told["facts"] if "facts" in told else {told["taxonomy"]: {told["tag"]: told}}
    all_series = list(xbrl.series(taxonomies))
    facts = [fact for one in all_series for fact in one.facts if isinstance(fact, dict)]
    yield About(stamp=sec.latest(fact.get("filed") for fact in facts))
    yield sec.entity(cik, {"name": text(told.get("entityName"))})
    period = cache(partial(_period, FiscalYears(annual_ends(facts))))
    company = Company(cik, period, cache(partial(_filing, cik)))
    for one in all_series:
        yield from records(one.facts, partial(_record, company, one), lambda fact: fact["accn"])


def _record(company: Company, series: xbrl.Series, fact: Fact) -> Record:
    period = company.period(fact.get("start") or None, fact["end"])
    filing, filed = company.filing(*map(fact.get, _FILING))
    accession, value = filing["accession"], xbrl.exact(fact["val"])
    start, end = period["periodStart"], period["periodEnd"]
    statement = (series.metric, series.said["currency"], start, end, accession)
    best = company.stated.setdefault(statement, series.key)  # its series comes first
    said = {
        "entity": f"cik:{company.cik}",
        **series.said,
        "value": value,
        "metric": series.metric if best == series.key else None,
        **period,
        "filing": filing,
        "frame": text(fact.get("frame")),
    }
    key = f"{company.cik}|{series.key}|{start or ''}|{end}|{accession}"
    return Record("financialObservation", key, said, filed, (), accession, filing["url"], filed)


def _period(years: FiscalYears, start: str | None, end: str) -> dict[str, Any]:
    first, last = date.fromisoformat(start) if start else None, date.fromisoformat(end)
    if first and first > last:
        raise Unusable("ends before it begins")
    return {
        "periodType": "duration" if first else "instant",
        "periodStart": first and first.isoformat(),
        "periodEnd": last.isoformat(),
        "periodMonths": first and months((last - first).days + 1),
        **years.of(first, last),
    }


def _filing(cik: str, *told: Any) -> tuple[dict[str, Any], datetime | None]:
    accession, form, filed, year, period = told
    known = required(text(accession), "accn")
    said = {
        "accession": known,
        "form": text(form),
        "filedDate": day(filed),
        "fiscalYear": number(year),
        "fiscalPeriod": text(period),
        "url": sec.filing_page(cik, known),
    }
    return said, midnight(filed)


SEC_COMPANYFACTS = declared("sec-companyfacts", _recognise, _parse)
