"""Embedding vectors of texts, and the likeness of items to a question that follows from them.

Rule 1: vectors are stored in 8 bits a dimension, and a question is quantised the same way: their
        cosine is computed from whole numbers, and so is the same on every machine.
Rule 2: what counts is how far a cosine lies above the mean, in standard deviations: 0.4 means much
        for one question or model and little for another (`svc_core.text.ranking.Nearness`).
Rule 3: an item without a vector has no nearness, which is not a nearness of 0.
"""

from array import array
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import fsum, isfinite, sqrt
from operator import mul
from typing import Final, Protocol

from attrs import field, frozen

from svc_core.text.ranking import NEAR, Nearness

TEXT_CHARS: Final = 700
"""Characters of an item's text that its vector covers, after the headline. The weights of
retrieval were measured with this value."""
BATCH: Final = 8
"""Vectors computed and stored at once: a second of one idle processor, half a minute of a busy one
for texts of the longest kind."""
NEAR_MAX: Final = 400
"""How many of the nearest items are considered that hold no word of the question."""
USUAL_COUNT: Final = 100
"""As how many items the usual cosines of a model count in a window. So a few items that are all
about the question are compared with news in general, and not only with each other (ADR 50)."""


class NotEmbedded(Exception):  # noqa: N818 - said as the state that it is
    """The model gave no vector; the message is one line that says why.

    `is_refusal` says that the text is the reason: other texts may have a vector, this one never.
    """

    def __init__(self, message: str, *, is_refusal: bool = False) -> None:
        super().__init__(message)
        self.is_refusal = is_refusal


class Embedder(Protocol):
    """A model that maps texts to embedding vectors."""

    @property
    def model(self) -> str:
        """The model's name; vectors of different names are never compared."""

    @property
    def compared_max(self) -> int:
        """How many vectors the implementation compares with a question in well under a second."""

    @property
    def usual(self) -> tuple[float, float]:
        """The mean and the standard deviation of the cosines of a question and any item of news."""

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """The vector of each text that is searched, packed (`pack_vector`).

        Raises:
            NotEmbedded: the model gives none.
        """

    async def embed_query(self, text: str) -> bytes:
        """The packed vector of a question; some models embed a question and a text differently.

        Raises:
            NotEmbedded: the model gives none.
        """

    def cosines(self, query: bytes, vectors: Sequence[bytes]) -> Sequence[float]:
        """The `cosine` of a query and each of these vectors, which are as long as it."""


# -- vectors -----------------------------------------------------------------------------------


@frozen
class Vector:
    """The stored vector of an item; `data` is base64, and empty where the model refused the text.

    `version` is that of the item's text, and `taken_at` when the item came in.
    """

    id: str
    taken_at: datetime
    model: str
    version: int
    data: str = field(repr=False)

    @property
    def raw(self) -> bytes:
        """The bytes of the vector, as `Embedder.embed` gave them."""
        return b64decode(self.data)


VectorGap = tuple[Vector, str]
"""The vector that a row lacks, still without data, and the text that it is made from."""

GAPS_PAGE: Final = 256
"""Rows looked at for such gaps in one unit of work."""


def pack_vector(values: Sequence[float]) -> bytes:
    """A vector quantised to signed bytes, scaled so that its largest value becomes 127.

    That turns its direction by about 0.1 degrees.

    Raises:
        ValueError: it is all zeros, or holds a value that is no finite number.
    """
    top = max(map(abs, values), default=0.0)
    if not top or not all(map(isfinite, values)):
        raise ValueError("a vector without a direction")
    return array("b", [round(value / top * 127) for value in values]).tobytes()


def cosine(first: bytes, second: bytes) -> float:
    """The cosine of two packed vectors of equal length, from -1 to 1."""
    left, right = array("b", first), array("b", second)
    lengths = sum(map(mul, left, left)) * sum(map(mul, right, right))
    return float(sum(map(mul, left, right)) / sqrt(lengths))


def passage(title: str, text: str) -> str:
    """The part of a text that its vector is computed from."""
    return f"{title}\n{text[:TEXT_CHARS]}".strip()


# -- computing vectors -------------------------------------------------------------------------


async def vectors_of(embedder: Embedder, batch: Sequence[str]) -> Sequence[bytes]:
    """The vectors of at most `BATCH` texts; a text that the model refuses has an empty one.

    Raises:
        NotEmbedded: the model gives none for another reason.
    """
    texts = list(filter(None, batch))
    try:
        vectors = iter(await embedder.embed(texts) if texts else ())
    except NotEmbedded as failure:
        if not failure.is_refusal:
            raise
        if len(batch) == 1:
            return [b""]
        return [vector for text in batch for vector in await vectors_of(embedder, [text])]
    return [next(vectors) if text else b"" for text in batch]


# -- comparing vectors -------------------------------------------------------------------------


@frozen
class Likeness:
    """How near items are to a question, by id; `near` are those that are found by it alone.

    `values` covers the items that the caller named and the near ones, the nearest of those first.
    """

    model: str
    values: Mapping[str, Nearness] = field(repr=False)
    near: tuple[str, ...] = field(default=(), repr=False)


def nearness_of(embedder: Embedder, cosines: Sequence[float]) -> list[Nearness]:
    """How near each cosine is, among all of them and the usual ones of the model."""
    usual_mean, usual_deviation = embedder.usual
    offsets = [(number - usual_mean) / usual_deviation for number in cosines]
    count = len(offsets) + USUAL_COUNT
    mean = fsum(offsets) / count
    squares = fsum((offset - mean) ** 2 for offset in offsets) + USUAL_COUNT * (1 + mean**2)
    deviation = sqrt(squares / count)
    return [Nearness(round((offset - mean) / deviation, 6), round(offset, 6)) for offset in offsets]


def nearest(
    embedder: Embedder, query: bytes, vectors: Iterable[Vector], ids: frozenset[str]
) -> Likeness:
    """How near the items with these `ids` are to a question, and the nearest other ones."""
    near = cosines_by_id(embedder, query, vectors)
    values = dict(zip(near, nearness_of(embedder, [*near.values()]), strict=True))
    rest = [id_ for id_ in values if id_ not in ids and values[id_].in_window > NEAR]
    rest = sorted(rest, key=lambda id_: (-values[id_].in_window, id_))[:NEAR_MAX]
    likeness = {id_: values[id_] for id_ in (*ids, *rest) if id_ in values}
    return Likeness(embedder.model, likeness, tuple(rest))


def cosines_by_id(embedder: Embedder, query: bytes, vectors: Iterable[Vector]) -> dict[str, float]:
    """The cosine of a question and each vector, by id; vectors of other models are left out."""
    raws = {
        vector.id: data
        for vector in vectors
        if vector.model == embedder.model and len(data := vector.raw) == len(query)
    }
    return dict(zip(raws, embedder.cosines(query, [*raws.values()]), strict=True))
