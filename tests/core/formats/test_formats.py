"""What holds for every format at once, over the demo's documents and over real ones."""

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading import format as format_rows
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.flat_tables import Column, FlatRecord, flat_format
from svc_core.formats.reading.format import Format
from svc_core.formats.reading.values import moment, rfc3339
from svc_core.formats.table import (
    FORMATS,
    TABLE,
    Document,
    check_options,
    read_document,
    recognise_format,
)
from svc_core.intel.folding.model import Source
from svc_core.intel.intake.kinds import KINDS
from svc_core.intel.intake.record_intake import record_reading
from svc_http.run.demo.demo_feeds import DemoDocument, data_documents, demo_documents
from tests.sampling import examples

NOW = datetime(2026, 2, 1, 12, tzinfo=UTC)
DEMO = {path.file_name: path for path in (*demo_documents(NOW), *data_documents(NOW))}
REAL = os.environ.get("SVC_REAL_DATA")  # noqa: TID251 - what the tests are given

FORMAT_OF_FOLDER = {
    "attack_stix20": "attack", "attack_stix21": "attack", "cisa_kev": "kev", "csaf": "csaf",
    "cve5": "cve", "eonet": "eonet", "epss_csv": "epss", "frankfurter": "frankfurter",
    "fred": "fred", "ftm": "ftm", "gdacs_api": "gdacs", "gdacs_rss": "gdacs-rss",
    "gdelt_events1": "gdelt-events", "gdelt_events2": "gdelt-events",
    "gdelt_mentions": "gdelt-mentions", "geonames": "geonames", "gleif_api": "gleif",
    "gleif_xml": "lei-cdf", "kalshi": "kalshi", "manifold": "manifold",
    "misp_event": "misp-event", "misp_galaxy": "misp-galaxy", "nvd2": "nvd", "ofac": "ofac",
    "polymarket": "polymarket", "reliefweb": "reliefweb", "sdmx_json": "sdmx",
    "stix21_report": "stix", "ucdp_ged_csv": "ucdp", "usgs_geojson": "usgs",
    "worldbank": "worldbank",
}  # fmt: skip
FORMAT_OF_FILE = {
    "country-codes.csv": "country-codes", "mledoze_countries.json": "countries",
    "company_tickers.json": "sec-tickers", "companyfacts": "sec-companyfacts",
    "submissions": "sec-submissions", "countryInfo.txt": "geonames",
}  # fmt: skip


def whole(body: bytes, options: Any = (), name: str = "") -> Document:
    items = Body(body)
    actual = recognise_format(items)
    content = {"series": "DEMO"} if "series" in actual.required else {}
    accepted_options = {key: value for key, value in dict(options).items() if key in actual.options}
    return read_document(items, actual, Origin(options=content | accepted_options, name=name))


def demo(item: DemoDocument) -> Document:
    return whole(item.body, item.options, item.file_name)


# -- the table ---------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", TABLE, ids=lambda case: case.id)
def test_a_format_is_declared_whole(format_: Format) -> None:
    assert FORMATS[format_.id] is format_
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", format_.id)
    assert format_.title
    assert set(format_.resources) <= set(KINDS)
    assert format_.required <= set(format_.options)
    assert all(text and not text.endswith(".") for text in format_.options.values())


@pytest.mark.parametrize("format_", TABLE, ids=lambda case: case.id)
def test_the_demo_has_a_document_of_every_format(format_: Format) -> None:
    assert format_.id in {recognise_format(Body(item.body)).id for item in DEMO.values()}


def test_an_option_that_a_format_does_not_take_is_refused() -> None:
    with pytest.raises(DocumentRefused, match="kev takes no series; it takes: none") as refusal:
        check_options(FORMATS["kev"], {"series": "X"})
    assert refusal.value.code == "option"


# -- documents of the demo ---------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(DEMO))
def test_a_document_is_of_one_format_alone(name: str) -> None:
    body = Body(DEMO[name].body)
    _check_alone(body, recognise_format(body).id)


def _check_alone(body: Body, id_: str) -> None:
    """A document of GDACS is an RSS feed as well, which is asked for after it."""
    actual = [item.id for item in TABLE if item.recognise(body)]
    assert actual == [id_, *(["rss"] if id_ == "gdacs-rss" else [])]


@pytest.mark.parametrize("name", sorted(DEMO))
def test_every_record_is_of_its_formats_kinds_and_has_a_json_form(name: str) -> None:
    document = demo(DEMO[name])
    assert document.records
    for record in document.records:
        _check(record, document.format)


def _check(record: Record, format_: Format) -> None:
    assert record.resource in format_.resources
    assert record.key.strip() == record.key != ""
    json.dumps(record.members, allow_nan=False)
    json.dumps(record.raw, allow_nan=False)
    assert all(re.fullmatch(r"[a-z][A-Za-z0-9]*", name) for name in record.members)
    for stamp in (record.stamp, record.published_at):
        assert stamp is None or stamp.tzinfo is UTC or stamp.utcoffset() == UTC.utcoffset(stamp)


