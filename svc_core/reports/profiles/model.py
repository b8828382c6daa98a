"""Profiles, their subscriptions and when they are due (Spec: Profile and subscription)."""

from datetime import datetime
from typing import Annotated, Literal

from attrs import field, frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.members import (
    LANGUAGE_TAG,
    NOT_BLANK,
    ONE_LINE,
    CreatedAt,
    ProfileId,
    ReportId,
    SubscriptionId,
    UpdatedAt,
    WebhookId,
    micros,
    micros_or_never,
)
from svc_core.operation.ports import Collection, attribute_keys
from svc_core.operation.schedule import Frequency, Schedule
from svc_core.wire.constraints import Arg, Doc, Example, Ge, Le, MaxLen, MinLen, Pattern

KEYWORDS_MAX = 50
WEBHOOKS_MAX = 50  # as many as a person can look after; each costs one delivery per report

Name = Annotated[
    str, MinLen(1), MaxLen(120), ONE_LINE, Doc("What people call it."), Example("Port strikes")
]
TopicText = Annotated[
    str,
    MinLen(3),
    MaxLen(2_000),
    NOT_BLANK,
    Doc(
        "Free-text monitoring instruction. Words in quotation marks raise what holds them side by "
        'side; `-word` and `-"some words"` leave out what holds them. Subjects that semicolons or '
        "lines part are looked for each by itself."
    ),
    Example("Strikes and closures at European container ports"),
]
Cadence = Annotated[Frequency, Doc("How often a report is made."), Example("daily")]
TimeOfDay = Annotated[
    str,
    Pattern("(?:[01][0-9]|2[0-3]):[0-5][0-9]", "a time of day HH:MM"),
    Arg("time"),
    Doc("Local time of day, HH:MM; required except for hourly and manual profiles."),
    Example("07:30"),
]
ScheduleDay = Annotated[
    int,
    Ge(1),
    Le(28),
    Arg("day"),
    Doc("1..7 from Monday for weekly, 1..28 for monthly profiles; null means the first."),
    Example(None),
]
TimeZone = Annotated[
    str, MinLen(1), MaxLen(64), Doc("IANA time zone of the schedule."), Example("Europe/Paris")
]
Language = Annotated[str, LANGUAGE_TAG, Doc("BCP 47 tag of the report's language."), Example("en")]
Keyword = Annotated[str, MinLen(1), MaxLen(80), ONE_LINE]
Keywords = Annotated[
    tuple[Keyword, ...],
    MaxLen(KEYWORDS_MAX),
    Doc("Names and words that matter most: items with them rank higher; none is required."),
    Example(["Rotterdam", "dockworkers"]),
]
ProfileStatus = Literal["active", "paused", "archived"]
Visibility = Literal["private", "public"]
Status = Annotated[ProfileStatus, Doc("Only active profiles are scheduled."), Example("active")]


@frozen
class Profile:
    """A topic monitor: what to watch, how often, in which language."""

    id: ProfileId
    name: Name
    topic: TopicText
    frequency: Cadence
    schedule_time_of_day: TimeOfDay | None
    schedule_day: ScheduleDay | None
    timezone: TimeZone
    language: Language
    keywords: Keywords
    status: Status
    visibility: Annotated[Visibility, Example("private")] = field(default="private", kw_only=True)
    """Whether everybody may read its reports, or its workspace alone; the operator says."""
    created_at: CreatedAt
    updated_at: UpdatedAt

    @property
    def schedule(self) -> Schedule:
        """When its reports are due."""
        return Schedule(self.frequency, self.schedule_time_of_day, self.timezone, self.schedule_day)


@frozen
class DeliveryPreferences:
    """What a subscriber wants to be told, and where."""

    webhook_ids: Annotated[
        tuple[WebhookId, ...],
        MaxLen(WEBHOOKS_MAX),
        Doc("Webhooks to notify; empty means every webhook of the workspace."),
        Example([]),
    ] = ()
    include_audio: Annotated[bool, Doc("Whether reports are spoken."), Example(False)] = False
    min_signal_confidence: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("Signals below this confidence are neither counted in events nor announced."),
        Example(0.4),
    ] = 0.0


SubscriptionStatus = Literal["active", "paused"]


@frozen
class Subscription:
    """A workspace's interest in one profile, made together with the profile."""

    id: SubscriptionId
    profile_id: ProfileId
    status: Annotated[SubscriptionStatus, Example("active")]
    """A paused one receives no notification."""
    delivery: DeliveryPreferences
    created_at: CreatedAt
    updated_at: UpdatedAt


@frozen
class Due:
    """When a profile's next report is due, up to when scheduled ones reach, and the latest one."""

    profile_id: ProfileId
    next_run_at: datetime | None
    covered_until: datetime | None = None
    last_report_id: ReportId | None = None
    report_generated_at: datetime | None = None
    failures: int = 0


ReportGeneratedAt = Annotated[
    datetime | None,
    Doc("When the newest report was made; null before the first."),
    Example("2026-01-31T06:30:04Z"),
]
OldReportGeneratedAt = Annotated[
    Maybe[datetime | None], Doc("Deprecated: use reportGeneratedAtISO.")
]


@frozen
class DeliveryMetadata:
    """What webhooks took of a profile's reports."""

    generated_at_iso: Annotated[datetime | None, Example("2026-01-31T06:30:04Z")] = None
    """When the newest report was made that a webhook took; null before the first."""
    generated_at: Maybe[datetime | None] = UNSET
    """Deprecated: use generatedAtISO."""


