"""The embedding model that the settings name, as the core uses it.

Rule 1: texts are embedded in a thread or another process, never inside a unit of work nor on the
        event loop.
Rule 2: the same questions come again and again, so the vectors of the last ones are cached.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Final, Protocol

from svc_core.search.vector_likeness import NotEmbedded, cosine, pack_vector
from svc_http.outside.embeddings import usual

QUESTIONS_MAX: Final = 256
"""Questions whose vectors are cached: about a kilobyte each."""
COMPARED_MAX: Final = 20_000
"""Vectors compared with one question: 0.3 s of one processor, 0.1 s of it in numpy."""
COMPARED_PLAIN_MAX: Final = 2_000
"""The same without numpy: 0.1 s for 384 dimensions, 0.4 s for 1,536."""


class EmbeddingFailure(NotEmbedded):
    """The model gave no vectors; the message says why."""


class VectorModel(Protocol):
    """An embedding model."""

    @property
    def name(self) -> str:
        """The name under which its vectors are stored."""

    @property
    def usual(self) -> tuple[float, float] | None:
        """The mean cosine of a question and any item of news, and the standard deviation.

        None where nobody has measured it; then `svc_http.outside.embeddings.usual` does.
        """

    @property
    def passage_prefix(self) -> str:
        """What the model wants before each text that is searched."""

    @property
    def query_prefix(self) -> str:
        """What the model wants before a question."""

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vector of each text.

        Raises:
            NotEmbedded: there are none.
        """

    async def aclose(self) -> None:
        """Drop what is under way."""


class Embeddings:
    """An embedding model with a cache of question vectors; `on_failure` gets failures."""

    def __init__(self, model: VectorModel) -> None:
        self._model = model
        self._usual = model.usual
        self._question_vectors: OrderedDict[str, bytes] = OrderedDict()
        self._has_numpy = find_spec("numpy") is not None
        self.on_failure: Callable[[BaseException], None] = lambda _: None

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model.name

    @property
    def compared_max(self) -> int:
        """How many vectors are compared with one question."""
        return COMPARED_MAX if self._has_numpy else COMPARED_PLAIN_MAX

    @property
    def usual(self) -> tuple[float, float]:
        """The mean and deviation of cosines with any item of news; known after `embed_query`."""
        if self._usual is None:
            raise AssertionError("cosines are compared with those of an embedded question")
        return self._usual

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """The vector of each text that is searched, packed.

        Raises:
            NotEmbedded: there are none.
        """
        return await self._packed([self._model.passage_prefix + text for text in texts])

    async def embed_query(self, text: str) -> bytes:
        """The packed vector of a question.

        Raises:
            NotEmbedded: there is none.
        """
        if self._usual is None:
            queries, texts = (list(texts) for texts in zip(*usual.PAIRS, strict=True))
            made = await self._packed(
                [self._model.query_prefix + query for query in queries]
                + [self._model.passage_prefix + text for text in texts]
            )
            half = len(queries)
            self._usual = usual.usual_cosines(made[:half], made[half:], self.cosines)
        vectors = self._question_vectors
        if text not in vectors:
            (vectors[text],) = await self._packed([self._model.query_prefix + text])
        vectors.move_to_end(text)
        if len(vectors) > QUESTIONS_MAX:
            vectors.popitem(last=False)
        return vectors[text]

    async def _packed(self, texts: Sequence[str]) -> list[bytes]:
        try:
            vectors = await self._model.vectors(texts)
            return await asyncio.to_thread(lambda: [pack_vector(vector) for vector in vectors])
        except NotEmbedded as failure:
            self.on_failure(failure)
            raise

    def cosines(self, query: bytes, vectors: Sequence[bytes]) -> Sequence[float]:
        """The cosine of a question and each vector; the same with numpy and without."""
        if not self._has_numpy:
            return [cosine(query, vector) for vector in vectors]
        from svc_http.outside.embeddings.matrix import cosines  # noqa: PLC0415 - of an extra

        return cosines(query, vectors)

    async def aclose(self) -> None:
        """Drop what is under way."""
        await self._model.aclose()
