"""What makes a profile whole, how a patch changes it, and when it is due.

Rule 1: timed frequencies need a time of day; only weekly and monthly ones take a day.
Rule 2: PUT resets what it leaves out, PATCH changes only what it names (Spec: Representation 4).
Rule 3: a patch that changes nothing writes nothing: same version, no change record.
Rule 4: only an active profile with an active subscription is due.
"""

from datetime import datetime
from typing import Any

import attrs

from svc_core import problem, schedule
from svc_core.problem import Problem, describe
from svc_core.resources.profile import (
    DeliveryPreferences,
    Due,
    Profile,
    ProfileInput,
    ProfilePatch,
    ProfileRow,
    Subscription,
    SubscriptionStatus,
)
from svc_core.unset import UNSET
from svc_core.wire import Fault

_DEFAULTS: dict[str, Any] = {member.name: member.default for member in attrs.fields(ProfileInput)}
_DAY_MAX = {"weekly": 7, "monthly": 28}


def check(sent: ProfileInput) -> ProfileInput:
    """The input, when its members fit each other.

    Raises:
        Problem: VALIDATION_FAILED, naming every fault.
    """
    faults = []
    if sent.frequency in schedule.TIMED and sent.schedule_time_of_day is None:
        faults.append(Fault("/scheduleTimeOfDay", f"is required when it is {sent.frequency}"))
    if sent.schedule_day is not None and sent.schedule_day > _DAY_MAX.get(sent.frequency, 0):
        faults.append(Fault("/scheduleDay", _why_no_day(sent.frequency)))
    if not schedule.is_zone(sent.timezone):
        faults.append(Fault("/timezone", "must be an IANA time zone such as Europe/Paris"))
    if faults:
        raise Problem(problem.VALIDATION_FAILED, describe(faults))
    return sent


def _why_no_day(frequency: str) -> str:
    if frequency in _DAY_MAX:
        return f"must be at most {_DAY_MAX[frequency]} when it is {frequency}"
    return "is only for weekly and monthly profiles"


def open_profile(id_: str, sent: ProfileInput, now: datetime) -> Profile:
    """A new profile; it is active (Spec: States, Profile)."""
    members = attrs.asdict(check(sent), recurse=False)
    return Profile(id=id_, status="active", created_at=now, updated_at=now, **members)


def replace(profile: Profile, sent: ProfileInput, now: datetime) -> Profile:
    """The profile with every member of the input; its id, status and birth stay."""
    changed = attrs.evolve(profile, **attrs.asdict(check(sent), recurse=False))
    return _touched(profile, changed, now)


def patch(profile: Profile, sent: ProfilePatch, now: datetime) -> Profile:
    """The profile with the named members changed.

    Raises:
        Problem: VALIDATION_FAILED when the result would not be a valid profile.
    """
    given: dict[str, Any] = {
        name: _DEFAULTS[name] if value is None else value
        for name, value in attrs.asdict(sent, recurse=False).items()
        if value is not UNSET
    }
    changed = attrs.evolve(profile, **given)
    check(as_input(changed))
    return _touched(profile, changed, now)


def as_input(profile: Profile) -> ProfileInput:
    """The members that a client may send."""
    names = [member.name for member in attrs.fields(ProfileInput)]
    return ProfileInput(**{name: getattr(profile, name) for name in names})


def _touched(before: Profile, after: Profile, now: datetime) -> Profile:
    return before if after == before else attrs.evolve(after, updated_at=now)


def subscribe(id_: str, profile: Profile, now: datetime) -> Subscription:
    """The active subscription that comes with a new profile."""
    return Subscription(id_, profile.id, "active", DeliveryPreferences(), now, now)


def due(profile: Profile, subscription: Subscription, last: Due | None, now: datetime) -> Due:
    """When the next report is due, counted from `now`; never while nobody wants it."""
    wanted = profile.status == "active" and subscription.status == "active"
    upcoming = schedule.next_run(profile.schedule, now) if wanted else None
    if last is None:
        return Due(profile.id, upcoming)
    return attrs.evolve(last, next_run_at=upcoming)


def row(
    profile: Profile, subscription: Subscription, last: Due | None, *, aliases: bool
) -> ProfileRow:
    """The listing's row; `aliases` adds the deprecated members (Spec: Versioning 4)."""
    made = None if last is None else last.report_generated_at
    return ProfileRow(
        **attrs.asdict(profile, recurse=False),
        next_run_at=None if last is None else last.next_run_at,
        report_generated_at_iso=made,
        subscription=subscription,
        report_generated_at=made if aliases else UNSET,
    )


def patch_subscription(
    subscription: Subscription,
    *,
    status: SubscriptionStatus | None,
    delivery: DeliveryPreferences | None,
    now: datetime,
) -> Subscription:
    """The subscription with what is given changed; unchanged when that changes nothing."""
    changed = attrs.evolve(
        subscription,
        status=subscription.status if status is None else status,
        delivery=subscription.delivery if delivery is None else delivery,
    )
    if changed == subscription:
        return subscription
    return attrs.evolve(changed, updated_at=now)
