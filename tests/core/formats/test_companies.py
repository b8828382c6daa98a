"""Companies, their filings and figures, and who consolidates whom: SEC, GLEIF."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.companies.fiscal import FiscalYears, month_count
from svc_core.formats.companies.sec_companyfacts import FILINGS_MAX
from svc_core.formats.companies.xbrl import split_unit
from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.values import country_named
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format

APPLE, MICROSOFT = "HWUPKR0MPOU8FGXBT394", "INR2EJN1ERAN0W5ZP974"
ACCESSION = "0000320193-19-000119"
Json = dict[str, Any]


def document(text: object, name: str = "", **options: str) -> Document:
    raw = text if isinstance(text, bytes) else json.dumps(text).encode()
    body = Body(raw)
    return read_document(body, recognise_format(body), Origin(options=options, name=name))


def only(content: object, **extra: str) -> Record:
    records = document(content, **extra).records
    assert len(records) == 1
    return records[0]


def reasons(content: object) -> list[tuple[str, int]]:
    return [(rejection.reason, rejection.count) for rejection in document(content).rejections]


# -- real documents ----------------------------------------------------------------------------

COUNTS: list[tuple[str, str, str, Json]] = [
    ("sec_edgar", "company_tickers.json", "sec-tickers", {"entity": 7919}),
    (
        "sec_edgar",
        "companyfacts_CIK0000320193.json",
        "sec-companyfacts",
        {"entity": 1, "financialObservation": 24579},
    ),
    (
        "sec_edgar",
        "companyfacts_CIK0001997711.json",
        "sec-companyfacts",
        {"entity": 1, "financialObservation": 768},
    ),
    (
        "sec_edgar",
        "submissions_CIK0000320193.json",
        "sec-submissions",
        {"entity": 1, "filing": 1005},
    ),
    (
        "gleif_api",
        "direct-children_529900GRZ2BQY5ZM9N49.json",
        "gleif",
        {"entity": 12, "relation": 12},
    ),
    ("gleif_api", "isins_21380068P1DRHMJ8KU70.json", "gleif", {"entity": 1}),
    ("gleif_api", f"single_lei_record_{MICROSOFT}.json", "gleif", {"entity": 1}),
    ("gleif_xml", "lei-data.xml", "lei-cdf", {"entity": 13}),
]


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize(("folder", "file", "format_id", "counts"), COUNTS)
def test_every_row_of_a_real_document_comes_in(
    folder: str,
    file: str,
    format_id: str,
    counts: Json,
    real_documents: Callable[[str], list[Path]],
) -> None:
    path = next(path for path in real_documents(folder) if path.name == file)
    body = Body(path.read_bytes())
    assert [format_.id for format_ in FORMATS.values() if format_.recognise(body)] == [format_id]
    document = read_document(body, FORMATS[format_id], Origin(name=file))
    assert Counter(record.resource for record in document.records) == counts
    assert document.rejections == ()


CIK = "0000320193"
VALUES: list[tuple[str, str, str, Json]] = [
    (
        "company_tickers.json",
        "cik:0000310522",
        "the mortgage bank with sixteen tickers",
        {"name": "FEDERAL NATIONAL MORTGAGE ASSOCIATION FANNIE MAE"},
    ),
    (
        f"companyfacts_CIK{CIK}.json",
        f"{CIK}|us-gaap|Revenues|USD|2018-07-01|2018-09-29|0000320193-18-000145",
        "a quarter in an annual report, which calls all its facts FY",
        {
            "metric": "revenue",
            "value": 62900000000,
            "currency": "USD",
            "unit": None,
            "periodType": "duration",
            "periodMonths": 3,
            "fiscalYear": 2018,
            "fiscalPeriod": "Q4",
            "frame": "CY2018Q3",
        },
    ),
    (
        f"companyfacts_CIK{CIK}.json",
        f"{CIK}|us-gaap|EarningsPerShareDiluted|USD/shares|2018-09-30|2019-09-28|{ACCESSION}",
        "a fact that a later split restated",
        {
            "metric": "epsDiluted",
            "value": 11.89,
            "currency": "USD",
            "unit": "{share}-1",
            "fiscalYear": 2019,
            "filing": {
                "accession": ACCESSION,
                "form": "10-K",
                "filedDate": "2019-10-31",
                "fiscalYear": 2019,
                "fiscalPeriod": "FY",
                "url": "https://www.sec.gov/Archives/edgar/data/320193/"
                f"000032019319000119/{ACCESSION}-index.htm",
            },
        },
    ),
    (
        f"companyfacts_CIK{CIK}.json",
        f"{CIK}|us-gaap|SalesRevenueNet|USD|2006-10-01|2007-09-29|0001193125-09-214859",
        "the concept of revenue of its time",
        {"metric": "revenue", "value": 24006000000, "fiscalYear": 2007, "fiscalPeriod": "FY"},
    ),
    (
        f"companyfacts_CIK{CIK}.json",
        f"{CIK}|dei|EntityPublicFloat|USD||2009-03-28|0001193125-09-153165",
        "an instant",
        {
            "metric": None,
            "periodType": "instant",
            "periodStart": None,
            "periodMonths": None,
            "fiscalYear": 2009,
            "fiscalPeriod": "Q2",
        },
    ),
    (
        "companyfacts_CIK0001997711.json",
        "0001997711|ifrs-full|ProfitLoss|USD|2021-01-01|2021-12-31|0001493152-24-016772",
        "IFRS, and a CIK written as text",
        {"entity": "cik:0001997711", "value": 8669385, "fiscalYear": 2021, "frame": "CY2021"},
    ),
    (
        f"submissions_CIK{CIK}.json",
        f"cik:{CIK}",
        "a state of the US is no country, and old names are aliases",
        {
            "name": "Apple Inc.",
            "aliases": ["APPLE INC", "APPLE COMPUTER INC", "APPLE COMPUTER INC/ FA"],
            "jurisdiction": "US-CA",
            "countryCodes": ["US"],
            "industry": {"scheme": "SIC", "code": "3571", "label": "Electronic Computers"},
            "listings": [{"ticker": "AAPL", "exchangeName": "Nasdaq", "mic": "XNAS"}],
        },
    ),
    (
        f"submissions_CIK{CIK}.json",
        f"{CIK}|0000320193-25-000079",
        "a filing without items",
        {
            "form": "10-K",
            "filedDate": "2025-10-31",
            "reportDate": "2025-09-27",
            "acceptedAt": "2025-10-31T06:01:26Z",
            "items": [],
            "url": "https://www.sec.gov/Archives/edgar/data/320193/"
            "000032019325000079/aapl-20250927.htm",
        },
    ),
    (
        f"submissions_CIK{CIK}.json",
        f"{CIK}|0001140361-26-006577",
        "a filing with two",
        {"form": "8-K", "items": ["5.07", "9.01"]},
    ),
    (
        "single_lei_record_254900LNRYNOQ9YPU758.json",
        "lei:254900LNRYNOQ9YPU758",
        "previous legal names",
        {
            "aliases": [
                "AMAZON VIDEO LIMITED",
                "AMAZON INSTANT VIDEO LIMITED",
                "LOVEFILM UK LIMITED",
                "LOVEFILM LIMITED",
            ],
            "jurisdiction": "GB",
            "status": "active",
        },
    ),
    (
        f"single_lei_record_{MICROSOFT}.json",
        f"lei:{MICROSOFT}",
        "a state as jurisdiction, and a bank code",
        {
            "type": "company",
            "name": "MICROSOFT CORPORATION",
            "jurisdiction": "US-WA",
            "countryCodes": ["US"],
            "validity": {"from": "1993-09-22", "to": None},
            "designators": [
                {"scheme": "lei", "value": MICROSOFT, "provider": "gleif"},
                {"scheme": "bic", "value": "MSFTUS66XXX", "provider": "gleif"},
            ],
        },
    ),
    (
        "direct-children_529900GRZ2BQY5ZM9N49.json",
        "subsidiaryOf|lei:5299008URSKZ33TATT80|lei:529900GRZ2BQY5ZM9N49",
        "the parent stands in the address of the answer",
        {"directed": True, "attributes": {"level": "direct", "status": "active"}},
    ),
    (
        "isins_529900GRZ2BQY5ZM9N49.json",
        "lei:529900GRZ2BQY5ZM9N49",
        "securities",
        {
            "designators": [
                {"scheme": "lei", "value": "529900GRZ2BQY5ZM9N49", "provider": "gleif"},
                {"scheme": "isin", "value": "US7458782072", "provider": "gleif"},
                {"scheme": "isin", "value": "US7458781082", "provider": "gleif"},
                {"scheme": "isin", "value": "DE0006969603", "provider": "gleif"},
            ]
        },
    ),
    (
        "lei-data.xml",
        "lei:00TR8NKAEL48RGTZEW89",
        "founded in one country, run from another",
        {"jurisdiction": "KY", "countryCodes": ["KY", "CW"], "status": "inactive"},
    ),
    (
        "lei-data.xml",
        "lei:001GPB6A9XPE8XJICC14",
        "a fund",
        {"type": "organization", "validity": {"from": "2012-11-29", "to": None}},
    ),
]


@pytest.fixture(scope="module")
def real(real_documents: Callable[[str], list[Path]]) -> Callable[[str], dict[str, Record]]:
    paths = {
        path.name: path
        for folder in ("sec_edgar", "gleif_api", "gleif_xml")
        for path in real_documents(folder)
    }
    cache: dict[str, dict[str, Record]] = {}

    def rows(file: str) -> dict[str, Record]:
        if file not in cache:
            records = document(paths[file].read_bytes(), file).records
            cache[file] = {record.key: record for record in records}
        return cache[file]

    return rows


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize(("file", "key", "member", "values"), VALUES)
def test_what_a_real_document_says_is_said(
    file: str, key: str, member: str, values: Json, real: Callable[[str], dict[str, Record]]
) -> None:
    members = real(file)[key].members
    assert {name: members[name] for name in values} == values, member


# -- figures -----------------------------------------------------------------------------------

FACT = {
    "start": "2024-01-01",
    "end": "2024-12-31",
    "val": 5,
    "accn": "0000000001-25-000001",
    "fy": 2024,
    "fp": "FY",
    "form": "10-K",
    "filed": "2025-02-01",
}


def facts(*text: Json, concept: str = "Revenues", unit: str = "USD") -> Json:
    concepts = {concept: {"label": None, "units": {unit: list(text)}}}
    return {"cik": "1", "entityName": "Quay Inc.", "facts": {"us-gaap": concepts}}


def observations(content: object) -> list[Json]:
    records = document(content).records
    return [dict(record.members) for record in records if record.resource == "financialObservation"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"val": 2**53 - 1}, 2**53 - 1),
        ({"val": 35.0}, 35),
        ({"val": -0.25}, -0.25),
        ({"val": "12"}, 12),
        ({"val": 2**53}, "has a whole number beyond 2^53"),
        ({"val": 1e17}, "has a whole number beyond 2^53"),
        ({"val": None}, "lacks a value"),
        ({"val": "n/a"}, "has a number that is none"),
        ({"val": "inf"}, "has a number that is none"),
        ({"end": "2023-12-31"}, "ends before it begins"),
        ({"end": "2024-13-31"}, "is not of the form of its kind (ValueError)"),
        ({"accn": ""}, "lacks accn"),
        ({"filed": "soon"}, "has a date that is none"),
    ],
)
def test_a_value_is_exact_or_its_fact_is_rejected(change: Json, expected: object) -> None:
    content = facts(FACT | change)
    actual = [row["value"] for row in observations(content)]
    assert (actual[0] if actual else reasons(content)[0][0]) == expected
    assert type(actual[0]) is type(expected) if actual else True


def test_one_fact_that_cannot_be_used_spoils_no_other() -> None:
    content = facts({"end": "2024-12-31"}, FACT, *[None] * 2)  # type: ignore[arg-type]
    assert len(observations(content)) == 1
    assert sum(count for _, count in reasons(content)) == 3


@pytest.mark.parametrize("damage", [None, [], {}, "x", {"units": None}, {"units": {"USD": None}}])
def test_a_concept_of_no_form_spoils_no_other(damage: object) -> None:
    content = facts(FACT)
    content["facts"]["us-gaap"]["Assets"] = damage
    content["facts"]["dei"] = damage
    assert [row["value"] for row in observations(content)] == [5]
    assert [count for _, count in reasons(content)] != []


def test_a_fact_has_so_many_filings_and_no_more() -> None:
    content = facts(*[FACT | {"accn": f"0000000001-25-{row:06}"} for row in range(FILINGS_MAX + 2)])
    assert len(observations(content)) == FILINGS_MAX
    assert reasons(content) == [(f"is reported by more than {FILINGS_MAX} filings", 2)]


def test_the_best_concept_of_a_filing_states_the_metric() -> None:
    unusable = {"label": None, "units": {"USD": [FACT | {"val": None}]}}
    text = facts(FACT, concept="SalesRevenueNet")
    text["facts"]["us-gaap"]["Revenues"] = unusable
    part = {"label": None, "units": {"USD": [FACT, FACT | {"accn": "0000000001-26-000001"}]}}
    text["facts"]["us-gaap"]["RevenueFromContractWithCustomerExcludingAssessedTax"] = part
    metrics = [(row["concept"]["name"], row["metric"]) for row in observations(text)]
    assert metrics == [
        ("RevenueFromContractWithCustomerExcludingAssessedTax", "revenue"),
        ("RevenueFromContractWithCustomerExcludingAssessedTax", "revenue"),
        ("SalesRevenueNet", None),
    ]


def test_the_answer_for_one_concept_has_the_same_rows() -> None:
    whole = facts(FACT)
    part = {"cik": 1, "taxonomy": "us-gaap", "tag": "Revenues", "entityName": "Quay Inc."}
    assert document(part | whole["facts"]["us-gaap"]["Revenues"]).records == document(whole).records


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


# -- lists and filings -------------------------------------------------------------------------


def test_a_company_is_one_row_however_many_tickers_it_has() -> None:
    content = {
        "0": {"cik_str": 7, "ticker": "QUAY", "title": "Quay Inc."},
        "1": {"cik_str": "0000000007", "ticker": "QUAY-A", "title": "Quay Inc."},
        "2": {"cik_str": None, "ticker": "NONE", "title": "None Inc."},
        "3": {"cik_str": 0, "ticker": "NIL", "title": "Nil Inc."},
        "4": "broken",
    }
    rows = document(content | {"1": content["1"] | {"cik_str": 7}})  # type: ignore[operator]
    assert [record.key for record in rows.records] == ["cik:0000000007"]
    assert [record["ticker"] for record in rows.records[0].members["listings"]] == [
        "QUAY",
        "QUAY-A",
    ]
    assert rows.rejection_count == 3
    assert [record.key for record in document(content).records] == ["cik:0000000007"]


def test_the_list_with_exchanges_names_their_market_codes() -> None:
    content = {
        "fields": ["cik", "name", "ticker", "exchange"],
        "data": [[7, "Quay Inc.", "QUAY", "NYSE"], [7, "Quay Inc.", "QUAYQ", None]],
    }
    assert only(content).members["listings"] == [
        {"ticker": "QUAY", "exchangeName": "NYSE", "mic": "XNYS"},
        {"ticker": "QUAYQ", "exchangeName": None, "mic": None},
    ]


FILINGS = {
    "accessionNumber": ["0000000007-24-000002", "0000000007-24-000001"],
    "filingDate": ["2024-03-08", "2024-01-19"],
    "reportDate": ["", None],
    "acceptanceDateTime": ["", "2024-01-19T16:30:30.000Z"],
    "form": ["10-Q", "8-K"],
    "items": ["", "1.05, 7.01,9.01"],
    "primaryDocument": ["", "quay8k.htm"],
}


def submissions(**extra: object) -> Json:
    return {"cik": "7", "name": "Quay Inc.", "filings": {"recent": FILINGS, "files": []}} | extra


def test_filings_stand_in_parallel_arrays() -> None:
    rows = document(submissions())
    assert rows.metadata.stamp is not None
    assert rows.metadata.stamp.isoformat() == "2024-01-19T16:30:30+00:00"
    _, second, first = rows.records
    assert first.key == "0000000007|0000000007-24-000001"
    assert first.members["items"] == ["1.05", "7.01", "9.01"]
    assert first.members["reportDate"] is None
    assert second.members["items"] == []
    assert second.members["acceptedAt"] is None
    assert second.stamp is not None
    assert second.stamp.isoformat() == "2024-03-08T00:00:00+00:00"
    assert str(second.url).endswith("/7/000000000724000002/0000000007-24-000002-index.htm")


@pytest.mark.parametrize(
    ("extra", "members"),
    [
        ({"lei": MICROSOFT}, {"key": f"lei:{MICROSOFT}", "also": ("cik:0000000007",)}),
        ({"lei": MICROSOFT[:-1] + "5"}, {"key": "cik:0000000007", "also": ()}),
        (
            {"stateOfIncorporation": "E9", "stateOfIncorporationDescription": "Cayman Islands"},
            {"jurisdiction": "KY", "countryCodes": ["KY"]},
        ),
        (
            {
                "stateOfIncorporation": "A6",
                "stateOfIncorporationDescription": "Ontario, Canada",
                "addresses": {"business": {"stateOrCountry": "NY"}, "mailing": None},
            },
            {"jurisdiction": "CA", "countryCodes": ["CA", "US"]},
        ),
        ({"stateOfIncorporation": "XX"}, {"jurisdiction": None, "countryCodes": []}),
        (
            {"insiderTransactionForOwnerExists": 1, "ein": "000000000", "name": "QUAY JOAN"},
            {"type": "person"},
        ),
        ({"insiderTransactionForOwnerExists": 1, "sic": "6211"}, {"type": "company"}),
        (
            {"tickers": ["QUAY", "QUAYW"], "exchanges": ["Nasdaq"]},
            {
                "listings": [
                    {"ticker": "QUAY", "exchangeName": "Nasdaq", "mic": "XNAS"},
                    {"ticker": "QUAYW", "exchangeName": None, "mic": None},
                ]
            },
        ),
        ({"formerNames": [{"name": "Quay Inc."}, {"name": "Old"}]}, {"aliases": ["Old"]}),
    ],
)
def test_what_submissions_say_of_their_company(extra: Json, members: Json) -> None:
    record = document(submissions(**extra)).records[0]
    fields = dict(record.members) | {"key": record.key, "also": record.other_keys}
    assert {name: fields[name] for name in members} == members


def test_older_filings_are_those_of_the_company_their_file_is_named_after() -> None:
    assert document(FILINGS, "CIK0000000009-submissions-001.json").records[0].members["cik"] == (
        "0000000009"
    )
    assert document(FILINGS, cik="9").records[0].members["entity"] == "cik:0000000009"
    with pytest.raises(DocumentRefused, match="--option cik="):
        document(FILINGS)


def test_arrays_that_were_cut_off_are_refused_whole() -> None:
    with pytest.raises(DocumentRefused, match="truncated"):
        document(submissions(filings={"recent": FILINGS | {"form": ["8-K"]}}))
    assert len(document(submissions(filings=None)).records) == 1


def test_a_country_is_known_by_its_name() -> None:
    names = {"Korea, Republic of": "KR", "United  Kingdom": "GB", "Atlantis": None, None: None}
    assert {name: country_named(name) for name in names} == names


# -- legal entities ----------------------------------------------------------------------------


def lei_record(number: str = APPLE, **entity: object) -> Json:
    content = {
        "legalName": {"name": "Quay N.V."},
        "status": "ACTIVE",
        "jurisdiction": "NL",
    } | entity
    attributes = {"lei": number, "entity": content, "registration": None, "bic": None}
    return {"type": "lei-records", "id": number, "attributes": attributes}


@pytest.mark.parametrize(
    ("entity", "members"),
    [
        ({"category": "RESIDENT_GOVERNMENT_ENTITY"}, {"type": "government"}),
        ({"category": None}, {"type": "organization", "status": "active"}),
        ({"status": "NULL"}, {"status": "unknown"}),
        ({"status": "INACTIVE", "successorEntities": [{"lei": None}]}, {"status": "inactive"}),
        ({"status": "INACTIVE", "successorEntity": {"name": "New"}}, {"status": "merged"}),
        ({"jurisdiction": "Europe"}, {"jurisdiction": None, "countryCodes": []}),
        (
            {"legalAddress": {"country": "KY"}, "headquartersAddress": {"country": "ZZ"}},
            {"countryCodes": ["NL", "KY"]},
        ),
        (
            {
                "otherNames": [{"name": "Quay N.V."}, {"name": "Kaai"}],
                "transliteratedOtherNames": [{"name": "Kaai"}, {"name": None}],
            },
            {"aliases": ["Kaai"]},
        ),
        (
            {"creationDate": "2001-05-31T22:00:00Z", "expiration": {"date": None}},
            {"validity": {"from": "2001-05-31", "to": None}},
        ),
    ],
)
def test_what_a_legal_entity_says(entity: Json, members: Json) -> None:
    fields = only({"data": lei_record(**entity)}).members
    assert {name: fields[name] for name in members} == members


def test_children_are_those_of_the_parent_that_the_address_names() -> None:
    for level in ("direct", "ultimate"):
        address = f"https://api.gleif.org/api/v1/lei-records/{MICROSOFT}/{level}-children?page=1"
        rows = document({"links": {"first": address}, "data": [lei_record()]})
        assert [record.resource for record in rows.records] == ["entity", "relation"]
        assert rows.records[1].key == f"subsidiaryOf|lei:{APPLE}|lei:{MICROSOFT}"
        assert rows.records[1].members["attributes"]["level"] == level


def test_securities_are_designators_of_their_entity() -> None:
    isins = ["US0378331005", "US5949181045", "US0378331005"]
    data = [{"type": "isins", "attributes": {"lei": APPLE, "isin": item}} for item in isins]
    members = [
        (name["scheme"], name["value"]) for name in only({"data": data}).members["designators"]
    ]
    assert members == [("lei", APPLE), ("isin", isins[0]), ("isin", isins[1])]


NODES = {"startNode": {"id": APPLE, "type": "LEI"}, "endNode": {"id": MICROSOFT, "type": "LEI"}}
PERIODS = [
    {"type": "ACCOUNTING_PERIOD", "startDate": "2023-01-01", "endDate": "2023-12-31"},
    {"type": "RELATIONSHIP_PERIOD", "startDate": "2012-11-01T00:00:00Z", "endDate": None},
]


def relationship(kind: str = "IS_DIRECTLY_CONSOLIDATED_BY", **extra: object) -> Json:
    content = NODES | {"type": kind, "status": "ACTIVE", "periods": PERIODS} | extra
    return {"type": "relationship-records", "id": "r", "attributes": {"relationship": content}}


def test_a_relationship_has_the_period_of_the_relation_and_not_of_its_accounts() -> None:
    record = only({"data": relationship()})
    assert record.key == f"subsidiaryOf|lei:{APPLE}|lei:{MICROSOFT}"
    assert record.members["validFrom"] == "2012-11-01"
    assert record.members["validTo"] is None
    assert record.members["attributes"] == {"level": "direct", "status": "active"}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (lei_record(APPLE[:-1] + "5"), "lacks a LEI with right check digits"),
        (lei_record(legalName={"name": " "}), "lacks a legal name"),
        (lei_record(creationDate="long ago"), "has a date that is none"),
        (
            {"type": "isins", "attributes": {"lei": APPLE, "isin": "US0378331006"}},
            "lacks an ISIN with a right check digit",
        ),
        (
            {"type": "isins", "attributes": {"lei": "APPLE", "isin": "US0378331005"}},
            "lacks a LEI with right check digits",
        ),
        (relationship("IS_FRIEND_OF"), "lacks a kind of relation that is known"),
        (relationship(endNode={"id": "HRB 1", "type": "OTHER"}), "lacks a LEI with right check"),
        ({"type": "vlei-issuers", "attributes": {}}, "lacks a type that is known"),
        ({"type": "lei-records"}, "lacks 'attributes'"),
        ("broken", "is not of the form of its kind (TypeError)"),
    ],
)
def test_a_record_that_cannot_be_used_spoils_no_other(item: Any, reason: str) -> None:
    rows = document({"data": [lei_record(MICROSOFT), item]})
    assert [record.key for record in rows.records] == [f"lei:{MICROSOFT}"]
    assert rows.rejections[0].reason.startswith(reason)


def test_an_answer_without_data_is_an_empty_window() -> None:
    meta = {"goldenCopy": {"publishDate": "2025-05-15T00:00:00Z"}}
    for filings in ([], None):
        rows = document({"meta": meta, "data": filings})
        assert (rows.records, rows.rejections) == ((), ())
        assert rows.metadata.stamp is not None


def xml(*records: str, root: str = "LEIData", space: str = "l") -> bytes:
    head = f"<{space}:{root} xmlns:{space}='http://www.gleif.org/data/schema/leidata/2024'>"
    return f"{head}{''.join(records)}</{space}:{root}>".encode()


def test_the_golden_copy_says_what_the_api_says() -> None:
    content = xml(
        "<l:LEIHeader><l:ContentDate>2025-01-02T00:00:00Z</l:ContentDate></l:LEIHeader>",
        f"<l:LEIRecord><l:LEI>{APPLE}</l:LEI><l:Entity><l:LegalName>Quay N.V.</l:LegalName>"
        "<l:TransliteratedOtherEntityNames><l:TransliteratedOtherEntityName>Kaai"
        "</l:TransliteratedOtherEntityName></l:TransliteratedOtherEntityNames>"
        "<l:LegalJurisdiction>NL</l:LegalJurisdiction><l:EntityStatus>INACTIVE</l:EntityStatus>"
        "<l:EntityExpirationDate>2024-04-01T00:00:00+02:00</l:EntityExpirationDate>"
        f"<l:SuccessorEntity><l:SuccessorLEI>{MICROSOFT}</l:SuccessorLEI></l:SuccessorEntity>"
        "</l:Entity></l:LEIRecord>",
        "<l:LEIRecord><l:LEI>5</l:LEI><l:Entity/></l:LEIRecord>",
        "<l:LEIRecord/>",
    )
    rows = document(content)
    api = lei_record(
        status="INACTIVE",
        otherNames=[{"name": "Kaai"}],
        expiration={"date": "2024-04-01T00:00:00Z"},
        successorEntity={"lei": MICROSOFT},
    )
    assert [dict(record.members) for record in rows.records] == [dict(only({"data": api}).members)]
    assert rows.rejection_count == 2
    assert rows.metadata.stamp is not None


def node(place: str, number: str) -> str:
    return f"<r:{place}Node><r:NodeID>{number}</r:NodeID></r:{place}Node>"


def test_of_two_relations_between_the_same_ends_the_direct_one_stays() -> None:
    def consolidation(how: str) -> str:
        ends = node("Start", APPLE) + node("End", MICROSOFT)
        kind = f"<r:RelationshipType>IS_{how}_CONSOLIDATED_BY</r:RelationshipType>"
        period = (
            "<r:RelationshipPeriods><r:RelationshipPeriod><r:StartDate>2012-11-01</r:StartDate>"
            "<r:PeriodType>RELATIONSHIP_PERIOD</r:PeriodType></r:RelationshipPeriod>"
            "</r:RelationshipPeriods>"
        )
        text = f"<r:Relationship>{ends}{kind}{period}</r:Relationship>"
        return f"<r:RelationshipRecord>{text}</r:RelationshipRecord>"

    damage = "<r:RelationshipRecord><r:Relationship/></r:RelationshipRecord>"
    pair = (consolidation("DIRECTLY"), consolidation("ULTIMATELY"))
    for content in (pair, pair[::-1]):
        rows = document(xml(*content, damage, root="RelationshipData", space="r"))
        assert [dict(record.members) for record in rows.records] == [
            dict(only({"data": relationship()}).members)
        ]
        assert rows.rejection_count == 1


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{}", "unrecognised"),
        (b'{"data": [{"type": ["lei-records"]}]}', "unrecognised"),
        (b'{"data": [], "meta": 5}', "unrecognised"),
        (b'{"cik": 5, "facts": {}', "truncated"),
        (b'{"cik": "five", "facts": {}}', "malformed"),
        (b'{"cik": 5, "facts": []}', "malformed"),
        (b'{"fields": ["cik", "ticker"], "data": [5]}', "malformed"),
        (b"<LEIData><LEIRecord>", "truncated"),
        (b"<!DOCTYPE LEIData SYSTEM 'a'><LEIData>&b;</LEIData>", "entityBomb"),
    ],
)
def test_a_document_that_cannot_be_read_is_refused_whole(raw: bytes, code: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        document(raw)
    assert refusal.value.code == code