@pytest.mark.parametrize("name", sorted(DEMO))
def test_what_is_cut_off_or_damaged_is_refused_or_told_and_never_fails(name: str) -> None:
    body, format_ = DEMO[name].body, demo(DEMO[name]).format
    options = dict.fromkeys(format_.required, "X") | dict(DEMO[name].options)
    for part in (b"", body[:1], body[: len(body) // 2], body[:-2], body[::-1], body * 2):
        for actual in (format_, None):
            refusal = _refusal(part, actual, Origin(options=options, name=name))
            assert refusal is None or refusal.reason.endswith((".", "--format"))


def _refusal(body: bytes, format_: Format | None, options: Origin) -> DocumentRefused | None:
    try:
        items = Body(body)
        read_document(items, format_ or recognise_format(items), options)
    except DocumentRefused as refusal:
        return refusal
    return None


@examples(20)
@given(st.data())
def test_members_of_other_types_never_fail(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from([n for n in sorted(DEMO) if n.endswith(".json")]))
    format_ = demo(DEMO[name]).format
    odd: st.SearchStrategy[Any] = st.sampled_from(
        [None, True, 0, -1.5, 10**40, "", "x", [], {}, [None], {"a": []}]
    )
    value = _swap(json.loads(DEMO[name].body), data, odd)
    options = dict.fromkeys(format_.required, "X") | dict(DEMO[name].options)
    window = Origin(options=options, name=name)
    refusal = _refusal(json.dumps(value).encode(), format_, window)
    assert refusal is None or refusal.code


def _swap(value: Any, data: st.DataObject, odd: st.SearchStrategy[Any]) -> Any:
    """The JSON value with one value in it, some levels down, replaced."""
    if not value or not isinstance(value, dict | list) or data.draw(st.integers(0, 5)) == 0:
        return data.draw(odd)
    if isinstance(value, dict):
        name = data.draw(st.sampled_from(sorted(value)))
        return value | {name: _swap(value[name], data, odd)}
    at = data.draw(st.integers(0, len(value) - 1))
    return [*value[:at], _swap(value[at], data, odd), *value[at + 1 :]]


UNKNOWN = {
    b"": "empty",
    b"  \n": "empty",
    b"\x89PNG\r\n\x1a\n\0\0": "unrecognised",
    b"plain words": "unrecognised",
    b"{" + b" " * 5_000 + b"\0}": "badEncoding",
    b'{"hello": "world"}': "unrecognised",
    b"{}": "unrecognised",
    b'{"data": [{"type": ["lei-records"]}]}': "unrecognised",
    b'{"data": [], "meta": 5}': "unrecognised",
    b'{"markets": 5}': "unrecognised",
    b'{"event": "x"}': "unrecognised",
    b'{"events": 5}': "unrecognised",
    b'{"question": "Why?"}': "unrecognised",
    b'{"response": []}': "unrecognised",
    b'{"objects": []}': "unrecognised",
    b'{"type": "x", "uuid": "y", "values": 1}': "unrecognised",
    b'{"op": [], "entity": {}}': "unrecognised",
    b"36,a\rb,-0- \n": "unrecognised",
    b"1,2,3\n-0-\n": "unrecognised",
    b'a,12,"aka","A",-0- \n': "unrecognised",
    b"36,AIRLINES, ,CUBA, , , , , , , , \n": "unrecognised",
    b"[]": "unrecognised",
    b"[5]": "unrecognised",
    b'{"op": "ADD"}\n{}': "malformed",
    b'{"id": 1}\n{}': "malformed",
    b"{x}\n{}": "malformed",
    b'{"fields": ["cik", "ticker"], "data": [5]': "truncated",
    b'{"hello": ': "truncated",
    b"[1, 2": "truncated",
    b"<html><body>moved</body></html>": "html",
    b"<!DOCTYPE html><html></html>": "html",
    b'<?xml version="1.0"?><opml version="2.0"></opml>': "opml",
    b"[" * 100_000: "tooComplex",
    b'{"a": ' + b"9" * 5_000 + b"}": "malformed",
}


@pytest.mark.parametrize(("body", "code"), UNKNOWN.items(), ids=lambda case: str(case)[:20])
def test_what_no_format_is_says_what_it_seems_to_be(body: bytes, code: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        recognise_format(Body(body))
    assert refusal.value.code == code


PAST_A_LIMIT = {
    "tooLarge": attrs.evolve(FORMATS["kev"], bytes_max=10),
    "tooManyItems": attrs.evolve(FORMATS["kev"], records_max=1),
    "option": FORMATS["fred"],
}


@pytest.mark.parametrize("code", PAST_A_LIMIT)
def test_a_document_past_a_limit_or_without_what_its_format_needs_is_refused(code: str) -> None:
    refusal = _refusal(DEMO["kev.json"].body, PAST_A_LIMIT[code], Origin())
    assert refusal is not None
    assert refusal.code == code


@pytest.mark.parametrize("reference", ["id", "ids"])
def test_an_id_that_is_no_id_but_a_book_is_refused_alone(reference: str) -> None:
    content = json.loads(DEMO["usgs.json"].body)
    item = content["features"][0]
    (item if reference == "id" else item["properties"])[reference] = f",us{'0' * 10_000},"
    document = whole(json.dumps(content).encode())
    assert len(document.records) == len(content["features"]) - 1
    assert [rejection.reason for rejection in document.rejections] == [
        "has an id of more than 10000 characters"
    ]


@pytest.mark.parametrize(
    ("options", "provider"), [({}, "stix"), ({"provider": "pier-cert"}, "pier-cert")]
)
def test_rows_of_a_bundle_tell_who_publishes_it(options: dict[str, str], provider: str) -> None:
    item = {"type": "malware", "id": f"malware--{UUID(int=1)}", "name": "N"}
    document = whole(json.dumps({"type": "bundle", "objects": [item]}).encode(), options)
    source = Source(
        id="src_" + "0" * 24, location="a", name="A", home_url=None, domain="", format="stix",
        language=None, country_code=None, topics=(), cadence_seconds=900, options=options,
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
    )  # fmt: skip
    (record,) = document.records
    row = record_reading(source, document.format, document.metadata, record).contribution
    assert (row.said["provider"], row.ref["provider"]) == (provider, provider)


def test_a_line_that_is_nested_too_deeply_fails_no_other() -> None:
    person = {"schema": "Person", "properties": {"name": ["A"]}}
    lines = [json.dumps({"id": id_, **person}) for id_ in "pq"]
    document = whole("\n".join((lines[0], "[" * 100_000, lines[1])).encode())
    assert [record.key for record in document.records] == ["ftm:p", "ftm:q"]
    assert [rejection.reason for rejection in document.rejections] == ["is no JSON object"]


def test_a_document_of_another_format_is_no_new_meaning() -> None:
    feed = next(path for path in demo_documents(NOW) if path.file_name.endswith(".rss"))
    with pytest.raises(DocumentRefused, match=r"is rss, and its source is kev\.") as refusal:
        read_document(Body(feed.body), FORMATS["kev"], Origin())
    assert refusal.value.code == "anotherFormat"


# -- a format of one's own ----------------------------------------------------------------------

TIDES = FlatRecord(
    "osintEvent",
    "tides",
    own_id="gauge",
    members={
        "title": Column("harbour gauge", is_required=True),
        "occurredAt": Column("measured", lambda cell: rfc3339(moment(cell))),
        "confidence": Column("quality", {"good": 1.0, "fair": 0.5}.get),
    },
)
MIDNIGHT = "2026-01-02T00:00:00Z"
TIDE_ROWS = [
    {"gauge": "7", "harbour": "Quay", "measured": "2026-01-02", "quality": "good"},
    {"gauge": "8", "harbour": None, "measured": "2026-01-02", "quality": "odd"},
    {"gauge": None, "harbour": "Pier", "measured": "2026-01-02", "quality": "fair"},
]


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"readings": TIDE_ROWS}),
        "Gauge;Harbour;Measured;Quality\n#id;#loc;;\n"
        "7;Quay;2026-01-02;good\n8;;2026-01-02;odd\n;Pier;2026-01-02;fair\n",
    ],
)
def test_a_flat_format_is_a_row_and_a_table(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ["Tides", "window", "tides", "osintEvent", "3600", "", ""]
    monkeypatch.setattr(format_rows, "_rows_by_id", lambda: {"tides": row})
    tides = flat_format("tides", ("gauge", "harbour"), TIDES, member="readings")
    document = read_document(Body(body.encode()), tides, Origin())
    assert [(record.key, record.record_id, record.members) for record in document.records] == [
        (
            "tides:7",
            "7",
            {"title": "Quay", "occurredAt": "2026-01-02T00:00:00Z", "confidence": 1.0},
        ),
        ("tides:8", "8", {"title": "8", "occurredAt": MIDNIGHT, "confidence": None}),
    ]
    assert [rejection.reason for rejection in document.rejections] == ["lacks gauge"]


# -- real documents ----------------------------------------------------------------------------


def _real() -> list[tuple[Path, str]]:
    actual = []
    for path in sorted(Path(REAL or "/nonexistent").glob("*/*")):
        format_ids = (id_ for part, id_ in FORMAT_OF_FILE.items() if path.name.startswith(part))
        id_ = next(format_ids, FORMAT_OF_FOLDER.get(path.parent.name))
        if id_ is not None and id_ in FORMATS:
            actual.append((path, id_))
    return actual


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize(
    ("path", "id_"), _real(), ids=lambda case: case.name if isinstance(case, Path) else case
)
def test_a_real_document_is_of_one_format_and_read_whole(path: Path, id_: str) -> None:
    body = Body(path.read_bytes())
    _check_alone(body, id_)
    document = whole(path.read_bytes(), name=path.name)
    assert document.records
    for record in document.records:
        _check(record, document.format)
