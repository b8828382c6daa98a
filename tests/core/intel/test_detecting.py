"""What stands out among many rows becomes signals, at the thresholds that they state."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from typing import Any, cast

import attrs
import pytest

from svc_core.base import drive
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, read_document
from svc_core.intel.economy.indicator import FININT
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.signals.detection import detect_new
from svc_core.intel.signals.detection_review import review_signals
from svc_core.intel.signals.detectors import signal_evidence, signal_of
from svc_core.intel.signals.model import (
    DETECTION_REVIEWS,
    DETECTIONS_DUE,
    SIGNALS,
    DetectionDue,
    Signal,
)
from svc_core.intel.signals.news_outliers import later_days
from svc_core.operation.ports import SYSTEM
from svc_core.reports.observations import is_measure
from tests import events
from tests.core.intel.news.test_grouping import Work

House = Any
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _march(house: House) -> None:
    house.clock.advance((NOW - house.clock.now()).total_seconds())


def signals(house: House) -> list[Signal]:
    rows: list[Signal] = house.stored(SIGNALS)
    return rows


def detect(house: House, sources: Sequence[str] = ()) -> list[Signal]:
    """The signals after a pass."""
    drive.run(detect_new(Work(house), sources))
    return signals(house)


def feed(house: House, name: str, items: Sequence[tuple[float, str]], topic: str = "ports") -> Any:
    """Take in items of so many hours ago, with their headlines."""
    rows = "".join(
        f"<item><title>{title}</title><link>https://{name}.example/{hours}-{n}</link>"
        f"<pubDate>{format_datetime(NOW - hours * HOUR)}</pubDate></item>"
        for n, (hours, title) in enumerate(items)
    )
    body = f"<rss version='2.0'><channel><title>{name}</title>{rows}</channel></rss>"
    source = house.add(f"https://{name}.example/feed", topics=("shipping",))
    document = read_document(Body(body.encode()), FORMATS["rss"], Origin(base_url=source.location))
    house.take(source, document)
    return source


def plain(hours: Sequence[float]) -> list[tuple[float, str]]:
    return [(hour, f"Crane {at} lifts") for at, hour in enumerate(hours)]


WEEK = [float(hours) for hours in range(8, 176, 16)]  # eleven in a week
BURST = [0.1, 0.2, 0.3, 0.4, 0.5]


def of(rows: Sequence[Signal], type_: str) -> list[Signal]:
    return [signal for signal in rows if signal.type == type_]


# -- more news than usual -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "beta", "count"),
    [
        ([*BURST[:3], *WEEK], [*BURST[3:], *WEEK], 1),
        ([*BURST[:3], *WEEK], [*BURST[3:4], *WEEK], 0),  # four items
        ([*BURST, *WEEK], WEEK, 0),  # one source
        (BURST[:3], BURST[3:], 0),  # nobody knows what is usual
        ([*BURST[:3], *WEEK[:5]], [*BURST[3:], *WEEK[:5]], 0),  # nor by half a week
        ([*BURST[:3], *WEEK], BURST[3:], 0),  # a source that is new
    ],
)
def test_a_spike_is_of_many_items_of_sources_that_were_there_before(
    house: House, alpha: list[float], beta: list[float], count: int
) -> None:
    feed(house, "alpha", plain(alpha))
    feed(house, "beta", plain(beta))
    spikes = of(detect(house), "volumeSpike")
    assert len(spikes) == count
    for signal in spikes:
        assert signal.evidence is not None
        assert (signal.evidence.observed, signal.evidence.threshold) == (5, 5)
        assert signal.evidence.baseline == round(22 / 84, 4)
        assert signal.detected_at == NOW - 0.1 * HOUR
        assert (signal.source_count, len(signal.observation_ids)) == (2, 5)
        assert "shipping" in signal.tags


@pytest.mark.parametrize(("usual", "count"), [(168, 1), (169, 0)])
def test_a_spike_is_three_times_what_is_usual(house: House, usual: int, count: int) -> None:
    # Of 84 windows of two hours in a week: 168 items are two in each, and six are three times that.
    steady = [2.2 + 167.9 * at / usual for at in range(usual)]
    feed(house, "alpha", plain([*BURST[:3], *steady[::2]]))
    feed(house, "beta", plain([0.15, 0.25, 0.35, *steady[1::2]]))
    spikes = of(detect(house), "volumeSpike")
    assert len(spikes) == count
    assert all(signal.strength == 0.25 for signal in spikes)


def test_items_without_a_date_are_in_no_spike(house: House) -> None:
    house.clock.advance(-3_600)  # an undated item is known by its reading
    feed(house, "alpha", plain([1.1, 1.2, 1.3, *WEEK]))
    feed(house, "beta", plain([1.4, *WEEK]))
    rows = "".join(f"<item><title>Crane {n}</title><link>https://b.example/{n}</link></item>"
                   for n in range(5))  # fmt: skip
    body = f"<rss version='2.0'><channel><title>beta</title>{rows}</channel></rss>"
    document = read_document(Body(body.encode()), FORMATS["rss"], Origin())
    house.take(house.add("https://beta.example/more", topics=("shipping",)), document)
    assert of(detect(house), "volumeSpike") == []


def test_a_spike_is_told_once_in_its_two_hours(house: House) -> None:
    feed(house, "alpha", plain([*BURST[:3], *WEEK]))
    feed(house, "beta", plain([*BURST[3:], *WEEK]))
    detect(house)
    feed(house, "gamma", plain([0.05]))
    assert len(of(detect(house), "volumeSpike")) == 1


# -- another tone -------------------------------------------------------------------------------

GOOD = "Port celebrates great success and wonderful growth"
BAD = "Deadly disaster: terrible crash kills workers"
CALM = "Crane lifts"


def test_a_day_of_bad_news_after_a_week_of_others_is_told(house: House) -> None:
    week = [(hours, CALM if at % 3 else GOOD) for at, hours in enumerate(WEEK[2:])]
    feed(house, "alpha", [*((hour, BAD) for hour in BURST[:3]), *week])
    feed(house, "beta", [*((hour, BAD) for hour in BURST[3:]), *week])
    (signal,) = of(detect(house), "toneShift")
    assert signal.direction == "down"
    assert signal.evidence is not None
    assert signal.evidence.z_score is not None
    assert signal.evidence.z_score <= -3 == -(signal.evidence.threshold or 0)


@pytest.mark.parametrize("days", [[GOOD, CALM], [BAD, CALM], [CALM, CALM]])
def test_a_day_like_the_others_is_not(house: House, days: list[str]) -> None:
    pairs = [(hours, days[at % 2]) for at, hours in enumerate([*BURST, 0.6, *WEEK[2:]])]
    feed(house, "alpha", pairs[::2])
    feed(house, "beta", pairs[1::2])
    assert [
        signal.evidence for signal in of(detect(house), "toneShift") if signal.strength >= 0.5
    ] == []


# -- silence ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hours", "count"),
    [
        ([24.0 + 2 * at for at in range(12)], 1),  # every two hours, and nothing for a day
        ([24.0 + 2 * at for at in range(10)], 0),  # nine gaps
        ([5.0 + 2 * at for at in range(12)], 0),
        ([6.0 + 2 * at for at in range(12)], 1),
        ([24.0 + (2 if at % 2 else 14) * at for at in range(12)], 0),  # never was regular
        ([24.0 * 30 + 2 * at for at in range(12)], 0),  # long ago
    ],
)
def test_a_source_that_was_regular_and_is_silent_is_told(
    house: House, hours: list[float], count: int
) -> None:
    source = feed(house, "alpha", plain(hours))
    silences = of(detect(house, [source.id]), "sourceSilence")
    assert len(silences) == count
    assert of(detect(house, [source.id]), "sourceSilence") == silences
    for signal in silences:
        assert signal.evidence is not None
        assert (signal.evidence.baseline, signal.direction) == (2, "down")
        assert signal.tags == ("health",)
        assert is_measure(signal)


# -- values off their course --------------------------------------------------------------------


def series(house: House, values: Sequence[float | None], first: int = 2000) -> None:
    rows = [
        {"indicator": {"id": "X.Y", "value": "Reserves"}, "countryiso3code": "BEL",
         "country": {"id": "BE", "value": "Belgium"}, "date": str(first + at), "value": value,
         "unit": "", "obs_status": "", "decimal": 1}
        for at, value in enumerate(values)
    ]  # fmt: skip
    body = [{"page": 1, "pages": 1, "per_page": 50, "total": len(rows), "lastupdated": "2026-03-01",
             "sourceid": "2"}, rows]  # fmt: skip
    source = house.add("https://bank.example/x")
    document = read_document(Body(json.dumps(body).encode()), FORMATS["worldbank"], Origin())
    house.take(source, document)


STEADY: list[float | None] = [100, 101, 100, 101, 100, 101, 100, 101, 100, 101, 100]  # ten changes


@pytest.mark.parametrize(
    ("values", "direction", "level"),
    [
        ([*STEADY, 101], None, None),
        ([*STEADY, 101.58], None, None),  # the deviation of the changes is 1.0541
        ([*STEADY, 101.59], "up", 1.5),
        ([*STEADY, 97.8], "down", 2),
        ([*STEADY, 103.2], "up", 3),
        ([*STEADY[1:], 103.2], None, None),  # nine changes before
        ([*STEADY, 103.2, None], "up", 3),  # what is missing is no value
        ([5.0] * 14, None, None),
        ([*([5.0] * 13), 6.0], None, None),  # nothing is known of how it varies
    ],
)
def test_a_value_is_a_surprise_by_how_its_series_varies(
    house: House, values: list[float | None], direction: str | None, level: float | None
) -> None:
    series(house, values)
    surprises = of(detect(house), "indicatorSurprise")
    assert [signal.direction for signal in surprises] == ([direction] if direction else [])
    for signal in surprises:
        assert signal.evidence is not None
        assert signal.evidence.threshold == level
        assert signal.evidence.z_score is not None
        assert signal.strength == pytest.approx(min(1, abs(signal.evidence.z_score) / 4), abs=1e-4)
        assert signal.observation_ids[0].startswith("fin_")


def test_a_value_that_is_known_before_its_period_is_over_is_of_the_day_it_was_released(
    house: House,
) -> None:
    series(house, [*STEADY, 103.2], first=2015)

    async def release(ctx: Any) -> None:
        (row,) = (await ctx.tx.documents.scan(FININT, limit=1)).rows
        value = attrs.evolve(FININT.decode(row.raw), released_at=datetime(2026, 3, 1, tzinfo=UTC))
        await ctx.save(FININT, value.id, value)

    house.run(release)
    (signal,) = of(detect(house), "indicatorSurprise")
    assert signal.evidence is not None
    assert signal.evidence.window is not None
    assert f"{signal.evidence.window.start:%Y-%m-%d}" == "2026-01-01"
    assert f"{signal.detected_at:%Y-%m-%d}" == "2026-03-01"


# -- events of many types in one place ----------------------------------------------------------


def report_events(
    house: House, *cases: tuple[str, float, float, float], apart: bool = True
) -> None:
    """Events of a type, so many hours ago, at a longitude and latitude."""
    records = [
        events.event(
            at,
            type=type_,
            occurredAt=(NOW - hours * HOUR).isoformat().replace("+00:00", "Z"),
            place=events.place(longitude, latitude, "EC"),
            url=f"https://news.example/{at if apart else 0}",
        )
        for at, (type_, hours, longitude, latitude) in enumerate(cases)
    ]
    house.run(lambda ctx: events.take(ctx, records))


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([("flood", 1, 10.1, 5.1), ("fire", 2, 10.9, 5.9), ("protest", 12, 10.5, 5.5)], 1),
        ([("flood", 1, 10.1, 5.1), ("fire", 2, 10.9, 5.9), ("protest", 12.1, 10.5, 5.5)], 0),
        ([("flood", 1, 10.1, 5.1), ("fire", 2, 10.9, 5.9), ("fire", 3, 10.5, 5.5)], 0),
        ([("flood", 1, 10.1, 5.1), ("fire", 2, 10.9, 5.9), ("protest", 3, 11.0, 5.5)], 0),
        ([("flood", 1, 10.1, 5.1), ("fire", 2, 10.0, 5.0), ("protest", 3, 10.5, 5.5)], 1),
        ([("flood", 1, 180, 90), ("fire", 2, 179.5, 89.5), ("protest", 3, 179, 89)], 1),
        ([("flood", 1, -0.5, -0.5), ("fire", 2, 0.5, 0.5), ("protest", 3, -0.5, -0.2)], 0),
        ([("flood", 1, -0.5, -0.5), ("fire", 2, -1, -1), ("protest", 3, -0.5, -0.2)], 1),
    ],
)
def test_three_types_of_events_within_a_degree_and_a_day_converge(
    house: House, events: list[tuple[str, float, float, float]], count: int
) -> None:
    report_events(house, *events)
    rows = of(detect(house), "convergence")
    assert len(rows) == count
    for signal in rows:
        assert signal.evidence is not None
        assert (signal.evidence.observed, signal.evidence.threshold) == (3, 3)
        assert signal.place is not None and signal.place.country_code == "EC"  # noqa: PT018
        assert len(signal.observation_ids) == 3


def test_one_article_that_is_coded_three_times_is_one_event(house: House) -> None:
    events = [("coerce", 1.0, 10.1, 5.1), ("protest", 1.0, 10.1, 5.1), ("riot", 1.0, 10.1, 5.1)]
    report_events(house, *events, apart=False)
    assert of(detect(house), "convergence") == []


# -- laws ---------------------------------------------------------------------------------------


def feed_all(house: House) -> None:
    feed(house, "alpha", [*((hour, BAD) for hour in BURST[:3]), *plain(WEEK)])
    feed(house, "beta", [*((hour, BAD) for hour in BURST[3:]), *plain(WEEK)])
    series(house, [*STEADY, 103.2])
    report_events(house, ("flood", 1, 10, 5), ("fire", 2, 10, 5), ("protest", 3, 10, 5))


def test_a_pass_leaves_nothing_due_and_the_next_finds_nothing_new(house: House) -> None:
    feed_all(house)
    rows = detect(house)
    assert {"volumeSpike", "indicatorSurprise", "convergence"} <= {signal.type for signal in rows}
    assert house.stored(DETECTIONS_DUE) == []
    assert detect(house) == rows
    for signal in rows:
        assert signal.evidence is not None
        assert signal.sources
        assert 0 < signal.strength <= 1


def test_where_much_is_published_all_days_in_reach_are_judged_after_a_late_one(
    house: House,
) -> None:
    feed(house, "many", plain([at / 10 for at in range(510)]))
    day = NOW - timedelta(days=10)
    keys = house.run(partial(later_days, key=f"shipping|{day:%Y-%m-%d}"))
    assert len(keys) == 30
    assert keys[0] == f"shipping|{day + timedelta(days=1):%Y-%m-%d}"


def test_two_passes_at_once_find_the_same_signals_once(house: House) -> None:
    feed_all(house)

    async def meanwhile() -> None:
        await detect_new(Work(house))

    drive.run(detect_new(Work(house, meanwhile)))
    rows = signals(house)
    assert [signal.revision for signal in rows] == [1] * len(rows)
    changes = [row for row in house.changes() if row["resourceType"] == "signal"]
    assert len(changes) == len(rows) > 0


def test_what_is_written_while_a_pass_looks_is_looked_at_again(house: House) -> None:
    series(house, STEADY)
    writes = iter([lambda: series(house, [*STEADY, 103.2])])

    async def meanwhile() -> None:
        for write in writes:
            write()

    drive.run(detect_new(Work(house, meanwhile)))
    assert [signal.type for signal in signals(house)] == ["indicatorSurprise"]


# -- incidents that become graver ---------------------------------------------------------------


def alert(severity: str, day: int, provider: str = "gdacs", value: str | None = None) -> Any:
    return events.event(
        1,
        provider="gdacs",
        severity=severity,
        severityBasis={
            "provider": provider,
            "scale": "pager",
            "value": value or events.PAGER[severity],
        },
        designators=[{"scheme": "gdacs", "value": "EQ1", "provider": None}],
        stamp=datetime(2026, 3, day, tzinfo=UTC),
    )


@pytest.mark.parametrize(
    ("reports", "strengths"),
    [
        ([alert("medium", 1)], []),
        ([alert("medium", 1), alert("high", 2)], [0.75]),
        ([alert("high", 1), alert("medium", 2)], []),
        ([alert("medium", 1), alert("high", 2), alert("critical", 3)], [0.75, 1.0]),
        ([alert("medium", 1), alert("high", 2), alert("medium", 3), alert("high", 4)], [0.75]),
        ([alert("medium", 1), alert("high", 2, "another")], []),
        ([alert("medium", 1), alert("high", 1)], []),  # read anew, as its source judged it then
        ([alert("medium", 1, value="orange"), alert("high", 2)], []),  # by another table
        ([alert("high", 1, value="yellow"), alert("high", 2)], [0.75]),
    ],
)
def test_an_incident_escalates_on_the_scale_that_it_was_judged_by(
    house: House, reports: list[Any], strengths: list[float]
) -> None:
    for record in reports:
        house.run(lambda ctx, record=record: events.take(ctx, [record], format_=events.ALERTS))
        drive.run(fold_new(Work(house)))
    rows = of(signals(house), "escalation")
    assert sorted(signal.strength for signal in rows) == strengths
    for signal in rows:
        row = house.body("getIncident", path={"incidentId": signal.incident_ids[0]})["data"]
        assert signal.id in row["signalIds"]
        told_of = house.rows("listSignals", f"incidentId={row['id']}")
        assert {source["id"] for source in told_of} == {source.id for source in rows}


# -- what earlier rules wrote -------------------------------------------------------------------


def earlier(type_: Any, key: str, observed: float = 3, baseline: float = 1) -> Signal:
    """A signal as the first rules of its detector wrote it."""
    evidence = signal_evidence(observed, baseline, NOW, NOW)
    signal = signal_of(type_, key, key, evidence, sources=())
    return attrs.evolve(signal, detector=attrs.evolve(signal.detector, version="1"))


def age(house: House, found: Sequence[Signal], rows: Sequence[Signal]) -> None:
    """Put signals of earlier rules in the place of those that were found, not yet reviewed."""

    async def replace(ctx: Any) -> None:
        await ctx.tx.documents.delete(DETECTION_REVIEWS, "rules")
        for signal in found:
            await ctx.remove(SIGNALS, signal.id)
        for row in rows:
            await ctx.save(SIGNALS, row.id, row)

    house.run(replace)


def test_what_the_rules_would_not_give_goes_and_rows_are_judged_anew(house: House) -> None:
    feed_all(house)
    found = detect(house)
    expected = {signal.id for signal in found if signal.type != "indicatorSurprise"}
    rows = [
        earlier("escalation", "a"),
        earlier("volumeSpike", "b"),
        earlier("epssJump", "c", 0.094, 0.086),
        earlier("epssJump", "d", 0.7, 0.1),
        earlier("kevAdded", "e"),
        *(earlier("convergence", f"f{at}") for at in range(120)),
    ]

    age(house, found, rows)
    assert {signal.id for signal in detect(house)} == expected | {rows[3].id, rows[4].id}
    assert house.stored(DETECTIONS_DUE) == []
    house.run(lambda ctx: ctx.save(SIGNALS, rows[0].id, rows[0]))
    assert rows[0].id in {signal.id for signal in detect(house)}  # reviewed once


class KilledError(Exception):
    """The process of a pass ended."""


@pytest.mark.parametrize("units", range(5))
def test_a_review_that_is_cut_off_loses_nothing(house: House, units: int) -> None:
    feed_all(house)
    found = detect(house)
    expected = {signal.id for signal in found if signal.type != "indicatorSurprise"}
    age(house, found, [earlier("convergence", f"f{at}") for at in range(120)])

    async def die() -> None:
        if work.writes == units:
            raise KilledError

    work = Work(house, die)
    with pytest.raises(KilledError):
        drive.run(review_signals(cast(Any, work)))
    assert {signal.id for signal in detect(house)} == expected


def test_a_review_removes_nothing_that_another_found_meanwhile(house: House) -> None:
    feed_all(house)
    found = detect(house)
    expected = {signal.id for signal in found if signal.type != "indicatorSurprise"}
    age(house, [], [attrs.evolve(row, detector=attrs.evolve(row.detector, version="1"))
                    for row in found if row.id in expected])  # fmt: skip

    async def other() -> None:
        if work.writes == 2:  # all is marked
            await house.hands.write(SYSTEM, restore)

    async def restore(ctx: Any) -> None:
        for row in found:
            await ctx.save(SIGNALS, row.id, row)

    work = Work(house, other)
    drive.run(review_signals(cast(Any, work)))
    assert signals(house) == found


@pytest.mark.parametrize("subject", ["topic", "cell"])
def test_a_mark_of_an_earlier_version_is_passed_over(house: House, subject: str) -> None:
    due = DetectionDue("sig_1", subject, "10,5" if subject == "cell" else "shipping")
    house.run(lambda ctx: ctx.save(DETECTIONS_DUE, due.id, due))
    assert detect(house) == []
    assert house.stored(DETECTIONS_DUE) == []
