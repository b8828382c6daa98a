"""Companies, their filings and figures, and who consolidates whom: SEC, GLEIF."""

import json
from datetime import date

import pytest

from svc_core.formats.companies.fiscal import FiscalYears, month_count
from svc_core.formats.companies.sec_companyfacts import FILINGS_MAX
from svc_core.formats.companies.xbrl import split_unit
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.values import country_named
from svc_core.formats.table import FORMATS, read_document


def test_a_fact_has_so_many_filings_and_no_more() -> None:
    span = {"start": "2024-01-01", "end": "2024-12-31", "filed": "2025-02-01"}
    fact = {**span, "val": 5, "fy": 2024, "fp": "FY", "form": "10-K"}
    facts = [fact | {"accn": f"0000000001-25-{row:06}"} for row in range(FILINGS_MAX + 2)]
    concepts = {"Revenues": {"label": None, "units": {"USD": facts}}}
    content = {"cik": "1", "entityName": "Quay Inc.", "facts": {"us-gaap": concepts}}
    document = read_document(
        Body(json.dumps(content).encode()), FORMATS["sec-companyfacts"], Origin()
    )
    assert len(document.records) == FILINGS_MAX + 1  # and the company
    assert [(rejection.reason, rejection.count) for rejection in document.rejections] == [
        (f"is reported by more than {FILINGS_MAX} filings", 2)
    ]


@pytest.mark.parametrize(
    ("unit", "currency", "ucum"),
    [
        ("USD", "USD", None),
        ("EUR/shares", "EUR", "{share}-1"),
        ("shares", None, "{share}"),
        ("pure", None, "1"),
        ("Year", None, "a"),
        ("BOE", None, "{BOE}"),
        ("MW/Year", None, "{MW}.a-1"),
    ],
)
def test_a_unit_is_of_ucum_or_a_currency(unit: str, currency: str | None, ucum: str | None) -> None:
    assert split_unit(unit) == {"currency": currency, "unit": ucum}


def test_how_long_quarters_of_weeks_and_of_months_are() -> None:
    days = {84: 3, 91: 3, 98: 3, 182: 6, 273: 9, 364: 12, 371: 12, 112: None, 30: None, 730: None}
    assert {item: month_count(item) for item in days} == days


WEEKS = [(date(2016, 1, 2), 2015), (date(2016, 12, 31), 2016), (date(2017, 12, 30), 2017)]
RETAIL = [(date(2024, 2, 3), 2023), (date(2025, 2, 1), 2024)]
MOVED_YEAR_END = [(date(2022, 6, 30), 2022), (date(2023, 12, 31), 2023)]
RENAMED_YEARS = [
    *[(date(year, 1, 28), year - 1) for year in (2017, 2018, 2019)],
    (date(2020, 6, 30), 2020),
    (date(2021, 6, 30), 2021),
]
STRAY = [(date(2021, 12, 31), 2021), (date(2022, 3, 31), 2022), (date(2022, 12, 31), 2022)]


@pytest.mark.parametrize(
    ("ends", "start", "end", "year", "period"),
    [
        (WEEKS, "2016-01-03", "2016-12-31", 2016, "FY"),
        (WEEKS, "2015-01-04", "2016-01-02", 2015, "FY"),  # ends in January, and is of 2015
        (WEEKS, "2017-10-01", "2017-12-30", 2017, "Q4"),
        (WEEKS, "2018-01-01", "2018-03-31", 2018, "Q1"),  # after the last year reported
        (WEEKS, "2013-12-29", "2014-06-28", 2014, "H1"),  # before the first
        (RETAIL, "2024-08-04", "2024-11-02", 2024, "Q3"),
        (RETAIL, "2024-02-04", "2024-11-02", 2024, "M9"),
        (RETAIL, None, "2025-02-01", 2024, "FY"),
        (RETAIL, None, "2025-03-14", 2025, None),  # the day of a cover page ends no quarter
        (RETAIL, "2024-02-04", "2025-01-04", 2024, None),  # eleven months are no period
        (MOVED_YEAR_END, "2022-04-01", "2022-06-30", 2022, "Q4"),  # by the year ends of its time
        (MOVED_YEAR_END, "2023-04-01", "2023-06-30", 2023, "Q2"),
        (MOVED_YEAR_END, "2022-07-01", "2022-12-31", None, None),  # a transition period
        (MOVED_YEAR_END, "2022-07-01", "2022-09-30", None, None),
        (MOVED_YEAR_END, None, "2022-12-31", None, None),
        (MOVED_YEAR_END, "2023-01-01", "2023-12-31", 2023, "FY"),
        (MOVED_YEAR_END, "2024-01-01", "2024-12-31", 2024, "FY"),
        (RENAMED_YEARS, "2018-01-29", "2019-01-28", 2018, "FY"),  # named after the year it began in
        (RENAMED_YEARS, "2019-01-29", "2019-06-30", None, None),
        (RENAMED_YEARS, "2019-07-01", "2020-06-30", 2020, "FY"),  # and after the one it ended in
        (RENAMED_YEARS, "2019-07-01", "2019-09-30", 2020, "Q1"),
        (STRAY, "2022-04-01", "2022-06-30", 2022, "Q2"),  # twelve months that were no year
        (STRAY, "2022-01-01", "2022-03-31", 2022, "Q1"),
        ([], "2024-01-01", "2024-03-31", None, None),
        ([(date(2024, 12, 31), None)], "2024-01-01", "2024-12-31", None, None),
    ],
)
def test_the_fiscal_period_is_that_of_the_dates(
    ends: list[tuple[date, int | None]],
    start: str | None,
    end: str,
    year: int | None,
    period: str | None,
) -> None:
    first = date.fromisoformat(start) if start else None
    actual = FiscalYears(ends).period_of(first, date.fromisoformat(end))
    assert actual == {"fiscalYear": year, "fiscalPeriod": period}


def test_a_country_is_known_by_its_name() -> None:
    names = {"Korea, Republic of": "KR", "United  Kingdom": "GB", "Atlantis": None, None: None}
    assert {name: country_named(name) for name in names} == names
