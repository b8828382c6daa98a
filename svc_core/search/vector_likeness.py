"""Embedding vectors of texts, and the likeness of items to a question that follows from them.

Rule 1: vectors are stored in 8 bits a dimension, and a question is quantised the same way: their
        cosine is computed from whole numbers, and so is the same on every machine.
Rule 2: the likeness of an item is how far its cosine lies above the usual one, in standard
        deviations: a cosine of 0.4 means much for one question and little for another.
Rule 3: an item without a vector has no likeness, which is not a likeness of 0.
"""

from array import array
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import fsum, isfinite, sqrt
from operator import mul
from typing import Final, Protocol

from attrs import field, frozen

TEXT_CHARS: Final = 700
"""Characters of an item's text that its vector covers, after the headline. The weights of
retrieval were measured with this value."""
BATCH: Final = 8
"""Vectors computed and stored at once: a second of one idle processor, half a minute of a busy one
for texts of the longest kind."""
NEAR_MAX: Final = 400
"""How many of the nearest items are considered that hold no word of the question."""
USUAL_MEAN: Final = 0.07
USUAL_DEVIATION: Final = 0.10
USUAL_COUNT: Final = 300
"""The usual cosine of a news item and any question (all-MiniLM-L6-v2, 869 items, 78 questions: mean
0.06, deviation 0.10), and as how many items it counts. So a few items that are all about the
question are compared with news in general, and not only with each other."""
FREE: Final = 2.0
"""Standard deviations above the mean that mean nothing: of 869 items a few always reach them."""
COSINE_FLOOR, COSINE_FULL = 0.2, 0.4
"""Below the first cosine an item has no likeness, however far off the others are; from the second
on its likeness counts in full, and between them in proportion."""


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
    def usual_mean(self) -> float:
        """The mean cosine of the model's vectors of a question and of any item of news."""

    @property
    def usual_deviation(self) -> float:
        """The standard deviation of these cosines."""

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
    """The likeness of items to a question, by id; `near` are the nearest ones found by it alone.

    `values` covers the items that the caller named and the near ones, the nearest of those first.
    """

    model: str
    values: Mapping[str, float] = field(repr=False)
    near: tuple[str, ...] = field(default=(), repr=False)


def likeness_values(cosines: Sequence[float]) -> list[float]:
    """The likeness of each cosine, from 0 on, judged against all cosines and the usual ones."""
    count = len(cosines) + USUAL_COUNT
    mean = (fsum(cosines) + USUAL_COUNT * USUAL_MEAN) / count
    usual = USUAL_COUNT * (USUAL_DEVIATION**2 + (USUAL_MEAN - mean) ** 2)
    deviation = sqrt((fsum((value - mean) ** 2 for value in cosines) + usual) / count)
    return [
        round(max(0.0, (value - mean) / deviation - FREE) * _trust(value), 6) for value in cosines
    ]


def _trust(cosine: float) -> float:
    return min(1.0, max(0.0, (cosine - COSINE_FLOOR) / (COSINE_FULL - COSINE_FLOOR)))


def nearest(
    embedder: Embedder, query: bytes, vectors: Iterable[Vector], ids: frozenset[str]
) -> Likeness:
    """The likeness to a question of the items with these `ids`, and of the nearest other ones."""
    near = cosines_by_id(embedder, query, vectors)
    values = dict(zip(near, likeness_values(list(near.values())), strict=True))
    rest = [id_ for id_, value in values.items() if id_ not in ids and value > 0]
    rest = sorted(rest, key=lambda id_: (-values[id_], id_))[:NEAR_MAX]
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
