"""Values of indicators: FRED, the World Bank, SDMX-JSON and Frankfurter."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document

REAL = Path(os.environ.get("SVC_REAL_DATA", ""))  # noqa: TID251 - what the tests are given


def parse(format_: str, content: Any, **options: str) -> Document:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return read_document(Body(body), FORMATS[format_], Origin(options=options))


def brief(item: Record) -> tuple[Any, ...]:
    """The key of a row without its provider, and its value."""
    return item.key.partition("|")[2], item.members["value"]


def members(item: Record, *names: str) -> tuple[Any, ...]:
    return tuple(item.members[name] for name in names)


# -- real documents ----------------------------------------------------------------------------

WHOLE = {
    "fred/fred_cpi.json": ({"series": "X"}, 292, "fred||X||M|1999-01", 0.244051250762677),
    "fred/fred_gdp.json": (
        {"series": "GDP", "area": "US"}, 97, "fred||GDP|US|Q|2023-Q1", 26465.865,
    ),
    "fred/fred_observations.json": (
        {"series": "-"}, 10, "fred||BAMLEMCBPIOAS||D|2026-07-03", None,
    ),
    "worldbank/wb_wdi_reserves.json": (
        {}, 18, "worldbank|2|FI.RES.TOTL.MO|LKA|A|2025", None,
    ),
    "worldbank/wb_ids_china.json": (
        {}, 50, "worldbank|6|DT.DOD.BLAT.CD.730|PAK|A|2019", 20322532271.3,
    ),
    "sdmx_json/flat.json": ({}, 4, "ecb|EXR|RUB.EUR.SP00.A||D|2013-01-18", 40.3426),
    "sdmx_json/ts.json": ({}, 4, "ecb|EXR|RUB.EUR.SP00.A||D|2013-01-18", 40.3426),
    "sdmx_json/exr-time-series_v2.json": (
        {}, 4, "ecb|EXR|NZD.EUR.SP00.A||D|2013-01-21", 1.5925,
    ),
    "frankfurter/frankfurter_usd.json": (
        {}, 18, "frankfurter||USD/CNY||D|2026-07-06", 6.7957,
    ),
}  # fmt: skip


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("name", WHOLE)
def test_a_real_document_gives_all_its_values(name: str) -> None:
    options, count, key, value = WHOLE[name]
    format_ = {"sdmx_json": "sdmx"}.get(name.partition("/")[0], name.partition("/")[0])
    document = parse(format_, (REAL / name).read_bytes(), **options)
    assert (len(document.records), document.rejection_count) == (count, 0)
    assert {record.key: record.members["value"] for record in document.records}[key] == value


@pytest.mark.needs("SVC_REAL_DATA")
def test_one_rate_is_the_same_row_in_every_layout_of_sdmx() -> None:
    names = ("flat.json", "ts.json", "exr-time-series_v2.json")
    content = [parse("sdmx", (REAL / "sdmx_json" / name).read_bytes()) for name in names]
    rows = [
        {record.key: dict(record.members) for record in document.records} for document in content
    ]
    assert rows[0] == rows[1] == rows[2]
    assert rows[0]["ecb|EXR|NZD.EUR.SP00.A||D|2013-01-18"] == {
        "provider": "ecb", "datasetId": "EXR", "indicatorCode": "NZD.EUR.SP00.A",
        "name": "New Zealand dollar (NZD)",
        "area": {"countryCode": None, "code": None, "label": None},
        "frequency": "D", "period": "2013-01-18", "periodStart": "2013-01-18",
        "periodEnd": "2013-01-18", "value": 1.5931, "unit": None, "currency": "NZD",
        "unitMultiplier": None, "seasonalAdjustment": None, "status": "A", "vintage": None,
        "releasedAt": None,
    }  # fmt: skip


# -- FRED --------------------------------------------------------------------------------------


def fred(*rows: tuple[str, Any], **about: Any) -> dict[str, Any]:
    content = [{"date": date, "value": value} for date, value in rows]
    window = {"realtime_start": "2024-03-01", "realtime_end": "2024-03-01"}
    span = {"observation_start": "1999-01-01", "units": "lin", "count": len(rows)}
    return {**window, **span, "observations": [{**window, **row} for row in content], **about}


MONTHS = (("2024-01-01", "1.5"), ("2024-02-01", "."))


def test_a_missing_value_of_fred_is_null_and_no_zero() -> None:
    document = parse("fred", fred(*MONTHS), series="GDP", currency="usd", area="US", title="Output")
    first, second = document.records
    assert members(first, "name", "currency", "value", "status") == ("Output", "USD", 1.5, None)
    assert first.members["area"] == {"countryCode": "US", "code": "US", "label": None}
    assert first.members["vintage"] == {"start": "2024-03-01", "end": "2024-03-01"}
    assert members(second, "value", "status", "period") == (None, "M", "2024-02")
    assert str(document.metadata.stamp) == "2024-03-01 00:00:00+00:00"


@pytest.mark.parametrize(
    ("option", "rows", "expected"),
    [
        ("", (("2024-01-01", "1"), ("2024-04-01", "2")), ["Q|2024-Q1", "Q|2024-Q2"]),
        ("Quarterly", (("2024-04-01", "2"),), ["Q|2024-Q2"]),
        ("sa", (("2024-07-01", "2"),), ["S|2024-S2"]),
        ("bw", (("2024-03-06", "2"),), ["W|2024-W10"]),
        ("", (("2024-03-09", "1"), ("2024-03-16", "2")), ["W|2024-W10", "W|2024-W11"]),
    ],
)
def test_the_frequency_is_that_of_the_option_else_of_the_dates(
    option: str, rows: Any, expected: list[str]
) -> None:
    options = {"series": "X"} | ({"frequency": option} if option else {})
    document = parse("fred", fred(*rows), **options).records
    assert [item.key.removeprefix("fred||X||") for item in document] == expected


def test_the_only_date_tells_no_frequency() -> None:
    (rejection,) = parse("fred", fred(("2024-01-01", "1")), series="X").rejections
    assert (rejection.count, rejection.sample) == (1, "2024-01-01")
    assert rejection.reason.endswith("--option frequency=")


def test_changes_of_a_series_are_a_series_of_their_own() -> None:
    (first, _) = parse("fred", fred(*MONTHS, units="pc1"), series="GDP", currency="USD").records
    assert members(first, "indicatorCode", "unit", "currency") == ("GDP_PC1", "%", None)
    (first, _) = parse("fred", fred(*MONTHS, units="chg"), series="GDP", currency="USD").records
    assert members(first, "indicatorCode", "unit", "currency") == ("GDP_CHG", None, "USD")


def test_vintages_are_rows_of_their_own() -> None:
    text = fred(("2024-01-01", "1"), ("2024-01-01", "2"), realtime_end="9999-12-31")
    text["observations"][1] |= {"realtime_start": "2024-05-30", "realtime_end": "9999-12-31"}
    document = parse("fred", text, series="X", frequency="M")
    assert document.metadata.stamp is None
    assert [brief(record) for record in document.records] == [
        ("|X||M|2024-01|2024-03-01", 1),
        ("|X||M|2024-01|2024-05-30", 2),
    ]
    assert document.records[1].members["vintage"] == {"start": "2024-05-30", "end": "9999-12-31"}


def test_columns_of_vintages_are_rows_too() -> None:
    content = fred(*MONTHS)
    content["observations"] = [
        {"date": "2024-01-01", "X_20240301": "1", "X_20240401": "1.5"},
        {"date": "2024-02-01", "X_20240301": ".", "X_20240401": "2"},
    ]
    assert [brief(record) for record in parse("fred", content, series="X").records] == [
        ("|X||M|2024-01|2024-03-01", 1),
        ("|X||M|2024-01|2024-04-01", 1.5),
        ("|X||M|2024-02|2024-04-01", 2),
    ]


def test_an_object_names_its_series_itself() -> None:
    content = {"A": fred(*MONTHS), "B": fred(*MONTHS)}
    assert [record.key for record in parse("fred", content, series="-").records] == [
        "fred||A||M|2024-01", "fred||A||M|2024-02", "fred||B||M|2024-01", "fred||B||M|2024-02",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "options", "code"),
    [
        (fred(*MONTHS), {}, "option"),
        (fred(*MONTHS), {"series": "X", "frequency": "hourly"}, "option"),
        (fred(*MONTHS, count=3), {"series": "X"}, "wrongCount"),
        (fred(*MONTHS, count=300, limit=2), {"series": "X"}, None),
        (fred(*MONTHS, count=3, offset=1), {"series": "X"}, None),
        (fred(*MONTHS, observations=[1, None]), {"series": "X"}, "malformed"),
    ],
)
def test_a_page_may_be_one_of_many_and_nothing_is_cut_off(
    content: Any, options: dict[str, str], code: str | None
) -> None:
    if code is None:
        assert len(parse("fred", content, **options).records) == 2
        return
    with pytest.raises(DocumentRefused) as refusal:
        parse("fred", content, **options)
    assert refusal.value.code == code


# -- the World Bank ----------------------------------------------------------------------------


def world_bank(*rows: dict[str, Any], **meta: Any) -> list[Any]:
    head = {"page": 1, "pages": 1, "total": len(rows), "lastupdated": "2026-01-15", **meta}
    return [head, list(rows)]


def value_of(date: str, value: Any = 1.5, iso3: str = "DEU", **extra: Any) -> dict[str, Any]:
    return {
        "indicator": {"id": "NY.GDP.MKTP.CD", "value": "GDP (current US$)"},
        "country": {"id": "DE", "value": "Germany"},
        "countryiso3code": iso3, "date": date, "value": value, "unit": "", **extra,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "key", "expected"),
    [
        (value_of("2024"), "DEU|A|2024", ("USD", None, "DE", 1.5, None)),
        (value_of("2024M03"), "DEU|M|2024-03", ("USD", None, "DE", 1.5, None)),
        (value_of("2024Q1", None), "DEU|Q|2024-Q1", ("USD", None, "DE", None, "M")),
        (value_of("2024", obs_status="E"), "DEU|A|2024", ("USD", None, "DE", 1.5, "E")),
        (value_of("2024", iso3=""), "DE|A|2024", ("USD", None, "DE", 1.5, None)),
        (
            value_of("2024", iso3="ARB", country={"id": "1A", "value": "Arab World"}),
            "ARB|A|2024",
            ("USD", None, None, 1.5, None),
        ),
        (
            value_of("2024", indicator={"id": "NY.GDP.MKTP.CD", "value": "Debt (% of GDP)"}),
            "DEU|A|2024",
            (None, "%", "DE", 1.5, None),
        ),
    ],
)
def test_a_row_of_the_world_bank_is_told_in_full(row: Any, key: str, expected: Any) -> None:
    (record,) = parse("worldbank", world_bank(row, sourceid="2")).records
    assert record.key == f"worldbank|2|NY.GDP.MKTP.CD|{key}"
    actual = members(record, "currency", "unit", "area", "value", "status")
    assert (*actual[:2], actual[2]["countryCode"], *actual[3:]) == expected


def test_more_dimensions_belong_to_the_series() -> None:
    content = {"Country": ("ECU", "Ecuador"), "Time": ("YR2024", "2024"), "Series": ("DT", "Debt")}
    variables = [{"concept": k, "id": id_, "value": v} for k, (id_, v) in content.items()]
    variables.append({"concept": "Counterpart-Area", "id": "730", "value": "China"})
    data = [{"variable": variables, "value": 7}, {"variable": variables[:1], "value": 7}]
    head = {"page": 1, "pages": 3, "total": 126}
    for source in ({"id": "6", "data": data}, [{"id": "6", "data": data}]):
        document = parse("worldbank", {**head, "source": source}, provider="wb-mirror")
        (record,) = document.records
        assert record.key == "wb-mirror|6|DT.730|ECU|A|2024"
        assert members(record, "name", "value", "provider") == ("Debt: China", 7, "wb-mirror")
        assert document.rejection_count == 1


def test_no_rows_are_an_answer_and_no_fault() -> None:
    document = parse("worldbank", [{"page": 0, "pages": 0, "total": 0}, None])
    assert (document.records, document.rejections) == ((), ())


@pytest.mark.parametrize(
    "row", [value_of("2014-2020"), value_of("2024", "many"), value_of("2024", country=None), 7]
)
def test_a_row_that_cannot_be_used_is_counted(row: Any) -> None:
    document = parse("worldbank", world_bank(row, value_of("2023")))
    assert (len(document.records), document.rejection_count) == (1, 1)


def test_one_page_of_one_holds_as_many_rows_as_it_says() -> None:
    with pytest.raises(DocumentRefused) as refusal:
        parse("worldbank", world_bank(value_of("2024"), total=2))
    assert refusal.value.code == "wrongCount"
    assert parse("worldbank", world_bank(value_of("2024"), total=2, pages="2")).records


# -- Frankfurter -------------------------------------------------------------------------------

RATES = {
    "latest": (
        {"amount": 1.0, "base": "EUR", "date": "2024-03-01", "rates": {"USD": 1.08, "JPY": None}},
        [("|EUR/USD||D|2024-03-01", 1.08), ("|EUR/JPY||D|2024-03-01", None)],
    ),
    "an amount": (
        {"amount": 1000, "base": "EUR", "date": "2024-03-01", "rates": {"USD": 1083.3}},
        [("|EUR/USD||D|2024-03-01", 1.0833)],
    ),
    "many days": (
        {
            "base": "USD", "start_date": "2024-03-01", "end_date": "2024-03-04",
            "rates": {"2024-03-01": {"CNY": 7.1}, "2024-03-04": {"CNY": "7.2"}},
        },
        [("|USD/CNY||D|2024-03-01", 7.1), ("|USD/CNY||D|2024-03-04", 7.2)],
    ),
    "version 2": (
        [{"date": "2024-03-01", "base": "EUR", "quote": "USD", "rate": 1.08}],
        [("|EUR/USD||D|2024-03-01", 1.08)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RATES)
def test_a_rate_is_what_one_of_the_base_costs(name: str) -> None:
    content, expected = RATES[name]
    assert [brief(record) for record in parse("frankfurter", content).records] == expected


def test_what_is_no_money_of_iso_has_a_unit() -> None:
    content = {"base": "EUR", "date": "2024-03-01", "rates": {"XYZ": 2, "USD": 1}}
    actual = [
        members(record, "currency", "unit") for record in parse("frankfurter", content).records
    ]
    assert actual == [(None, "{XYZ}"), ("USD", None)]


# -- SDMX-JSON ---------------------------------------------------------------------------------

FLOW = "urn:sdmx:org.sdmx.infomodel.datastructure.Dataflow=OECD.SDD:DSD@DF_KEI(4.0)"


def dimension(id_: str, *values: Any, **extra: Any) -> dict[str, Any]:
    content = [
        item if isinstance(item, dict) else {"id": item, "name": f"The {item}"} for item in values
    ]
    return {"id": id_, "values": content, **extra}


TIME = dimension("TIME_PERIOD", "2024-Q1", "2024-Q2", role="TIME_PERIOD")
AREA = dimension("REF_AREA", "DEU", "EA20")
MEASURE = dimension("MEASURE", "CPI", keyPosition=1)
FREQ = dimension("FREQ", "Q", keyPosition=0)


def sdmx(
    data_set: dict[str, Any], link: Any = FLOW, attributes: Any = None, **levels: Any
) -> dict[str, Any]:
    structure = {
        "links": [{"rel": "dataflow", "href" if "://" in link else "urn": link}],
        "dimensions": {"dataSet": [], "series": [], "observation": [], **levels},
        "attributes": attributes or {},
    }
    head = {"prepared": "2024-05-01T10:00:00Z", "sender": {"id": "NSO.X"}}
    return {"meta": head, "data": {"structures": [structure], "dataSets": [data_set]}}


SERIES = {"series": {"0:0": {"observations": {"0": [1.5], "1": [None]}}}}
BY_SERIES = {"dataSet": [FREQ], "series": [MEASURE, AREA], "observation": [TIME]}

LAYOUTS = {
    "flat": ({"observations": {"0:0:0:0": [1.5], "0:0:0:1": ["NaN"]}},
             {"observation": [FREQ, MEASURE, AREA, TIME]}),
    "series in time": (SERIES, BY_SERIES),
    "flat beside levels": ({"observations": {"0:0:0": [1.5], "0:0:1": [None], "0:1:0": []}},
                           BY_SERIES),
    "across areas": ({"series": {"0:0": {"observations": {"0": [1.5]}},
                                 "0:1": {"observations": {"0": [None]}}}},
                     {"dataSet": [FREQ], "series": [MEASURE, TIME], "observation": [AREA]}),
    "with attributes": ({"series": {"0:0": {"attributes": [0, None], "observations":
                                            {"0": [1.5, 1], "1": [None, 0]}}}}, BY_SERIES),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_of_sdmx_gives_the_same_values(name: str) -> None:
    data_set, levels = LAYOUTS[name]
    document = parse("sdmx", sdmx(data_set, **levels))
    assert [brief(record) for record in document.records] == [
        ("DSD@DF_KEI|CPI|DEU|Q|2024-Q1", 1.5),
        ("DSD@DF_KEI|CPI|DEU|Q|2024-Q2", None),
    ]
    first = document.records[0]
    assert members(first, "provider", "name") == ("oecd", "The CPI")
    assert first.members["area"] == {"countryCode": "DE", "code": "DEU", "label": "The DEU"}
    assert str(document.metadata.stamp) == "2024-05-01 10:00:00+00:00"


def test_attributes_tell_status_unit_and_multiplier() -> None:
    attributes = {
        "dataSet": [dimension("UNIT_MULT", "6")],
        "series": [
            {"id": "TITLE", "values": [{"value": "Money supply"}]},
            dimension("UNIT", "EUR"),
            {"id": "ADJUSTMENT"},
        ],
        "observation": [dimension("OBS_STATUS", "A", "P", "B")],
    }
    data_set = {
        "attributes": [0],
        "series": {"0:1": {"attributes": [0, 0, "Y"], "observations": {"0": [7, 1], "1": [8, 2]}}},
    }
    first, second = parse("sdmx", sdmx(data_set, attributes=attributes, **BY_SERIES)).records
    names = ("name", "currency", "unit", "unitMultiplier", "seasonalAdjustment", "status")
    assert members(first, *names) == ("Money supply", "EUR", None, 6, "Y", "P")
    assert first.members["area"] == {"countryCode": None, "code": "EA20", "label": "The EA20"}
    assert second.members["status"] is None


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("PC", ("%", None)),
        ("PURE_NUMB", ("1", None)),
        ("USD", (None, "USD")),
        ("DEM", (None, "DEM")),
        ("USD_PPP", ("{USD_PPP}", None)),
        ("BTU{a}", ("{BTU(a)}", None)),
    ],
)
def test_a_unit_is_ucum_or_money(unit: str, expected: tuple[str | None, str | None]) -> None:
    levels = {**BY_SERIES, "dataSet": [FREQ, dimension("UNIT_MEASURE", unit)]}
    first = parse("sdmx", sdmx(SERIES, **levels)).records[0]
    assert members(first, "unit", "currency") == expected


@pytest.mark.parametrize(
    ("code", "expected"), [("EL", "GR"), ("UK", "GB"), ("U2", None), ("276", "DE"), ("001", None)]
)
def test_areas_of_agencies_are_countries_where_they_are(code: str, expected: str | None) -> None:
    levels = {**BY_SERIES, "series": [MEASURE, dimension("GEO", code)]}
    first = parse("sdmx", sdmx(SERIES, **levels)).records[0]
    assert first.members["area"]["countryCode"] == expected


def test_a_data_set_that_deletes_withdraws_what_it_names() -> None:
    data_set = {
        "action": "Delete",
        "series": {
            "0:0": {"observations": {"0": []}},
            "0:1": {},
            "~:1": {"observations": {"0": []}},
        },
    }
    document = parse("sdmx", sdmx(data_set, **BY_SERIES))
    (withdrawal,) = document.records
    assert (withdrawal.is_withdrawn, brief(withdrawal)[0]) == (True, "DSD@DF_KEI|CPI|DEU|Q|2024-Q1")
    assert [(rejection.reason, rejection.count) for rejection in document.rejections] == [
        ("names no single value", 2)
    ]
    assert FORMATS["sdmx"].kind == "delta"


def test_a_place_beyond_the_values_leaves_one_row_out() -> None:
    data_set = {"series": {"0:9": {"observations": {"0": [1]}}, **SERIES["series"], "9:0": {}}}
    data_set["series"]["0:0"] = {"observations": {"0": [1], "9": [2]}}
    document = parse("sdmx", sdmx(data_set, **BY_SERIES))
    assert len(document.records) == 2
    assert [rejection.reason for rejection in document.rejections] == ["lacks a dimension"]


@pytest.mark.parametrize(
    ("link", "options", "provider", "dataset"),
    [
        (FLOW, {"provider": "mirror"}, "oecd", "DSD@DF_KEI"),
        ("https://x.org/service/dataflow/ECB/EXR/1.0", {}, "ecb", "EXR"),
        ("https://x.org/service/dataflow/ECB/EXR", {}, "ecb", "EXR"),
        ("https://x.org/dataflow/BIS/WS_XRU/latest?references=none", {}, "bis", "WS_XRU"),
        ("https://x.org/SDMX-JSON/dataflow/QNA/all", {"provider": "oecd"}, "oecd", "QNA"),
        ("", {}, "nso", ""),
    ],
)
def test_the_provider_is_the_agency_else_the_option_else_the_sender(
    link: str, options: dict[str, str], provider: str, dataset: str
) -> None:
    content = sdmx(SERIES, link, **BY_SERIES)
    first = parse("sdmx", content, **options).records[0]
    assert first.key == f"{provider}|{dataset}|CPI|DEU|Q|2024-Q1"


def test_without_agency_and_sender_the_option_is_asked_for() -> None:
    content = sdmx(SERIES, "", **BY_SERIES)
    content["meta"]["sender"] = [{}]
    with pytest.raises(DocumentRefused, match="--option provider="):
        parse("sdmx", content)


def test_two_measures_and_two_areas_keep_their_own_places() -> None:
    content = sdmx(
        {"series": {"0:0": {"observations": {"0": [1.5, 9, 0]}}}},
        attributes={"observation": [dimension("OBS_STATUS", "E")]},
        series=[AREA, dimension("COUNTRY", "FRA")],
        observation=[TIME],
    )
    content["data"]["structures"][0]["measures"] = {"observation": [{"id": "A"}, {"id": "B"}]}
    (record,) = parse("sdmx", content).records
    assert (record.key, *members(record, "value", "status")) == (
        "oecd|DSD@DF_KEI|FRA|DEU|Q|2024-Q1", 1.5, "E",
    )  # fmt: skip
