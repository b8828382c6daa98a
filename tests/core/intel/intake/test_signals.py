"""What changed between two documents of a source becomes signals, and nothing else does."""

import json
import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.intake.record_intake import withdraw
from svc_core.intel.signals.model import SIGNALS, Signal
from tests.core import cves

House = Any


@pytest.fixture(autouse=True)
def _later(house: House) -> None:
    house.clock.advance(40 * 24 * 3_600)  # by then it is February: all that is told has been


def document(body: str | bytes, format_: str = "", **options: str) -> Document:
    body_ = Body(body if isinstance(body, bytes) else body.encode())
    return read_document(
        body_, FORMATS[format_] if format_ else recognise_format(body_), Origin(options=options)
    )


def signals(house: House) -> list[Signal]:
    rows: list[Signal] = house.stored(SIGNALS)
    return rows


def titles(house: House) -> list[tuple[str, str]]:
    return sorted((signal.type, signal.title) for signal in signals(house))


def take_all(house: House, *documents: Document, location: str = "https://cat.example/a") -> None:
    source = house.add(location)
    for document_ in documents:
        house.take(source, document_)
        house.clock.advance(60)


# -- catalogues of exploited vulnerabilities ----------------------------------------------------


def kev(day: int, *entries: tuple[int, bool]) -> Document:
    rows = (
        cves.kev_entry(
            f"CVE-2026-{1000 + number}", vendorProject="Quayside", dateAdded=f"2026-01-{number:02}",
            knownRansomwareCampaignUse="Known" if ransomware else "Unknown",
        )
        for number, ransomware in entries
    )  # fmt: skip
    return document(json.dumps(cves.catalogue(f"2026-01-{day:02}", *rows)), "kev")


FIRST, TWO = (1, False), (2, False)


@pytest.mark.parametrize(
    ("releases", "counts"),
    [
        ([kev(5, FIRST, TWO)], {}),
        ([kev(5, FIRST), kev(6, FIRST)], {}),
        ([kev(5, FIRST), kev(6, FIRST, TWO)], {"kevAdded": 1}),
        ([kev(5, FIRST), kev(6, FIRST, (2, True), (3, False))], {"kevAdded": 2}),
        ([kev(5, FIRST), kev(6, (1, True))], {"kevRansomware": 1}),
        ([kev(5, (1, True)), kev(6, FIRST)], {}),
        ([kev(5, FIRST, TWO), kev(6, FIRST), kev(7, FIRST, TWO)], {"kevAdded": 1}),
    ],
)
def test_what_a_catalogue_gained_is_told(
    house: House, releases: Sequence[Document], counts: dict[str, int]
) -> None:
    take_all(house, *releases)
    assert Counter(signal.type for signal in signals(house)) == counts
    for release in releases:  # and nothing more when it is read again
        take_all(house, release)
    assert Counter(signal.type for signal in signals(house)) == counts


def test_an_addition_tells_what_it_goes_by(house: House) -> None:
    take_all(house, kev(5, FIRST), kev(6, FIRST, (2, True)))
    (signal,) = signals(house)
    assert signal.title == "CVE-2026-1002 is known to be exploited"
    assert (signal.strength, signal.direction, signal.status) == (1.0, "up", "active")
    assert f"{signal.detected_at:%Y-%m-%d}" == "2026-01-02"
    assert signal.expires_at == signal.detected_at + timedelta(days=30)
    assert signal.tags == ("cyber", "exploitation", "ransomware")
    assert [(entity.name, entity.role) for entity in signal.entities] == [
        ("CVE-2026-1002", "subject"),
        ("Quayside", "vendor"),
    ]
    assert signal.evidence is not None
    assert (signal.evidence.observed, signal.evidence.baseline) == (1, 0)
    assert signal.detector.parameters["strengthBase"] == 0.7


def test_two_sources_have_each_their_own_first_catalogue(house: House) -> None:
    take_all(house, kev(5, FIRST))
    take_all(house, kev(6, FIRST, TWO), location="https://mirror.example/a")
    assert titles(house) == []
    take_all(house, kev(7, FIRST, TWO, (3, False)))
    assert [type_ for type_, _ in titles(house)] == ["kevAdded", "kevAdded"]


