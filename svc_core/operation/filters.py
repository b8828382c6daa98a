"""Filters of lists: how request classes declare them, and how their values are read."""

from math import ceil
from typing import Annotated, Any, Literal, TypeVar

from svc_core.base.unset import Maybe, Unset
from svc_core.operation.declaration import QUERY, Operation
from svc_core.operation.members import Share
from svc_core.operation.source_members import Severity
from svc_core.wire import camel
from svc_core.wire.constraints import Doc, Example, MaxLen, MinLen, Pattern

T = TypeVar("T")
Range = tuple[int | None, int | None]

VALUES_MAX = 50  # of one filter: each is a walk of its own

UnboundedValues = Annotated[Maybe[tuple[T, ...]], QUERY]
FilterValues = Annotated[Maybe[tuple[T, ...]], QUERY, MaxLen(VALUES_MAX)]

Name = Annotated[str, MinLen(1), MaxLen(200)]
Flag = Annotated[Maybe[bool], QUERY]
ShareFilter = Annotated[Maybe[Share], QUERY]
Code = Annotated[str, Pattern("[A-Za-z]{2}", "an ISO 3166-1 alpha-2 code")]
Providers = Annotated[
    FilterValues[Annotated[str, Pattern("[a-z][a-z0-9-]{0,39}", "a provider such as usgs")]],
    Doc("Comma list of providers."),
    Example(["usgs", "gdacs"]),
]
Types = Annotated[
    FilterValues[Annotated[str, Pattern("[A-Za-z0-9-]{1,64}", "a type of event")]],
    Doc("Comma list of types."),
    Example(["earthquake", "flood"]),
]
Countries = Annotated[
    FilterValues[Code], Doc("Comma list of ISO 3166-1 alpha-2 codes."), Example(["EC", "CL"])
]
MinSeverity = Annotated[
    Maybe[Severity], QUERY, Doc("Only what is at least as grave."), Example("medium")
]
MinConfidence = Annotated[ShareFilter, Doc("Only what is at least as certain."), Example(0.5)]

IncludeRevoked = Annotated[
    bool, QUERY, Doc("With what its source revoked or deprecated."), Example(False)
]
LatestFirst = Annotated[
    Maybe[Literal["updatedAt"]], QUERY, Doc("The row written last comes first.")
]

ALTERNATIVES = "The values of one filter are alternatives; different filters must all match."
"""The sentence about filters in the descriptions of lists."""

_FORMS = {
    "country": str.upper,
    "region": str.casefold,
    "subregion": str.casefold,
    "category": str.casefold,
    "targets_country": str.upper,
    "targets_sector": str.casefold,
    "technique": str.upper,
}
"""The case in which rows store the values of filters that clients may write in either case."""


def sent_filters(request: object, *names: str) -> dict[str, tuple[str, ...]]:
    """The filters of these names that were sent, with values in the case that rows store."""
    filters = {name: getattr(request, name) for name in names if hasattr(request, name)}
    return {
        name: tuple(map(_FORMS.get(name, str), values))
        for name, values in filters.items()
        if not isinstance(values, Unset)
    }


def at_least(value: Maybe[float], steps: int = 1) -> Range | None:
    """The range of stored numbers from `value` upwards; None where it was not sent.

    A fraction is stored as a whole number of `steps` per unit.
    """
    return None if isinstance(value, Unset) else (ceil(round(value * steps, 3)), None)


def present_ranges(**ranges: Any) -> dict[str, Range]:
    """The ranges that are not None, by name."""
    return {name: bounds for name, bounds in ranges.items() if bounds is not None}


def read_operation(
    command: str, path: str, run: Any, *, id_: str = "", **members: Any
) -> Operation[Any, Any]:
    """Declare a reading operation from the annotations of `run`; `command` and id as in `local`."""
    _, request, response = run.__annotations__.values()
    group, _, verb = command.partition(" ")
    return Operation(
        id=id_ or camel(run.__name__),
        group=group,
        verb=verb,
        method="GET",
        path=path,
        request=request,
        response=response,
        run=run,
        **members,
    )
