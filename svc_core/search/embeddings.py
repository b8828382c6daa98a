"""Vectors of items by a model of meaning, and how near items come to a question.

Rule 1: vectors are kept in 8 bits a dimension, and a question is cut the same way: their cosine
        is made of whole numbers, and so is the same wherever it is computed.
Rule 2: likeness is how much nearer an item comes to a question than items do, in standard
        deviations: a cosine of 0.4 says much of one question and little of another.
Rule 3: an item that has no vector has no likeness, which is not a likeness of 0.
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
"""Of an item's text, behind its headline: what the weights of retrieval were measured with."""
BATCH: Final = 32
"""Vectors made and kept at once: a second or two of one processor."""
NEAR_MAX: Final = 400
"""How many items are looked at that hold no word of the question, the nearest."""
USUAL_MEAN: Final = 0.07
USUAL_DEVIATION: Final = 0.10
USUAL_COUNT: Final = 300
"""How near items of news come to any question (all-MiniLM-L6-v2, 869 items, 78 questions: mean
0.06, deviation 0.10), and for how many items that counts, so that a few items all of which are
about the question are not told apart from each other but from news."""
FREE: Final = 2.0
"""Standard deviations above the mean that tell nothing: of 869 items some are always there."""
COSINE_FLOOR, COSINE_FULL = 0.2, 0.4
"""Below the first cosine nothing is like a question, however far the others are; from the second
on the likeness is trusted whole."""


class NotEmbedded(Exception):  # noqa: N818 - said as the state that it is
    """There is no vector; the message is one line that says why.

    `is_refusal` says that it is for the words: others may have one, and these never will.
    """

    def __init__(self, message: str, *, is_refusal: bool = False) -> None:
        super().__init__(message)
        self.is_refusal = is_refusal


class Embedder(Protocol):
    """A model of meaning."""

    @property
    def model(self) -> str:
        """Its name; vectors of two names are never compared."""

    @property
    def compared_max(self) -> int:
        """How many vectors it compares with a question in well under a second."""

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """The vector of each text, `packed`.

        Raises:
            NotEmbedded: there are none.
        """

    def cosines(self, query: bytes, vectors: Sequence[bytes]) -> Sequence[float]:
        """The `cosine` of a query and each of these vectors, which are as long as it."""


# -- vectors -----------------------------------------------------------------------------------


@frozen
class Vector:
    """The vector of an item; `data` in base64, empty where its words can have none."""

    id: str
    taken_at: datetime
    model: str
    version: int
    data: str = field(repr=False)

    @property
    def raw(self) -> bytes:
        """As `raw` made it."""
        return b64decode(self.data)


def packed(values: Sequence[float]) -> bytes:
    """A vector in 8 bits a dimension, scaled to its largest; its direction moves by 0.1 degrees.

    Raises:
        ValueError: it has no direction, or is not of numbers.
    """
    top = max(map(abs, values), default=0.0)
    if not top or not all(map(isfinite, values)):
        raise ValueError("a vector without a direction")
    return array("b", [round(value / top * 127) for value in values]).tobytes()


def cosine(first: bytes, second: bytes) -> float:
    """The cosine of two packed vectors of one length, -1..1."""
    left, right = array("b", first), array("b", second)
    lengths = sum(map(mul, left, left)) * sum(map(mul, right, right))
    return float(sum(map(mul, left, right)) / sqrt(lengths))


def passage(title: str, text: str) -> str:
    """What of a text its vector is made of."""
    return f"{title}\n{text[:TEXT_CHARS]}".strip()


# -- making them -------------------------------------------------------------------------------


async def vectors_of(embedder: Embedder, batch: Sequence[str]) -> Sequence[bytes]:
    """The vectors of at most `BATCH` texts; those of texts that the model refuses are empty.

    Raises:
        NotEmbedded: the model gives none.
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


# -- asking them -------------------------------------------------------------------------------


@frozen
class Likeness:
    """How near items come to a question, by id, of those that were looked at.

    `near` are items beyond those that were named, the nearest first.
    """

    model: str
    values: Mapping[str, float] = field(repr=False)
    near: tuple[str, ...] = field(default=(), repr=False)


def compared(cosines: Sequence[float]) -> list[float]:
    """The likeness behind each cosine, from 0 on, beside the others and what is usual."""
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
    """How near the items of those vectors come to a question, beyond the `ids` the nearest."""
    near = cosines_by_id(embedder, query, vectors)
    values = dict(zip(near, compared(list(near.values())), strict=True))
    rest = [id_ for id_, value in values.items() if id_ not in ids and value > 0]
    rest = sorted(rest, key=lambda id_: (-values[id_], id_))[:NEAR_MAX]
    likeness = {id_: values[id_] for id_ in (*ids, *rest) if id_ in values}
    return Likeness(embedder.model, likeness, tuple(rest))


def cosines_by_id(embedder: Embedder, query: bytes, vectors: Iterable[Vector]) -> dict[str, float]:
    """How near those vectors come to a question, by id, that its model made."""
    raws = {
        vector.id: data
        for vector in vectors
        if vector.model == embedder.model and len(data := vector.raw) == len(query)
    }
    return dict(zip(raws, embedder.cosines(query, [*raws.values()]), strict=True))