@pytest.mark.needs("SVC_REAL_DATA")
def test_two_releases_of_the_real_catalogue_give_what_was_added_between_them(house: House) -> None:
    root = Path(os.environ["SVC_REAL_DATA"])  # noqa: TID251 - what the tests are given
    releases = [
        (root / "cisa_kev" / name).read_bytes()
        for name in ("kev_2025-03-13_a.json", "kev_2025-03-18_b.json")
    ]
    take_all(house, *(document(release, "kev") for release in releases))
    entries = [
        {
            row["cveID"]: row["knownRansomwareCampaignUse"]
            for row in json.loads(release)["vulnerabilities"]
        }
        for release in releases
    ]
    ransomware = {
        cve for cve, use in entries[0].items() if (use, entries[1].get(cve)) == ("Unknown", "Known")
    }
    assert sorted(
        signal.title[:14].strip() for signal in signals(house) if signal.type == "kevAdded"
    ) == [
        "CVE-2025-24472",
        "CVE-2025-30066",
    ]
    assert {
        signal.title.split()[0] for signal in signals(house) if signal.type == "kevRansomware"
    } == (ransomware)


# -- scores -------------------------------------------------------------------------------------


def epss(day: int, score: float, percentile: float, model: str = "v2025.03.14") -> Document:
    return document(cves.epss(f"2026-01-{day:02}", model, CVE_2026_1001=(score, percentile)))


@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize(
    ("before", "after", "direction"),
    [
        ((0.1, 0.7), (0.299, 0.7), None),
        ((0.1, 0.7), (0.3, 0.7), "up"),
        ((0.5, 0.7), (0.3, 0.7), "down"),
        ((0.5, 0.7), (0.301, 0.7), None),
        ((0.1, 0.899), (0.11, 0.9), "up"),
        ((0.1, 0.9), (0.11, 0.91), None),
        ((0.11, 0.9), (0.1, 0.899), None),
        ((0.1, 0.4), (0.1, 0.999), None),  # no other figure
        ((0.0861, 0.89), (0.0949, 0.96), None),  # 0.09 to 0.09
        ((0.0949, 0.89), (0.0951, 0.96), "up"),
        ((0.12, 0.89), (0.11, 0.96), None),  # the percentile rose, as others fell more
    ],
)
def test_a_score_jumps_by_a_fifth_or_into_a_higher_band(
    house: House,
    before: tuple[float, float],
    after: tuple[float, float],
    direction: str | None,
    is_reversed: bool,
) -> None:
    take_all(house, kev(5, FIRST))
    days = [epss(3, *before), epss(4, *after)]
    take_all(house, *(reversed(days) if is_reversed else days), location="https://epss.example/a")
    signals_ = signals(house)
    assert [item.direction for item in signals_] == ([direction] if direction else [])
    for signal in signals_:
        assert signal.evidence is not None
        assert (signal.evidence.observed, signal.evidence.baseline) == (after[0], before[0])
        assert signal.strength == round(0.3 + abs(after[0] - before[0]), 4)
        assert f"{signal.detected_at:%Y-%m-%d}" == "2026-01-04"
        assert [ref.provider for ref in signal.sources] == ["first-epss"]


def test_a_jump_from_one_model_to_another_says_so(house: House) -> None:
    take_all(house, kev(5, FIRST))
    take_all(house, epss(3, 0.1, 0.4), epss(4, 0.6, 0.5, "v4"), location="https://epss.example/a")
    (signal,) = signals(house)
    assert "modelChanged" in signal.tags
    assert signal.summary is not None


def nvd(score: float, *, first_at: str, day: int = 20, status: str = "Analyzed") -> Document:
    metrics = {"cvssMetricV31": [cves.metric(score)]}
    members = {"published": first_at, "vulnStatus": status, "metrics": metrics}
    page = cves.nvd("CVE-2026-1001", f"2026-01-{day}", **members)
    return document(json.dumps(page), "nvd")


NEW, OLD = "2026-01-15T00:00:00.000", "2020-01-15T00:00:00.000"


@pytest.mark.parametrize(
    ("documents", "strengths"),
    [
        ([nvd(8.9, first_at=NEW)], []),
        ([nvd(9.0, first_at=NEW)], [0.5]),
        ([nvd(10.0, first_at=NEW)], [1.0]),
        ([nvd(9.8, first_at=OLD)], []),
        ([nvd(9.8, first_at=NEW, status="Rejected")], []),
        ([nvd(7.0, first_at=OLD), nvd(9.8, first_at=OLD, day=21)],
         [0.9]),
        ([nvd(9.8, first_at=NEW), nvd(9.9, first_at=NEW, day=21)],
         [0.95]),
        ([nvd(9.8, first_at=NEW), nvd(8.9, first_at=NEW, day=21)], []),  # critical no more
    ],
)  # fmt: skip
def test_a_vulnerability_is_critical_from_nine_on(
    house: House, documents: Sequence[Document], strengths: list[float]
) -> None:
    take_all(house, *documents)
    assert [
        signal.strength for signal in signals(house) if signal.type == "criticalCve"
    ] == strengths


