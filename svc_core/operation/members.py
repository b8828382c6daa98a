"""Annotated types that several models share, and the sort key of an instant."""

from datetime import datetime
from typing import Annotated, Any, Final, TypeVar

import attrs

from svc_core.base.instants import micros as micros  # noqa: PLC0414 - models take it from here
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract import cursor
from svc_core.contract.problem import INVALID_CURSOR
from svc_core.operation.declaration import QUERY, InputRefusal
from svc_core.wire.constraints import Doc, Example, Ge, IdOf, Le, Pattern

ProfileId = Annotated[str, IdOf("prf")]
ReportId = Annotated[str, IdOf("rpt")]
SubscriptionId = Annotated[str, IdOf("sub")]
SourceId = Annotated[str, IdOf("src")]
ObservationId = Annotated[str, IdOf("obs")]
IncidentId = Annotated[str, IdOf("inc")]
EntityId = Annotated[str, IdOf("ent")]
RecapId = Annotated[str, IdOf("rcp")]
WebhookId = Annotated[str, IdOf("whk")]
SignalId = Annotated[str, IdOf("sig")]
SubjectId = Annotated[str, IdOf("sbj")]
ProjectId = Annotated[str, IdOf("prj")]
AutomationId = Annotated[str, IdOf("aut")]
RunId = Annotated[str, IdOf("run")]
ThreadId = Annotated[str, IdOf("thr")]
OwnerId = Annotated[str, IdOf("usr"), Doc("The person whose it is; nobody else sees it.")]

CreatedAt = Annotated[datetime, Doc("When it was created."), Example("2026-01-31T09:30:00Z")]
UpdatedAt = Annotated[
    datetime, Doc("When its newest version was written."), Example("2026-01-31T09:30:00Z")
]
Share = Annotated[float, Ge(0), Le(1)]
CountryCode = Annotated[
    str | None, Doc("ISO 3166-1 alpha-2 code; null where none is known."), Example("BE")
]

Limit = Annotated[int, QUERY, Ge(1), Le(100), Doc("Rows in one page."), Example(20)]
PageLimit = Annotated[Maybe[int], QUERY, Ge(1), Le(100), Example(20)]
Cursor = Annotated[
    Maybe[str],
    QUERY,
    Pattern(cursor.FORM, "a cursor that a listing gave out"),
    InputRefusal(INVALID_CURSOR),
    Doc("`meta.page.nextCursor` of the page before, unchanged."),
]


@attrs.frozen(kw_only=True)
class PageRequest:
    """A request for one page of a list."""

    limit: Limit = 20
    cursor: Cursor = UNSET


@attrs.frozen
class NoMembers:
    """A request that leaves no choice: all there are, or the whole of what its operation is of."""


ONE_LINE = Pattern(r" *[^\x00-\x20\x7f][^\x00-\x1f\x7f]*", "one line that is not blank")
LANGUAGE_TAG = Pattern("[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}", "a BCP 47 language tag")
NOT_BLANK = Pattern(r"[\s\S]*\S[\s\S]*", "text that is not blank")

T = TypeVar("T")


def next_revision(row: T, now: datetime, **members: Any) -> T:
    """The next revision of a row, with these members."""
    revisable: Any = row
    after: T = attrs.evolve(revisable, updated_at=now, revision=revisable.revision + 1, **members)
    return after


NEVER: Final = 2**62
"""The sort key of what has no instant: behind every one."""


UNDATED: Final = -NEVER
"""The sort key of what has no date: behind all others in a list that begins with the latest."""


def micros_or_undated(instant: datetime | None) -> int:
    """The sort key of a date that may be missing."""
    return UNDATED if instant is None else micros(instant)


def micros_or_never(instant: datetime | None) -> int:
    """The sort key of an instant that may be missing."""
    return NEVER if instant is None else micros(instant)