@frozen
class ProfileDetail(Profile):
    """A profile as it is shown: with what was delivered of its reports."""

    delivery_metadata: DeliveryMetadata = field(kw_only=True)


@frozen
class ProfileRow(ProfileDetail):
    """A profile as the listing shows it: with its subscription and its last report's time."""

    next_run_at: Annotated[datetime | None, Example("2026-02-01T06:30:00Z")]
    """When the next report is due; null for manual and paused ones."""
    report_generated_at_iso: ReportGeneratedAt
    subscription: Subscription
    report_generated_at: OldReportGeneratedAt = UNSET
    owned: Annotated[Literal[True], Example(True)] = True
    """It is the caller's own."""


@frozen
class PublicProfile:
    """What everybody is shown of a public profile."""

    id: ProfileId
    name: Name
    topic: TopicText
    language: Language
    frequency: Cadence


@frozen(kw_only=True)
class OthersProfile(PublicProfile):
    """A public profile of another workspace, to which the caller's subscribes."""

    owned: Annotated[Literal[False], Example(False)] = False
    """It is another workspace's."""
    visibility: Literal["public"] = "public"
    """Everybody may read its reports."""
    report_generated_at_iso: ReportGeneratedAt
    delivery_metadata: DeliveryMetadata
    subscription: Subscription
    report_generated_at: OldReportGeneratedAt = UNSET


PROFILES: Collection[Profile] = Collection(
    name="profiles", model=Profile, prefix="prf", kind="profile"
)

SUBSCRIPTIONS: Collection[Subscription] = Collection(
    name="subscriptions",
    model=Subscription,
    prefix="sub",
    keys=attribute_keys("profile_id"),
    kind="subscription",
)

DUE: Collection[Due] = Collection(
    name="due", model=Due, prefix="prf", order=lambda due: micros_or_never(due.next_run_at)
)
"""One row for each profile, under its id; the scheduler reads the lowest `next_run_at`, and never
finds a manual profile, which sorts behind every instant."""

PROFILE_DELIVERIES: Collection[DeliveryMetadata] = Collection(
    name="profile_deliveries", model=DeliveryMetadata, prefix="prf", order=lambda _: 0
)
"""Under the profile's id, in the workspace that is subscribed: apart from what people set, so that
a delivery changes neither the profile nor its version."""


@frozen
class Leaving:
    """A deleted profile whose reports are still to be removed."""

    profile_id: str
    since: datetime


LEAVING: Collection[Leaving] = Collection(
    name="leaving", model=Leaving, prefix="prf", order=lambda leaving: micros(leaving.since)
)
"""Under the profile's id, until its last report is gone."""


@frozen
class Publication:
    """A profile that the operator made public, and the tenant that owns it."""

    profile_id: ProfileId
    tenant: str
    since: datetime


PUBLICATIONS: Collection[Publication] = Collection(
    name="publications",
    model=Publication,
    prefix="prf",
    order=lambda publication: micros(publication.since),
    scope="global",
)
"""The directory of public profiles, each under the profile's id."""


@frozen
class Follow:
    """A subscription to another tenant's public profile, and the number of its latest news."""

    profile_id: ProfileId
    tenant: str
    subscription_id: SubscriptionId
    told: int = 0


def place_of(profile_id: str) -> int:
    """The position of a profile's followers among those of all: 60 random bits of its id."""
    return int(profile_id[-15:], 16)


FOLLOWS: Collection[Follow] = Collection(
    name="follows", model=Follow, prefix="prf", order=lambda follow: place_of(follow.profile_id)
)
"""Under the profile's id, among the rows of the following tenant."""


@frozen
class News:
    """What followers receive: a version of a report by its id, or, as version 0, its recording.

    Without an id, the subscriptions of all followers end.
    """

    report_id: ReportId | None
    version: int
    at: datetime


@frozen
class FollowerQueue:
    """The news that the followers of a profile still wait for, and the number of the first.

    The first was delivered to the followers up to `after`, a tenant and an id.
    """

    profile_id: ProfileId
    number: int = 1
    news: tuple[News, ...] = ()
    after: tuple[str, str] = ("", "")


FOLLOWER_QUEUES: Collection[FollowerQueue] = Collection(
    name="followed",
    model=FollowerQueue,
    prefix="prf",
    order=lambda queue: micros_or_never(queue.news[0].at if queue.news else None),
)
"""Under the profile's id, among its owner's rows; workers read the lowest of every tenant."""


@frozen
class ProfileInput:
    """A whole profile as a client sends it; what is left out takes its default."""

    name: Name
    topic: TopicText
    frequency: Cadence
    schedule_time_of_day: TimeOfDay | None = None
    schedule_day: ScheduleDay | None = None
    timezone: TimeZone = "UTC"
    language: Language = "en"
    keywords: Keywords = ()


@frozen
class SubscriptionInput:
    """A subscription to a public profile of another workspace."""

    profile_id: Annotated[ProfileId, Arg(positional=True)]
    delivery: DeliveryPreferences = DeliveryPreferences()


@frozen
class SubscriptionSettings:
    """What may be changed of a subscription."""

    status: Annotated[SubscriptionStatus, Example("paused")]
    """Pause or resume."""
    delivery: DeliveryPreferences = DeliveryPreferences()


_OWN = (PROFILES, PROFILE_DELIVERIES, SUBSCRIPTIONS, DUE, LEAVING)
COLLECTIONS = (*_OWN, FOLLOWS, FOLLOWER_QUEUES, PUBLICATIONS)
