"""A small value with every kind of filter, stored in one collection of each scope."""

from attrs import evolve, frozen

from svc_core.ports import Collection


@frozen
class Note:
    """A note: when it was written, where it stands, what it is about."""

    id: str
    text: str
    written: int = 0
    status: str | None = None
    author: str | None = None
    topics: tuple[str, ...] = ()


NOTES: Collection[Note] = Collection(
    name="sample_notes",
    model=Note,
    prefix="note",
    order=lambda note: note.written,
    keys={"status": lambda note: note.status, "author": lambda note: note.author},
    facets={"topic": lambda note: note.topics},
    search=lambda note: note.text,
    kind="note",
)
"""Rows of a tenant."""

NOTICES: Collection[Note] = evolve(
    NOTES, name="sample_notices", prefix="notice", scope="global", kind="notice"
)
"""Rows that everybody reads and the system writes."""

SECRETS: Collection[Note] = evolve(
    NOTES, name="sample_secrets", prefix="secret", scope="system", kind=None
)
"""Rows that the system alone reads."""

SAMPLES = (NOTES, NOTICES, SECRETS)
"""What a store under test is opened with."""
