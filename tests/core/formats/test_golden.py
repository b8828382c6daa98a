"""What each format reads from made-up documents, and values that real ones are known to have."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from svc_core.formats.model import Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document
from svc_core.intel.intake.kinds import KINDS
from svc_core.wire import camel, structure
from tests.core.formats import golden
from tests.themes import each

REAL = Path(os.environ.get("SVC_REAL_DATA", ""))  # noqa: TID251 - what the tests are given
REAL_DOCUMENTS: dict[str, dict[str, Any]] = json.loads(
    (golden.FILES.parent / "real_documents.json").read_text("utf-8")
)
FORMAT_IDS = sorted(path.stem for path in golden.FILES.glob("*.json"))
CASES = [
    (format_id, sentence, case)
    for format_id in FORMAT_IDS
    for sentence, cases in golden.stored_cases(format_id).items()
    for case in cases
]


STORMS = {
    ("Storm", "severeStorms", "", ""): "storm",
    ("Severe storms in Oklahoma", "severeStorms", "PDC", "https://pdc.example/1"): "storm",
    ("After Hurricane Ada", "severeStorms", "PDC", ""): "storm",
    ("Ada", "severeStorms", "JTWC", "https://jtwc.example/ep05.tcw"): "tropicalCyclone",
    ("Ada", "severeStorms", "NOAA_NHC", ""): "tropicalCyclone",
    ("Ada", 10, "GDACS", "https://www.gdacs.org/report.aspx?eventtype=TC&eventid=1"):
        "tropicalCyclone",
    ("Hurricane Ada", "severeStorms", "PDC", ""): "tropicalCyclone",
    ("Typhoon 18W", "severeStorms", "PDC", ""): "tropicalCyclone",
    ("Severe Tropical Storm Ada", "severeStorms", "PDC", ""): "tropicalCyclone",
    ("tropical depression 7", "severeStorms", "PDC", ""): "tropicalCyclone",
    ("Cyclone Ada", "severeStorms", "PDC", ""): "tropicalCyclone",
    # What a storm does is not a storm.
    ("Hurricane Ada", "floods", "NOAA_NHC", ""): "flood",
    ("Hurricane Creek", "wildfires", "IRWIN", ""): "wildfire",
    ("Ada", "unheardOf", "JTWC", ""): "other",
}  # fmt: skip


@pytest.mark.parametrize("form", ["event", "feature"])
@pytest.mark.parametrize(("event", "kind"), STORMS.items())
def test_a_storm_is_a_tropical_cyclone_where_its_source_or_title_says_so(
    event: tuple[Any, ...], kind: str, form: str
) -> None:
    title, category, source, url = event
    spot = {"type": "Point", "coordinates": [5.0, 2.0]}
    members: dict[str, Any] = {
        "id": "EONET_1", "title": title, "categories": [{"id": category}],
        "sources": [{"id": source, "url": url}] if source else [],
    }  # fmt: skip
    features = [{"type": "Feature", "properties": members, "geometry": spot}]
    forms: dict[str, dict[str, Any]] = {
        "event": {"events": [members | {"geometry": [spot | {"date": "2026-01-02T06:00:00Z"}]}]},
        "feature": {"type": "FeatureCollection", "features": features},
    }
    body = Body(json.dumps(forms[form]).encode())
    (record,) = read_document(body, FORMATS["eonet"], Origin()).records
    assert record.members["type"] == kind


# -- made-up documents -------------------------------------------------------------------------


@each(CASES)
def test_a_document_gives_what_is_stored_of_it(
    format_id: str, sentence: str, case: golden.Case
) -> None:
    contents, stored = golden.read_contents(format_id, case), case.get("contents", {})
    assert contents == stored
    assert json.dumps(contents, sort_keys=True) == json.dumps(stored, sort_keys=True)


def test_every_format_has_documents() -> None:
    assert sorted(FORMATS) == FORMAT_IDS


BESIDE = {
    "newsItem": {"text", "categories"},
    "osintEvent": {"footprint", "track"},
    "country": {"provider"},
    "entity": {
        *("attackId", "country", "crossReferences", "deprecated", "firstSeenDate", "lastSeenDate"),
        *("motivations", "registered", "replacedBy", "sophistication", "targetCountries"),
        "targetSectors",
    },
    "relation": {"evidence"},
    "cve": {"scoredBy"},
    "financialObservation": {"entity"},
    "filing": {"entity"},
}
"""Members that the fold makes others of, such as the facet of a threat actor."""


@pytest.mark.parametrize("format_id", FORMAT_IDS)
def test_a_parser_writes_members_of_the_row_and_of_their_types(format_id: str) -> None:
    cases = (case for cases in golden.stored_cases(format_id).values() for case in cases)
    for record in (row for case in cases for row in case.get("contents", {}).get("records", ())):
        collection = KINDS[record["resource"]].collection
        if collection is not None:
            hints = get_type_hints(collection.model, include_extras=True)
            types = {camel(name): hint for name, hint in hints.items()}
            for name, value in record.get("members", {}).items():
                if name not in BESIDE.get(record["resource"], ()):
                    assert value is None or structure(types[name], value) is not None


def test_a_file_is_as_its_command_writes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = {id_: (golden.FILES / f"{id_}.json").read_text("utf-8") for id_ in FORMAT_IDS}
    groups = {format_id: golden.stored_cases(format_id) for format_id in FORMAT_IDS}
    monkeypatch.setattr(golden, "FILES", tmp_path)
    for format_id, cases in groups.items():
        golden.write_cases(format_id, cases)
    written = {id_: (tmp_path / f"{id_}.json").read_text("utf-8") for id_ in FORMAT_IDS}
    assert written == stored


# -- real documents ----------------------------------------------------------------------------


def real(path: str) -> Document:
    options, format_ = REAL_DOCUMENTS[path].get("options", {}), REAL_DOCUMENTS[path]["format"]
    origin = Origin(options=options, name=path.rpartition("/")[2])
    return read_document(Body((REAL / path).read_bytes()), FORMATS[format_], origin)


def at(value: Any, path: str) -> Any:
    """The member of a JSON value at a path such as `scores/0/provider`; `#` counts a list."""
    for name in path.split("/"):
        if isinstance(value, list | tuple):
            value = len(value) if name == "#" else next(iter(value[int(name) :][:1]), None)
        else:
            value = None if value is None else value.get(name)
    return value


def kind(record: Record) -> str:
    return " ".join(filter(None, (record.resource, record.members.get("type"))))


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("path", REAL_DOCUMENTS)
def test_a_real_document_has_its_records_and_their_values(path: str) -> None:
    document, stored = real(path), REAL_DOCUMENTS[path]
    assert Counter(map(kind, document.records)) == stored["records"]
    reasons = {rejection.reason: rejection.count for rejection in document.rejections}
    assert reasons == stored.get("rejections", {})
    rows = {record.key: record.members for record in document.records}
    for key, values in stored.get("rows", {}).items():
        assert {name: at(rows[key], name) for name in values} == values, key


@pytest.mark.needs("SVC_REAL_DATA")
def test_sums_over_real_documents_are_right() -> None:
    deaths = [
        sum(at(record.members, f"measurements/{place}/value") for record in conflict)
        for conflict in [real("ucdp_ged_csv/ucdp_ged_BGD_a.csv").records]
        for place in range(3)
    ]
    assert deaths == [903, 926, 1336]
    tracks = [record.members["track"] for record in real("eonet/eonet_events.json").records]
    assert sum(map(len, tracks)) == 384
    events = real("gdelt_events2/20191024143000.export.part1.CSV").records
    countries = Counter(at(record.members, "place/countryCode") for record in events)
    assert (countries["US"], countries["CN"], countries["ZA"], countries["DE"]) == (200, 27, 22, 20)
    mentions = real("gdelt_mentions/mentions_a.csv").records
    assert round(sum(record.members["confidence"] for record in mentions), 2) == 222.1


@pytest.mark.needs("SVC_REAL_DATA")
def test_an_earthquake_that_was_keyed_anew_names_its_old_key() -> None:
    before, after = (
        {record.key: record for record in real(f"usgs_geojson/usgs_2.5_day_{time}Z.json").records}
        for time in ("2026-05-04T1628", "2026-05-04T1728")
    )
    assert "usgs:us7000si5c" in before
    assert "usgs:us7000si5c" not in after
    assert after["usgs:pr71515628"].other_keys == ("usgs:us7000si5c", "usgs:pr71515628")


@pytest.mark.needs("SVC_REAL_DATA")
def test_one_rate_is_the_same_row_in_every_layout_of_sdmx() -> None:
    flat, series, version_2 = (
        {record.key: dict(record.members) for record in real(f"sdmx_json/{name}.json").records}
        for name in ("flat", "ts", "exr-time-series_v2")
    )
    assert flat == series == version_2
