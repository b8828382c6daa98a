"""The same documents give the same signals, in any order and portions, and on any day."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base import drive
from svc_core.formats.model import Metadata, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.incidents.story_grouping import group_new
from svc_core.intel.signals.detection import detect_new
from svc_core.intel.signals.detectors import DETECTORS
from svc_core.intel.signals.model import SIGNALS, Signal
from tests import events
from tests.core import cves
from tests.core.intel.news.test_grouping import Work
from tests.sampling import examples

House = Any
NOON = datetime(2026, 1, 20, 12, tzinfo=UTC)


class Reading(NamedTuple):
    """A document, and the location that it is read from."""

    location: str
    document: Document


def document(body: str | bytes, format_: str = "", **options: str) -> Document:
    body_ = Body(body if isinstance(body, bytes) else body.encode())
    return read_document(
        body_, FORMATS[format_] if format_ else recognise_format(body_), Origin(options=options)
    )


def kev(day: int, **entries: bool) -> Document:
    rows = (
        cves.kev_entry(
            name.replace("_", "-"), vendorProject="Quayside", dateAdded="2026-01-02",
            knownRansomwareCampaignUse="Known" if used else "Unknown",
        )
        for name, used in entries.items()
    )  # fmt: skip
    return document(json.dumps(cves.catalogue(f"2026-01-{day:02}", *rows)), "kev")


def nvd(day: int, score: float, first_at: str, name: str = "CVE-2026-1001") -> Document:
    metrics = {"cvssMetricV31": [cves.metric(score)]}
    page = cves.nvd(name, f"2026-01-{day:02}", published=first_at, metrics=metrics)
    return document(json.dumps(page), "nvd")


def epss(day: int, score: float, percentile: float) -> Document:
    return document(
        cves.epss(f"2026-01-{day:02}", "v2025.03.14", CVE_2026_1001=(score, percentile)), "epss"
    )


def market(hours: float, probability: float) -> Document:
    row = {
        "id": "m1", "question": "Will the strike end?", "outcomeType": "BINARY",
        "mechanism": "cpmm-1", "probability": probability, "volume": 5_000, "volume24Hours": 5_000,
        "url": "https://manifold.markets/a/b", "isResolved": False, "createdTime": 1767225600000,
        "lastUpdatedTime": 1768000000000 + int(hours * 3_600_000),
    }  # fmt: skip
    return document(json.dumps([row]), "manifold")


def un_list(day: int, *numbers: int) -> Document:
    rows = "".join(
        f"<ENTITY><DATAID>{number}</DATAID><FIRST_NAME>PIER {number}</FIRST_NAME>"
        f"<UN_LIST_TYPE>QD</UN_LIST_TYPE><REFERENCE_NUMBER>QDe.00{number}</REFERENCE_NUMBER>"
        f"<LISTED_ON>2026-01-0{number}</LISTED_ON></ENTITY>"
        for number in numbers
    )
    head = f'<CONSOLIDATED_LIST dateGenerated="2026-01-{day:02}T00:00:00Z">'
    return document(
        f"{head}<INDIVIDUALS/><ENTITIES>{rows}</ENTITIES></CONSOLIDATED_LIST>", "un-sanctions"
    )


def alert(day: int, severity: str) -> Document:
    record = events.event(
        1,
        provider="gdacs",
        severity=severity,
        severityBasis={"provider": "gdacs", "scale": "pager", "value": events.PAGER[severity]},
        stamp=datetime(2026, 1, day, tzinfo=UTC),
    )
    return Document(events.ALERTS, Metadata(), (record,), ())


def feed(name: str, hours: Sequence[float], title: str) -> Document:
    rows = "".join(
        f"<item><title>{title}</title><link>https://{name}.example/{hour}</link>"
        f"<pubDate>{format_datetime(NOON - timedelta(hours=hour))}</pubDate></item>"
        for hour in hours
    )
    return document(
        f"<rss version='2.0'><channel><title>{name}</title>{rows}</channel></rss>", "rss"
    )


def series(first: int, values: Sequence[float]) -> Document:
    rows = [
        {"indicator": {"id": "X.Y", "value": "Reserves"}, "countryiso3code": "BEL",
         "country": {"id": "BE", "value": "Belgium"}, "date": str(first + at), "value": value,
         "unit": "", "obs_status": "", "decimal": 1}
        for at, value in enumerate(values)
    ]  # fmt: skip
    head = {"page": 1, "pages": 1, "per_page": 50, "total": len(rows), "sourceid": "2"}
    return document(json.dumps([head, rows]), "worldbank")


def quakes(*rows: tuple[int, str]) -> Document:
    records = [
        events.event(number, type=type_, occurredAt="2026-01-05T10:00:00Z",
                     place=events.place(10.5, 5.5, "EC"), url=f"https://news.example/{number}")
        for number, type_ in rows
    ]  # fmt: skip
    return Document(events.QUAKES, Metadata(), tuple(records), ())


def filings() -> Document:
    recent = {
        "accessionNumber": ["0000320193-26-000001"], "filingDate": ["2026-01-10"],
        "reportDate": ["2026-01-08"], "acceptanceDateTime": ["2026-01-10T16:30:00.000Z"],
        "form": ["8-K"], "items": ["1.05,9.01"], "primaryDocument": ["a.htm"],
        "primaryDocDescription": ["8-K"],
    }  # fmt: skip
    company = {"cik": "320193", "name": "Quayside Inc", "tickers": ["QUAY"],
               "exchanges": ["Nasdaq"], "filings": {"recent": recent, "files": []}}  # fmt: skip
    return document(json.dumps(company), "sec-submissions")


WEEK = [float(hours) for hours in range(26, 176, 12)]
GOOD, BAD = "Port celebrates great success and wonderful growth", "Deadly disaster: terrible crash"

ONE = {"CVE_2026_1001": False}
TOPICS = {"alpha": ("shipping",), "beta": ("shipping",)}
READINGS = [
    *(Reading("https://cisa.example/kev", release) for release in (
        kev(5, **ONE), kev(7, **ONE, CVE_2026_1002=False),
        kev(9, **ONE, CVE_2026_1002=True, CVE_2026_1003=False),
    )),
    *(Reading("https://nvd.example/a", page) for page in (
        nvd(3, 7.0, "2020-01-01T00:00:00.000"), nvd(5, 9.8, "2020-01-01T00:00:00.000"),
        nvd(9, 9.1, "2026-01-01T00:00:00.000", "CVE-2026-1004"),
    )),
    *(Reading("https://epss.example/a", day) for day in (
        epss(3, 0.05, 0.6), epss(4, 0.31, 0.8),
    )),
    *(Reading("https://markets.example/a", market(*price)) for price in (
        (0, 0.3), (1, 0.42), (5, 0.6), (30, 0.5), (40, 0.35),
    )),
    *(Reading("https://un.example/a", page) for page in (
        un_list(5, 1, 2), un_list(7, 1, 2, 3), un_list(9, 1, 3),
    )),
    *(Reading("https://alerts.example/a", page) for page in (
        alert(2, "medium"), alert(4, "high"),
    )),
    *(Reading(f"https://{name}.example/feed", feed(name, hours, title)) for name in TOPICS
      for hours, title in ((WEEK, GOOD), ((0.5, 0.75, 1.0, 1.5), BAD), ((30.1, 30.2, 30.3), BAD))),
    Reading("https://bank.example/a", series(2000, [100, 101, 100, 101, 100, 101, 100])),
    Reading("https://bank.example/a", series(2007, [101, 100, 101, 100, 101, 107])),
    Reading("https://quakes.example/a", quakes((1, "flood"), (2, "fire"))),
    Reading("https://quakes.example/a", quakes((3, "protest"))),
    Reading("https://sec.example/a", filings()),
]  # fmt: skip


def detect(house: House) -> None:
    work: Any = Work(house)
    for run in (group_new, fold_new, detect_new):
        drive.run(run(work))


def view(signal: Signal) -> dict[str, Any]:
    """A signal without what tells of reading, and without ids of stories."""
    row: dict[str, Any] = json.loads(wire.to_bytes(signal))
    for name in ("createdAt", "updatedAt", "revision", "incidentIds"):
        del row[name]
    for ref in row["sources"]:
        del ref["retrievedAt"]
    return row


def signals_of(
    house: House, readings: Sequence[Reading], stops: Sequence[int], start: float
) -> Any:
    """The signals of these readings, with passes after some of them, from a day on."""
    house.clock.advance(start * 86_400)
    for at, reading in enumerate(readings):
        name = reading.location.split("/")[2].split(".")[0]
        source = house.add(reading.location, topics=TOPICS.get(name, ()))
        house.take(source, reading.document)
        house.clock.advance(3_600)
        if at in stops:
            detect(house)
    detect(house)
    return sorted((view(row) for row in house.stored(SIGNALS)), key=lambda row: row["id"])


@pytest.fixture(scope="module")
def expected(house_factory: Callable[[], House]) -> Any:
    """The signals of all made-up documents in the order of their times."""
    return signals_of(house_factory(), READINGS, range(len(READINGS)), 60)


def test_the_documents_of_the_law_raise_every_type_of_signal(expected: Any) -> None:
    types = Counter(row["type"] for row in expected)
    assert types.keys() == DETECTORS.keys() - {"sourceSilence"}
    assert types["kevAdded"] == 2
    assert types["escalation"] == 1


def test_a_signal_has_the_times_of_its_evidence(expected: Any) -> None:
    for row in expected:
        window = row["evidence"]["window"]
        assert window["start"] is not None
        assert window["start"] <= window["end"] == row["detectedAt"]
        assert row["detectedAt"] < "2026-01-21"  # the documents are older than their reading


KINDS = {"indicatorSurprise": {"fin"}, "filing8k105": {"obs"}, "volumeSpike": {"obs"},
         "toneShift": {"obs"}, "convergence": {"obs"}, "escalation": {"obs"}}  # fmt: skip


def test_observations_are_named_by_their_kind(expected: Any) -> None:
    for row in expected:
        assert {id_.split("_")[0] for id_ in row["observationIds"]} == KINDS.get(row["type"], set())
        assert bool(row["marketIds"]) == (row["type"] == "marketMove")


@examples(10, phases=[Phase.generate])  # about a second each
@given(
    st.permutations(range(len(READINGS))),
    st.sets(st.integers(0, len(READINGS))),
    st.floats(60, 900),
)
def test_any_order_portions_and_day_give_the_same_signals(
    house_factory: Callable[[], House], expected: Any,
    order: Sequence[int], stops: set[int], start: float,
) -> None:  # fmt: skip
    found = signals_of(house_factory(), [READINGS[at] for at in order], sorted(stops), start)
    assert [row["title"] for row in found] == [row["title"] for row in expected]
    assert found == expected


FOLDERS = ("cisa_kev", "usgs_geojson", "nvd2", "epss_csv", "polymarket", "kalshi", "worldbank",
           "gdelt_events2", "gdacs_api")  # fmt: skip
RELEASES = {"cisa_kev", "usgs_geojson"}  # whose files are documents of one location


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("seed", [1])
def test_real_documents_in_any_order_give_the_same_signals(
    house_factory: Callable[[], House], real_documents: Callable[[str], list[Path]], seed: int
) -> None:
    readings = [
        Reading(
            f"https://{folder}.example/{'a' if folder in RELEASES else path.name}",
            document(path.read_bytes()),
        )
        for folder in FOLDERS
        for path in real_documents(folder)
    ]
    expected = signals_of(house_factory(), readings, range(len(readings)), 400)
    assert {"kevAdded", "kevRansomware", "criticalCve"} <= {row["type"] for row in expected}
    random = Random(seed)
    order = random.sample(readings, len(readings))
    stops = random.sample(range(len(readings)), 3)
    assert signals_of(house_factory(), order, stops, random.uniform(400, 900)) == expected
