"""Migration steps of a store, and the check that no newer program version has written to it."""

from collections.abc import Iterable

from attrs import frozen

from svc_http.stores.errors import StoreNewer

FORMAT = 1
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


def check_known(applied: Iterable[AppliedStep], steps: Iterable[str], format_number: int) -> None:
    """Check that no newer program version has written to the store.

    `steps` names the steps of this version that do not come from a declaration; `format_number` is
    the format of the version that wrote last.

    Raises:
        StoreNewer: the format or a step is unknown to this version.
    """
    if format_number > FORMAT:
        raise StoreNewer(f"format {format_number}", FORMAT)
    unknown = {step.step for step in applied if not step.step.startswith("collection ")} - {*steps}
    if unknown:
        raise StoreNewer(f"step {min(unknown)!r}", FORMAT)
