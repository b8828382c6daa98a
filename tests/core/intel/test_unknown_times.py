"""The time at which a document is read is never told as a time at which something happened."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from svc_core.base import drive
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, read_document
from svc_core.intel.news.recaps import recap_new
from tests.core.formats import golden
from tests.core.intel.incident_documents import fold, rss, take
from tests.core.intel.news.test_grouping import Work

READ_AT = datetime(2101, 5, 5, 5, 5, 5, tzinfo=UTC)
READ = re.compile(r"^2101-05-0[456]")
OF_READING = {
    *("createdAt", "updatedAt", "retrievedAt", "firstSeenAt", "lastSeenAt", "recordedAt"),
    *("generatedAt", "lastAttemptAt", "lastSuccessAt", "lastContentAt", "nextAttemptAt"),
}
"""Members that say when this service read, wrote or looked."""
TIMES = {
    *("occurredAt", "endedAt", "reportedAt", "publishedAt", "updatedAt", "startedAt"),
    *("datePrecision", "publishedBasis"),
}
LISTS = (
    *("listIncidents", "listOsintEvents", "listRegionalOsint", "listNews", "listRecaps"),
    *("listEntities", "listCves", "listActors", "listMarkets", "listIndicators"),
)


def _record(record: Any, is_undated: bool) -> Any:
    """The record, or what is left of it where its source gives no time."""
    if not is_undated or record.resource not in {"newsItem", "osintEvent", "incident"}:
        return record
    members = {name: None if name in TIMES else text for name, text in record.members.items()}
    members |= {"measurements": []} if "measurements" in members else {}
    return attrs.evolve(record, members=members, stamp=None, published_at=None)


def _read(house: Any, format_id: str, is_undated: bool) -> None:
    """Take in the made-up documents of a format, whatever their sentence, beside one of news."""
    take(
        house,
        rss("pier.example", "Ransomware gang breaches port operator"),
        "https://pier.example/feed",
    )
    for number, cases in enumerate(golden.stored_cases(format_id).values()):
        case = cases[0]
        text = golden.json.dumps(case["json"]) if "json" in case else "\n".join(case["text"])
        origin = Origin(**case.get("origin", {}))
        location = f"https://{format_id}-{number}.example/"
        if "contents" in case and "refused" not in case["contents"]:
            document = read_document(Body(text.encode()), FORMATS[format_id], origin)
            document = attrs.evolve(
                document, records=[_record(record, is_undated) for record in document.records]
            )
            house.take(house.add(location), document)
    fold(house)
    drive.run(recap_new(Work(house)))


def _strings(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _strings(part, (*path, name))
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part, path)
    elif isinstance(value, str):
        yield path, value


@pytest.mark.parametrize("is_undated", [False, True])
@pytest.mark.parametrize("format_id", sorted(FORMATS))
def test_no_row_tells_the_day_of_reading_as_that_of_a_happening(
    house: Any, format_id: str, is_undated: bool
) -> None:
    house.clock.advance((READ_AT - house.clock.now()).total_seconds())
    _read(house, format_id, is_undated)
    for operation in LISTS:
        for row in house.rows(operation, "limit=100"):
            told = {path for path, text in _strings(row) if READ.match(text)}
            assert {path for path in told if path[-1] not in OF_READING} == set(), operation


@pytest.mark.parametrize("format_id", ["rss", "usgs", "ucdp", "gdelt-events", "misp-event"])
def test_what_nobody_dates_is_nowhere_in_time(house: Any, format_id: str) -> None:
    house.clock.advance((READ_AT - house.clock.now()).total_seconds())
    _read(house, format_id, is_undated=True)
    spans = ("2101-05-05T00:00:00Z/..", "../2101-05-06T00:00:00Z")
    for row in house.rows("listIncidents", "limit=100"):
        times = ("startedAt", "endedAt", "lastHappenedAt", "datePrecision", "status")
        assert [row[name] for name in times] == [None] * len(times), row["title"]
    for span in spans:
        assert house.rows("listIncidents", f"datetime={span}") == []
        assert house.rows("listOsintEvents", f"datetime={span}") == []
    days = {row["window"]["start"] for row in house.rows("listRecaps", "limit=100")}
    assert days <= {"2026-01-02T00:00:00Z"}
