"""The rules of profiles: which are valid, how a patch changes one, and when a report is due.

Rule 1: timed frequencies need a time of day; only weekly and monthly ones take a day.
Rule 2: only an active profile with an active subscription is due.
Rule 3: only a new schedule, a pause and a resume plan the next run again: a name that is changed
        while a report is due costs no report.
Rule 4: a scheduled report ends at a run of its schedule, and begins where the one before it ended.
"""

from datetime import datetime
from typing import Any

import attrs

from svc_core.base.unset import UNSET
from svc_core.base.views import reshape
from svc_core.contract import problem
from svc_core.operation import schedule
from svc_core.reports.profiles.model import (
    DeliveryMetadata,
    DeliveryPreferences,
    Due,
    OthersProfile,
    Profile,
    ProfileDetail,
    ProfileRow,
    Subscription,
)


def check_profile(profile: Profile) -> None:
    """Refuse a profile whose schedule is incomplete.

    Raises:
        Problem: VALIDATION_FAILED, naming every fault.
    """
    at, day, zone = "/scheduleTimeOfDay", "/scheduleDay", "/timezone"
    problem.refuse(schedule.schedule_faults(profile.schedule, time_of_day=at, day=day, zone=zone))


def subscribe(id_: str, profile: Profile, now: datetime) -> Subscription:
    """The active subscription that comes with a new profile."""
    return Subscription(id_, profile.id, "active", DeliveryPreferences(), now, now)


def is_planned_anew(before: Profile, after: Profile) -> bool:
    """Whether a change of the profile moves its next run (rule 3)."""
    return (before.schedule, before.status) != (after.schedule, after.status)


def due(profile: Profile, subscription: Subscription, last: Due | None, now: datetime) -> Due:
    """The due row of a profile, counted from `now`; without a run while nobody wants reports."""
    is_wanted = profile.status == "active" and subscription.status == "active"
    upcoming = next_run_after(profile, last, now) if is_wanted else None
    if last is None:
        return Due(profile.id, upcoming)
    return attrs.evolve(last, next_run_at=upcoming)


def next_run_after(profile: Profile, last: Due | None, now: datetime) -> datetime | None:
    """The next run after `now` that is not covered yet, should the clock have gone back."""
    until = None if last is None else last.covered_until
    return schedule.next_run(profile.schedule, now if until is None else max(now, until))


def run_end(profile: Profile, due: Due, ready: datetime) -> datetime | None:
    """The end of a due profile's report: the newest run that is over at `ready`.

    Missed runs, and failed ones that are tried again, end there too: one report catches up with all
    of them. A run that was planned before the data of its zone were renewed keeps its instant. None
    where a report made by hand has covered that time already.
    """
    end = schedule.last_run(profile.schedule, ready)
    if end is None or due.next_run_at is None:
        return None
    if not due.failures:
        end = max(end, due.next_run_at)
    return None if due.covered_until is not None and end <= due.covered_until else end


def delivery_metadata(delivery: DeliveryMetadata | None, *, aliases: bool) -> DeliveryMetadata:
    """The deliveries as they are shown; `aliases` adds deprecated members (Spec: Versioning 4)."""
    at = delivery.generated_at_iso if delivery else None
    return DeliveryMetadata(at, at if aliases else UNSET)


def others_row(
    profile: Profile,
    last: Due | None,
    subscription: Subscription,
    delivery: DeliveryMetadata | None,
    *,
    aliases: bool,
) -> OthersProfile:
    """A public profile as a subscriber of another workspace sees it."""
    metadata = delivery_metadata(delivery, aliases=aliases)
    members = {"subscription": subscription, **_newest(last, aliases=aliases)}
    return reshape(
        OthersProfile, profile, visibility="public", delivery_metadata=metadata, **members
    )


def detail(profile: Profile, delivery: DeliveryMetadata | None, *, aliases: bool) -> ProfileDetail:
    """The profile as its owner sees it."""
    metadata = delivery_metadata(delivery, aliases=aliases)
    return reshape(ProfileDetail, profile, delivery_metadata=metadata)


def row(
    view: ProfileDetail, subscription: Subscription, last: Due | None, *, aliases: bool
) -> ProfileRow:
    """The profile as the listing shows it; `aliases` adds the deprecated members."""
    next_run_at = None if last is None else last.next_run_at
    members = {"subscription": subscription, **_newest(last, aliases=aliases)}
    return reshape(ProfileRow, view, next_run_at=next_run_at, **members)


def _newest(last: Due | None, *, aliases: bool) -> dict[str, Any]:
    """When the newest report was made, under its name and, with `aliases`, its former one."""
    report_at = None if last is None else last.report_generated_at
    former_name = {"report_generated_at": report_at} if aliases else {}
    return {"report_generated_at_iso": report_at, **former_name}
