"""A model that uses every shape which the wire knows."""

from collections.abc import Mapping
from datetime import date, datetime
from types import SimpleNamespace
from typing import Annotated, Generic, Literal, TypeVar

import pytest
from attrs import field, frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe
from svc_core.wire.constraints import Doc, Ge, Le, MaxLen, MinLen, Pattern

T = TypeVar("T")


@frozen
class Leaf:
    """A nested model."""

    a_b: int
    size: Maybe[int] = UNSET


@frozen
class Claim:
    """One side of a union that a literal tells apart."""

    kind: Literal["claim", "guess"]
    text: str


@frozen
class Sighting:
    """The other side."""

    kind: Literal["sighting"]
    count: int


@frozen
class Box(Generic[T]):
    """A generic model."""

    data: T
    more: tuple[T, ...] = ()


@frozen
class Everything:
    """Every shape at once."""

    name: Annotated[str, MinLen(1), MaxLen(5), Doc("A name.")]
    at: datetime
    number: Annotated[int, Ge(1), Le(100)] = 1
    ratio: Annotated[float, Ge(0), Le(1)] = 0.5
    flag: bool = False
    day: date | None = None
    mode: Literal["hourly", "daily"] = "daily"
    level: Literal[1, 2, True] = 1
    generated_at_iso: Maybe[datetime | None] = UNSET
    leaf: Maybe[Leaf] = UNSET
    leaves: tuple[Leaf, ...] = ()
    pair: Maybe[tuple[float, str]] = UNSET
    by_name: Mapping[str, Leaf] = field(factory=dict)
    free: wire.Json = None
    maybe_free: Maybe[wire.Json] = UNSET
    either: Maybe[Claim | Sighting | str] = UNSET
    box: Maybe[Box[int]] = UNSET
    nothing: Maybe[None] = UNSET
    code: Annotated[Maybe[Annotated[str, Pattern("[A-Z]{2}", "two capitals")] | None], Doc("")] = (
        UNSET
    )


@pytest.fixture(scope="session")
def models() -> SimpleNamespace:
    """The classes by name."""
    classes = (Leaf, Claim, Sighting, Box, Everything)
    return SimpleNamespace(**{class_.__name__: class_ for class_ in classes})
