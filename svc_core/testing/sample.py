"""A small value with every kind of filter, stored in one collection of each scope."""

from attrs import evolve, frozen

from svc_core.operation.ports import Collection


@frozen
class Note:
    """A note: when it was written, where it stands, what it is about, how much, and where."""

    id: str
    text: str
    written: int = 0
    status: str | None = None
    author: str | None = None
    topics: tuple[str, ...] = ()
    weight: int | None = None
    longitude: float | None = None
    latitude: float = 0.0

    @property
    def place(self) -> tuple[float, float] | None:
        """Longitude and latitude in degrees, where there is a longitude."""
        return None if self.longitude is None else (self.longitude, self.latitude)


NOTES: Collection[Note] = Collection(
    name="sample_notes",
    model=Note,
    prefix="note",
    order=lambda note: note.written,
    keys={"status": lambda note: note.status, "author": lambda note: note.author},
    facets={"topic": lambda note: note.topics},
    numbers={"weight": lambda note: note.weight},
    ranked={"status": ("weight",)},
    place=lambda note: note.place,
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
