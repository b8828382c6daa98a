"""How near texts come to a question, as the service with `embeddings = "minilm"` has it."""

from collections.abc import Mapping, Sequence
from functools import cache

from svc_core.search.vector_likeness import TEXT_CHARS, likeness_values, pack_vector
from svc_core.text.evidence import Reading


@cache
def _vector(text: str) -> bytes:
    return pack_vector(_model().vector(text))


@cache
def _model():  # type: ignore[no-untyped-def]
    from svc_http.outside.embeddings.minilm import MiniLM  # noqa: PLC0415 - of an extra

    return MiniLM()


def likeness(readings: Sequence[Reading], question: str) -> Mapping[str, float]:
    """By id, of every item; 10 to 60 ms for each text that was not there before."""
    from svc_http.outside.embeddings.matrix import cosines  # noqa: PLC0415 - of an extra

    items = [reading.evidence for reading in readings]
    vectors = [_vector(f"{item.title}\n{item.text[:TEXT_CHARS]}".strip()) for item in items]
    scores = likeness_values(cosines(_vector(question), vectors))
    return {item.id: value for item, value in zip(items, scores, strict=True)}
