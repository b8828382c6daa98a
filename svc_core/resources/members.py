"""Annotated types that stand in several models, and the sort key of an instant."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

from svc_core import ids
from svc_core.constraints import Doc, Example, Ge, Le, Pattern
from svc_core.operation import QUERY
from svc_core.unset import Maybe

ProfileId = Annotated[str, Pattern(ids.PROFILE_ID, "a profile id"), Doc("Profile identifier.")]
ReportId = Annotated[str, Pattern(ids.REPORT_ID, "a report id"), Doc("Report identifier.")]
SubscriptionId = Annotated[
    str, Pattern(ids.SUBSCRIPTION_ID, "a subscription id"), Doc("Subscription identifier.")
]
SourceId = Annotated[str, Pattern(ids.pattern("src"), "a source id"), Doc("Source identifier.")]
ObservationId = Annotated[
    str, Pattern(ids.pattern("obs"), "an observation id"), Doc("Observation identifier.")
]

Limit = Annotated[int, QUERY, Ge(1), Le(100), Doc("Rows in one page."), Example(20)]
Cursor = Annotated[Maybe[str], QUERY, Doc("`meta.page.nextCursor` of the page before, unchanged.")]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(instant: datetime) -> int:
    """Microseconds since 1970: exact, sortable, the same number in every backend."""
    return (instant - _EPOCH) // _MICROSECOND
