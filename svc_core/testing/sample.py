"""A small model class with every kind of filter, and one collection of it for each scope."""

from attrs import evolve, frozen

from svc_core.operation.ports import Collection, Layout


@frozen
class Note:
    """A sample row: a text with an order, filters, a number and a position."""

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
    rankings={"status": ("weight",)},
    place=lambda note: note.place,
    search=lambda note: note.text,
    kind="note",
)
"""A collection whose rows belong to one tenant."""

NOTICES: Collection[Note] = evolve(
    NOTES,
    name="sample_notices",
    prefix="notice",
    scope="global",
    kind="notice",
    layout=Layout(
        is_compressed=True, is_filtered=True, beside=("author",), distinctive=("status",)
    ),
)
"""A collection that every tenant reads and only the system writes, kept in less space."""

SECRETS: Collection[Note] = evolve(
    NOTES, name="sample_secrets", prefix="secret", scope="system", kind=None
)
"""A collection that only the system reads and writes."""

SAMPLES = (NOTES, NOTICES, SECRETS)
"""The collections with which a store under test is opened."""
