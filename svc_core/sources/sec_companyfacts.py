"""What one company reported to the SEC in XBRL, fact by fact and filing by filing.

A window: what a filing said stays said, and the answer for one concept of a company has the same
form. `fy` and `fp` describe the filing; the fiscal period of a fact is told from its dates. Which
fact supersedes which is for the fold to say. Of the concepts of one metric, the best that a filing
has states it.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from typing import Any

from attrs import Factory, frozen

from svc_core.sources import sec, xbrl
from svc_core.sources.body import Body
from svc_core.sources.fiscal import FiscalYears, months
from svc_core.sources.model import About, Format, Given, Record, Told, Unusable
from svc_core.sources.values import day, midnight, number, records, required, text

ANNUAL_FORMS = ("10-K", "20-F", "40-F")
YEAR_DAYS = range(350, 381)  # 52 or 53 weeks, or a calendar year

Fact = dict[str, Any]


@frozen
class Series:
    """The facts of one concept in one unit, and what they all say."""

    key: str
    metric: str | None
    said: dict[str, Any]
    facts: list[Fact]


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
    all_series = list(_series(cik, told))
    facts = [fact for one in all_series for fact in one.facts if isinstance(fact, dict)]
    yield About(stamp=midnight(max((str(fact.get("filed") or "") for fact in facts), default="")))
    said = {"type": "company", "name": text(told.get("entityName"))}
    yield sec.entity(cik, said | {"designators": sec.names(cik, [])})
    company = Company(cik, FiscalYears(_year_ends(facts)))
    for one in all_series:
        yield from records(one.facts, partial(_record, company, one), lambda fact: fact["accn"])


def _series(cik: str, told: dict[str, Any]) -> Iterator[Series]:
    """All series, those of the better concepts of a metric first."""
    taxonomies = told["facts"] if "facts" in told else {told["taxonomy"]: {told["tag"]: told}}
    concepts = {
        f"{taxonomy}:{name}": ({"taxonomy": taxonomy, "name": name}, about)
        for taxonomy, all_concepts in taxonomies.items()
        for name, about in all_concepts.items()
    }
    ranked = [name for name in xbrl.metrics() if name in concepts]
    for name in dict.fromkeys([*ranked, *concepts]):
        concept, about = concepts[name]
        concept["label"] = text(about.get("label"))
        for unit, facts in about["units"].items():
            said = {"entity": f"cik:{cik}", "concept": concept} | xbrl.measured_in(unit)
            key = f"{cik}|{name.replace(':', '|', 1)}|{unit}"
            yield Series(key, xbrl.metrics().get(name), said, facts)


def _year_ends(facts: list[Fact]) -> Iterator[tuple[date, int | None]]:
    """The ends of the years that annual reports are about, with the reports' names for them."""
    latest: dict[str, tuple[date, int | None]] = {}
    for fact in facts:
        if fact.get("fp") != "FY" or not str(fact.get("form")).startswith(ANNUAL_FORMS):
            continue
        with suppress(KeyError, TypeError, ValueError):  # such a fact is rejected in its turn
            end = date.fromisoformat(fact["end"])
            is_year = (end - date.fromisoformat(fact["start"])).days in YEAR_DAYS
            if is_year and end > latest.get(fact["accn"], (date.min,))[0]:
                latest[fact["accn"]] = (end, fact["fy"])
    return iter(latest.values())


def _record(company: Company, series: Series, fact: Fact) -> Record:
    start, end = fact.get("start"), fact["end"]
    period = company.periods.get((start, end)) or _period(company, start, end)
    filing, filed = company.filings.get(_filing_key(fact)) or _filing(company, fact)
    accession = filing["accession"]
    statement = (series.metric, series.said["currency"], start, end, accession)
    is_best = company.stated.setdefault(statement, series.key) == series.key
    return Record(
        "financialObservation",
        f"{series.key}|{start or ''}|{end}|{accession}",
        {
            **series.said,
            "metric": series.metric if is_best else None,
            "value": _value(fact["val"]),
            **period,
            "filing": filing,
            "frame": fact.get("frame"),
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