# -- sanctions ----------------------------------------------------------------------------------


def ofac(*entries: tuple[int, str]) -> Document:
    lines = [
        f'{number},"PIER {number}","-0- ","{programs}","-0- ","-0- ","-0- ","-0- ","-0- ","-0- "'
        ',"-0- ","-0- "'
        for number, programs in entries
    ]
    return document("\r\n".join(lines) + "\r\n", "ofac", part="sdn")


@pytest.mark.parametrize(
    ("lists", "titles_"),
    [
        ([ofac((1, "CUBA"), (2, "CUBA"))], []),
        ([ofac((1, "CUBA"), (2, "CUBA")), ofac((1, "CUBA"), (2, "CUBA"), (3, "CYBER2"))],
         ["sanctionListed"]),
        ([ofac((1, "CUBA"), (2, "CUBA")), ofac((1, "CUBA] [CYBER2"), (2, "CUBA"))],
         ["sanctionListed"]),
        ([ofac(*((n, "CUBA") for n in range(1, 10))), ofac(*((n, "CUBA") for n in range(1, 9)))],
         ["sanctionDelisted"]),
    ],
)  # fmt: skip
def test_who_came_on_a_list_or_left_it_is_told(
    house: House, lists: Sequence[Document], titles_: list[str]
) -> None:
    take_all(house, *lists)
    assert [type_ for type_, _ in titles(house)] == titles_


# -- filings ------------------------------------------------------------------------------------


def filings(*rows: tuple[str, str]) -> Document:
    recent: dict[str, list[Any]] = {
        "accessionNumber": [f"0000320193-26-{n:06}" for n in range(len(rows))],
        "filingDate": ["2026-01-10"] * len(rows),
        "reportDate": ["2026-01-08"] * len(rows),
        "acceptanceDateTime": ["2026-01-10T16:30:00.000Z"] * len(rows),
        "form": [form for form, _ in rows],
        "items": [items for _, items in rows],
        "primaryDocument": ["a.htm"] * len(rows),
        "primaryDocDescription": ["8-K"] * len(rows),
    }
    company = {
        "cik": "320193",
        "name": "Quayside Inc",
        "tickers": ["QUAY"],
        "exchanges": ["Nasdaq"],
        "filings": {"recent": recent, "files": []},
    }
    return document(json.dumps(company), "sec-submissions")


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([("8-K", "1.05,9.01")], 1),
        ([("8-K/A", "1.05")], 1),
        ([("8-K", "1.01,9.01"), ("8-K", "11.05"), ("10-K", "")], 0),
        ([("8-K", "8.01"), ("8-K", "7.01")], 0),
        ([("8-K", "1.05"), ("8-K", "1.05,7.01")], 2),
    ],
)
def test_a_filing_with_item_1_05_is_told(
    house: House, rows: list[tuple[str, str]], count: int
) -> None:
    take_all(house, filings(*rows))
    signals_ = signals(house)
    assert [item.type for item in signals_] == ["filing8k105"] * count
    assert all(f"{item.detected_at:%Y-%m-%dT%H:%M}" == "2026-01-10T16:30" for item in signals_)


# -- markets ------------------------------------------------------------------------------------


def market(yes: float, at: int, *, volume: float = 5_000, **members: Any) -> Document:
    row = {
        "id": "m1",
        "question": "Will the strike end?",
        "outcomeType": "BINARY",
        "mechanism": "cpmm-1",
        "probability": yes,
        "volume": volume,
        "volume24Hours": volume,
        "url": "https://manifold.markets/a/b",
        "isResolved": False,
        "createdTime": 1767225600000,
        "lastUpdatedTime": at,
        **members,
    }
    return document(json.dumps([row]), "manifold")


HOUR = 3_600_000
T0 = 1768000000000


