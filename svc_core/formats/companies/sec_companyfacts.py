"""Parses the facts that one company reported to the SEC in XBRL, filing by filing.

A window: what a filing said stays said, and the answer for one concept of a company has the same
form. `fy` and `fp` describe the filing; the fiscal period of a fact follows from its dates. Which
fact supersedes which is decided later, when rows are folded.

A filing states a metric by one concept: of those with its latest period of that length, the best.
Another concept of it states a period only where it is no wider or narrower one (equity with the
shares of others, of older years), the best that this filing has of the period, and where no filing
by then stated the period by its own one.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import cache, partial
from typing import Any

from attrs import Factory, frozen

from svc_core.formats.companies import sec, xbrl
from svc_core.formats.companies.fiscal import FiscalYears, annual_ends, month_count
from svc_core.formats.model import FAULTS, Contents, Metadata, Origin, Record, RecordRefused
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import day, midnight, number, record_list, require, text_member

Fact = dict[str, Any]

FILINGS_MAX = 100
"""The filings that may report one fact: a dozen usually do, and all are compared with each."""

_NEVER = "9999"  # later than every day
_FILING = ("accn", "form", "filed", "fy", "fp")


@frozen
class Company:
    """The company of a document, with caches of what its many facts repeat.

    `period` takes the start and the end of a fact, `filing` its members of `_FILING`. `states` says
    whether a series states its metric by a fact, `filings` counts the filings of each fact.
    """

    cik: str
    period: Callable[..., dict[str, Any]]
    filing: Callable[..., tuple[dict[str, Any], datetime | None]]
    states: Callable[[xbrl.Series, Fact], bool]
    filings: Counter[Any] = Factory(Counter)


def _recognise(body: Body) -> bool:
    return body.has("cik", "facts") or body.has("cik", "taxonomy", "tag", "units")


def _parse(body: Body, _: Origin) -> Contents:
    reply = body.whole_json()
    cik = sec.require_cik(reply["cik"])
    taxonomies = reply["facts"] if "facts" in reply else {reply["taxonomy"]: {reply["tag"]: reply}}
    all_series = list(xbrl.metric_series(taxonomies))
    facts = [fact for series in all_series for fact in series.facts if isinstance(fact, dict)]
    yield Metadata(stamp=sec.latest(fact.get("filed") for fact in facts))
    yield sec.filer(cik, {"name": text_member(reply.get("entityName"))})
    period = cache(partial(_period, FiscalYears(annual_ends(facts))))
    states = _Statements(period, all_series).holds
    filer = Company(cik, period, cache(partial(_filing, cik)), states)
    for series in all_series:
        yield from record_list(
            series.facts, partial(_record, filer, series), lambda fact: fact["accn"]
        )


def _record(company: Company, series: xbrl.Series, fact: Fact) -> Record:
    period = company.period(fact.get("start") or None, fact["end"])
    filing, stamp = company.filing(*map(fact.get, _FILING))
    accession, value = filing["accession"], xbrl.exact(fact["val"])
    start, end = period["periodStart"], period["periodEnd"]
    company.filings[series.key, start, end] += 1
    if company.filings[series.key, start, end] > FILINGS_MAX:
        raise RecordRefused(f"is reported by more than {FILINGS_MAX} filings")
    members = {
        "entity": f"cik:{company.cik}",
        **series.members,
        "value": value,
        "metric": series.metric if company.states(series, fact) else None,
        **period,
        "filing": filing,
        "frame": text_member(fact.get("frame")),
    }
    key = f"{company.cik}|{series.key}|{start or ''}|{end}|{accession}"
    return Record("financialObservation", key, members, stamp, (), accession, filing["url"], stamp)


class _Statements:
    """Decides which series of a filing states a metric; better series of a metric come first."""

    def __init__(
        self, period: Callable[..., dict[str, Any]], all_series: Sequence[xbrl.Series]
    ) -> None:
        self._period = period
        self._main: dict[Any, tuple[str, str]] = {}
        self._best: dict[Any, str] = {}
        self._since: dict[Any, str] = {}
        statements = list(self._stated_facts(all_series))
        for key, (length, period_key, filing), fact in statements:
            self._best.setdefault((period_key, filing), key)
            if fact["end"] > self._main.get((length, filing), ("", ""))[0]:
                self._main[length, filing] = (fact["end"], key)
        for key, (length, period_key, filing), fact in statements:
            if self._main[length, filing][1] == key:
                filed_on = str(fact.get("filed"))
                self._since[period_key] = min(self._since.get(period_key, filed_on), filed_on)

    def _stated_facts(self, all_series: Sequence[xbrl.Series]) -> Iterator[tuple[str, Any, Fact]]:
        for series in all_series:
            for fact in series.facts if series.metric else ():
                with suppress(RecordRefused, *FAULTS):  # such a fact is rejected in its turn
                    xbrl.exact(fact["val"])
                    yield series.key, self._statement_keys(series, fact), fact

    def holds(self, series: xbrl.Series, fact: Fact) -> bool:
        """Whether the series states its metric by this fact, which is one of its own."""
        if series.metric is None:
            return False
        length, period_key, filing = self._statement_keys(series, fact)
        if self._main[length, filing][1] == series.key:
            return True
        is_known = self._since.get(period_key, _NEVER) <= str(fact.get("filed"))
        if is_known or series.is_substitute:
            return False
        return self._best[period_key, filing] == series.key

    def _statement_keys(self, series: xbrl.Series, fact: Fact) -> tuple[Any, Any, Any]:
        """Keys of a fact: metric and length, metric and period, filing."""
        start, end = fact.get("start") or None, fact["end"]
        measure = (series.metric, series.members["currency"], series.members["unit"])
        period = self._period(start, end)
        length = (*measure, period["periodType"], period["periodMonths"])
        return length, (*measure, start, end), str(fact["accn"])


def _period(years: FiscalYears, start: str | None, end: str) -> dict[str, Any]:
    first, last = date.fromisoformat(start) if start else None, date.fromisoformat(end)
    if first and first > last:
        raise RecordRefused("ends before it begins")
    return {
        "periodType": "duration" if first else "instant",
        "periodStart": first and first.isoformat(),
        "periodEnd": last.isoformat(),
        "periodMonths": first and month_count((last - first).days + 1),
        **years.period_of(first, last),
    }


def _filing(cik: str, *cells: Any) -> tuple[dict[str, Any], datetime | None]:
    accession, form, filed_on, year, period = cells
    filing_id = require(text_member(accession), "accn")
    members = {
        "accession": filing_id,
        "form": text_member(form),
        "filedDate": day(filed_on),
        "fiscalYear": number(year),
        "fiscalPeriod": text_member(period),
        "url": sec.filing_page(cik, filing_id),
    }
    return members, midnight(filed_on)


SEC_COMPANYFACTS = make_format("sec-companyfacts", _recognise, _parse)
