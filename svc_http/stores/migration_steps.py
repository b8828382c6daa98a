"""Migration steps of a store, and the check that this version can read and migrate it."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from svc_http.stores.errors import StoreNewer, StoreOlder

SCHEMA: Final = "details of changes"
"""The step that makes the tables of every store. It has the name of the last of the former steps
that led to the same tables, so a store of either history can be opened by either version."""

ACTS: Final = "acts of ledgers"
"""The step that makes the index of what acts on a record. The database keeps it, whichever version
appends."""

FORMAT = 2
"""The number of the format that this version writes. It grows with every collection, step or member
that an earlier version would misread or lose; a version with a lower number refuses the database.
A test fails if the format changes while the number stays."""


@frozen
class AppliedStep:
    """A migration step that was applied to the store."""

    number: int
    step: str


@frozen
class MigrationStatus:
    """The applied and the pending migration steps of a store."""

    applied: tuple[AppliedStep, ...]
    pending: tuple[str, ...]


def check_migratable(applied: Sequence[AppliedStep], format_number: int) -> None:
    """Check that this version knows how to read and migrate the store.

    `format_number` is the format of the version that wrote last.

    Raises:
        StoreNewer: the format is unknown to this version.
        StoreOlder: the store stands at a step from before `SCHEMA`.
    """
    if format_number > FORMAT:
        raise StoreNewer(f"format {format_number}", FORMAT)
    if applied and all(step.step != SCHEMA for step in applied):
        raise StoreOlder(applied[-1].step)