@pytest.mark.parametrize(
    ("prices", "directions"),
    [
        ([(0, 0.30)], []),
        ([(0, 0.30), (1, 0.399)], []),
        ([(0, 0.30), (1, 0.40)], ["up"]),
        ([(0, 0.30), (24, 0.40)], ["up"]),
        ([(0, 0.30), (25, 0.40)], []),
        ([(0, 0.50), (1, 0.20)], ["down"]),
        ([(0, 0.30), (8, 0.34), (16, 0.38), (23, 0.41)], ["up"]),  # slowly, in a day
        ([(0, 0.30), (12, 0.34), (24, 0.38), (36, 0.42), (48, 0.46)], []),  # slower
        ([(0, 0.30), (1, 0.40), (2, 0.55)], ["up"]),  # once a day and way
    ],
)
def test_a_probability_that_moves_by_a_tenth_in_a_day_is_told(
    house: House, prices: list[tuple[float, float]], directions: list[str]
) -> None:
    take_all(house, *(market(yes, T0 + int(at * HOUR)) for at, yes in prices))
    assert [signal.direction for signal in signals(house)] == directions
    for signal in signals(house):
        assert signal.evidence is not None
        assert signal.evidence.window is not None
        assert signal.market_ids
        assert signal.evidence.threshold == 0.1


@pytest.mark.parametrize("hours", [-1, 0, 4, 30])
def test_when_a_price_was_read_says_nothing_of_its_moves(house: House, hours: int) -> None:
    source = house.add("https://cat.example/a")
    house.take(source, market(0.3, T0))

    async def read(ctx: Any) -> None:
        row, at = await ctx.load(SOURCES, source.id), T0 // 1_000 + hours * 3_600
        stored = SOURCES.decode(row.raw)
        health = attrs.evolve(stored.health, last_success_at=datetime.fromtimestamp(at, UTC))
        await ctx.save(SOURCES, source.id, attrs.evolve(stored, health=health))

    house.run(read)
    house.take(source, market(0.5, T0 + 26 * HOUR))
    assert signals(house) == []


@pytest.mark.parametrize(("volume", "count"), [(999, 0), (1_000, 1)])
def test_a_market_that_few_trade_in_moves_nobody(house: House, volume: float, count: int) -> None:
    take_all(house, market(0.3, T0, volume=volume), market(0.5, T0 + HOUR, volume=volume))
    assert len(signals(house)) == count


# -- laws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("brought", "types"),
    [
        (lambda: ofac((1, "CUBA"), (2, "CUBA")), []),
        (lambda: nvd(9.8, first_at=NEW), ["criticalCve"]),
    ],
)
def test_what_a_removed_source_brought_is_not_taken_back(
    house: House, brought: Any, types: list[str]
) -> None:
    take_all(house, brought())

    async def remove(ctx: Any) -> None:
        page = await ctx.tx.documents.scan(CONTRIBUTIONS, limit=100)
        claims = [CONTRIBUTIONS.decode(row.raw) for row in page.rows]
        await ctx.tx.documents.delete(SOURCES, claims[0].source)
        await withdraw(ctx, claims)

    house.run(remove)
    assert [signal.type for signal in signals(house)] == types


def test_a_change_of_a_whole_catalogue_drowns_nothing(house: House) -> None:
    entries = [(n, "CUBA") for n in range(1, 700)]
    take_all(house, ofac((1, "IRAN")), ofac(*entries))
    assert Counter(signal.type for signal in signals(house)) == {
        "sanctionListed": 500,
        "sanctionDelisted": 1,
    }


PAIRS: dict[str, Sequence[Document]] = {
    "kev": [kev(5, FIRST), kev(6, (1, True), TWO)],
    "ofac": [ofac((1, "CUBA"), (2, "CUBA")), ofac((1, "CUBA"), (2, "CUBA"), (3, "CYBER2"))],
    "markets": [market(0.3, T0), market(0.6, T0 + HOUR)],
    "filings": [filings(("8-K", "1.05"))],
}


@pytest.mark.parametrize("name", PAIRS)
def test_every_signal_has_its_evidence_its_source_and_an_end(house: House, name: str) -> None:
    take_all(house, *PAIRS[name])
    signals_ = signals(house)
    assert signals_
    for signal in signals_:
        assert signal.evidence is not None
        assert signal.evidence.observed is not None
        assert signal.sources
        assert signal.source_count >= 1
        assert 0 <= signal.strength <= 1
        assert signal.expires_at is not None
        assert signal.expires_at > signal.detected_at
        assert signal.detected_at <= house.clock.now()
