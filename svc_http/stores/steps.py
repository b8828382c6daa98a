"""The steps by which a store came to hold what the declarations ask for, whatever its backend."""

from collections.abc import Iterable

from attrs import frozen

from svc_http.stores.errors import Newer

FORMAT = 1
"""What this version writes. It grows with every collection, step or member that an earlier version
would misread or lose; a version that knows less refuses the database (tests hold it to that)."""


@frozen
class Applied:
    """A step that the store has taken."""

    number: int
    step: str


@frozen
class Status:
    """What a store has become and what it still lacks."""

    applied: tuple[Applied, ...]
    pending: tuple[str, ...]


def check_known(applied: Iterable[Applied], steps: Iterable[str], format_number: int) -> None:
    """See that no newer version has written here.

    `steps` are the steps of this one that no declaration makes.

    Raises:
        Newer: it has.
    """
    if format_number > FORMAT:
        raise Newer(f"format {format_number}", FORMAT)
    unknown = {step.step for step in applied if not step.step.startswith("collection ")} - {*steps}
    if unknown:
        raise Newer(f"step {min(unknown)!r}", FORMAT)
