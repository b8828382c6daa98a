"""When a profile's report is due and where it ends, as rules decide it."""

from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from svc_core.reports.profiles import operations as planning
from svc_core.reports.profiles import rules
from svc_core.reports.profiles.model import DUE, DeliveryPreferences, Due, Profile, Subscription


def at(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(f"2026-03-{text}").replace(tzinfo=UTC)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-03-{text}").replace(tzinfo=UTC)


START = instant("01 00:00")
PROFILE = Profile(
    id="prf_1",
    name="Ports",
    topic="Cranes",
    frequency="daily",
    schedule_time_of_day="07:30",
    schedule_day=None,
    timezone="UTC",
    language="en",
    keywords=(),
    status="active",
    created_at=START,
    updated_at=START,
)
SUBSCRIPTION = Subscription("sub_1", "prf_1", "active", DeliveryPreferences(), START, START)


@pytest.mark.parametrize(
    ("plan", "run_end", "failures", "ready", "end"),
    [
        # The run that was planned.
        ("04 07:30", "03 07:30", 0, "04 07:30", "04 07:30"),
        ("04 07:30", None, 0, "04 09:10", "04 07:30"),
        # Runs that were missed: the newest of them ends the one report.
        ("04 07:30", "03 07:30", 0, "07 07:29", "06 07:30"),
        ("04 07:30", "03 07:30", 0, "07 12:00", "07 07:30"),
        # One that failed is tried again for the same run, or a newer one.
        ("04 07:35", "03 07:30", 1, "04 07:36", "04 07:30"),
        ("05 09:00", "03 07:30", 9, "05 09:00", "05 07:30"),
        # The zone's data were renewed since: what was planned keeps its instant.
        ("04 06:30", "03 06:30", 0, "04 06:31", "04 06:30"),
        ("04 08:30", "03 08:30", 0, "04 08:30", "04 08:30"),
        ("04 06:30", "03 06:30", 0, "04 09:00", "04 07:30"),
        # A report by hand has told all.
        ("04 07:30", "04 07:30", 0, "04 07:31", None),
        ("04 07:30", "04 08:00", 0, "04 08:01", None),
    ],
)
def test_a_report_ends_at_the_newest_run_that_is_over(
    plan: str, run_end: str | None, failures: int, ready: str, end: str | None
) -> None:
    due = Due("prf_1", at(plan), at(run_end), failures=failures)
    assert rules.run_end(PROFILE, due, instant(ready)) == at(end)


def test_what_is_not_planned_has_no_report() -> None:
    manual = attrs.evolve(PROFILE, frequency="manual", schedule_time_of_day=None)
    for profile in (manual, PROFILE):
        assert rules.run_end(profile, Due("prf_1", None), instant("04 07:30")) is None


def test_after_the_clock_went_back_nothing_is_due_that_was_told() -> None:
    last = Due("prf_1", None, covered_until=instant("04 07:30"))
    plan = rules.due(PROFILE, SUBSCRIPTION, last, instant("03 12:00"))
    assert plan.next_run_at == instant("05 07:30")
    assert plan.covered_until == last.covered_until


@pytest.mark.parametrize(
    ("changes", "moves"),
    [
        ({"name": "Harbours"}, False),
        ({"topic": "Quays", "keywords": ("a",), "language": "fr"}, False),
        ({"schedule_time_of_day": "08:00"}, True),
        ({"timezone": "Europe/Paris"}, True),
        ({"frequency": "weekdays"}, True),
        ({"schedule_day": 2}, True),
        ({"status": "paused"}, True),
    ],
)
def test_only_the_schedule_and_the_status_plan_anew(changes: dict[str, Any], moves: bool) -> None:
    assert rules.is_planned_anew(PROFILE, attrs.evolve(PROFILE, **changes)) is moves


def test_a_run_is_passed_over_once_and_only_as_it_was_seen(house: Any) -> None:
    profile = house.profile(frequency="daily", scheduleTimeOfDay="07:30")

    def row() -> Any:
        return house.run(lambda ctx: ctx.load(DUE, profile["id"]), "wsp_a")

    def pass_over(seen: Any, ready: datetime) -> None:
        house.run(lambda ctx: planning.pass_over(ctx, profile["id"], seen, ready), "wsp_a")

    seen = row()
    pass_over(seen, instant("04 07:31"))
    assert DUE.decode(row().raw).next_run_at == instant("05 07:30")
    after = row()
    pass_over(seen, instant("09 07:31"))  # somebody was first
    assert row() == after
    house.send("deleteProfile", path={"profileId": profile["id"]})
    pass_over(after, instant("09 07:31"))
