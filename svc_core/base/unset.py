"""Distinguishes a member that was not sent from one that is null or empty.

Rule: `UNSET` means that a member was not sent, `None` that it is null, `[]` that it is known to be
empty. `UNSET` has no truth value, so `if not value` cannot blur the three by accident.
"""

from enum import Enum
from typing import Final, NoReturn, TypeVar, Union

T = TypeVar("T")
D = TypeVar("D")


class Unset(Enum):
    """The type of `UNSET`; `isinstance(value, Unset)` is the test that a type checker follows."""

    UNSET = "UNSET"

    def __bool__(self) -> NoReturn:
        """Refuse to be true or false.

        Raises:
            TypeError: always; compare with `is UNSET` instead.
        """
        raise TypeError("UNSET is neither true nor false; compare with `is UNSET`.")

    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final = Unset.UNSET
"""A member that was not sent."""

Maybe = Union[T, Unset]  # noqa: UP007 - mypy takes no `T | Unset` as a generic alias
"""A value that may not have been sent: `Maybe[int]`, `Maybe[str | None]`."""


def or_default(value: T | Unset, default: D) -> T | D:
    """`value` where it was sent (null and empty included), `default` where it was not."""
    return default if isinstance(value, Unset) else value
