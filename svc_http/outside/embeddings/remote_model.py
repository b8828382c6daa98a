"""A client of embedding models that speak OpenAI's API: `POST {base}/embeddings`.

Rule 1: requests and answers are bounded in number, bytes and time; transient failures are retried.
Rule 2: after a refusal a harmless text is sent: if that is accepted, the refused texts were at
        fault, else the settings are.
"""

import asyncio
import json
from collections.abc import Sequence
from http import HTTPStatus
from math import isfinite
from typing import Any, Final

from attrs import field, frozen

from svc_http import system
from svc_http.outside.embeddings.model import EmbeddingFailure
from svc_http.outside.fetch.model import status_phrase
from svc_http.outside.upstream import NoAnswer, Upstream, UpstreamAnswer

TEXTS_AT_ONCE: Final = 32
"""Texts in one request; servers accept from 32 (Text Embeddings Inference) to 2,048 (OpenAI)."""
ANSWER_BYTES: Final = 8 * 1024 * 1024
"""The largest answer: 32 vectors of 4,096 dimensions with 20 characters each are 2.6 MB."""
TOTAL_SECONDS: Final = 30.0
"""The time for one request; a slow machine needs a second a text."""
WAITS: Final = (0.5, 2.0)
"""The waits before the second and the third attempt, in seconds."""
WAIT_MAX: Final = 10.0
"""The longest Retry-After for which an attempt waits."""
PAUSE_SECONDS: Final = 10.0
"""How long the model is not asked after all attempts failed, so that reports need not wait."""
_PROBE: Final = ("news",)
_TRANSIENT: Final = frozenset({408, 429, 500, 502, 503, 504})
_TEXT_REFUSALS: Final = frozenset({400, 413, 422})
_CURES: Final = {
    401: "check embeddings_key",
    403: "check embeddings_key",
    404: "check embeddings_url and embeddings_model",
}


@frozen
class EmbeddingEndpoint:
    """The address, name and key of an embedding model."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)


class RemoteModel:
    """An embedding model behind an address; `waits` are the seconds before each further attempt."""

    usual = None
    passage_prefix = query_prefix = ""

    def __init__(
        self,
        place: EmbeddingEndpoint,
        *,
        waits: Sequence[float] = WAITS,
        total_seconds: float = TOTAL_SECONDS,
    ) -> None:
        self._endpoint = place
        self._waits = waits
        self._total_seconds = total_seconds
        self._upstream = Upstream(f"{place.url}/embeddings", place.key, "svc-embeddings")
        self._pause: tuple[float, EmbeddingFailure] | None = None

    @property
    def name(self) -> str:
        """The name under which vectors are stored: the same model elsewhere makes the same ones."""
        return self._endpoint.model

    async def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vector of each text.

        Raises:
            EmbeddingFailure: the model gave none; the message says why.
        """
        rows: list[Sequence[float]] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            rows += await self._batch(texts[start : start + TEXTS_AT_ONCE])
        if len({len(vector) for vector in rows}) > 1:
            raise self._failure("gives vectors of several lengths")
        return rows

    async def aclose(self) -> None:
        """Close all connections."""
        await self._upstream.aclose()

    async def _batch(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if self._pause is not None and system.monotonic() < self._pause[0]:
            raise self._pause[1]
        try:
            answer = await self._answer(texts)
            if answer.status in _TEXT_REFUSALS and texts is not _PROBE:
                await self._batch(_PROBE)
                raise self._failure(self._refusal(answer), is_refusal=True)
            if answer.status != HTTPStatus.OK:
                raise self._failure(self._refusal(answer))
            return await asyncio.to_thread(self._read, answer.body, len(texts))
        except EmbeddingFailure as failure:
            if not failure.is_refusal:
                self._pause = (system.monotonic() + PAUSE_SECONDS, failure)
            raise

    async def _answer(self, texts: Sequence[str]) -> UpstreamAnswer:
        """Ask up to three times, until the answer is no transient failure."""
        for wait in self._waits:
            try:
                answer = await self._exchange(texts)
            except EmbeddingFailure:
                await asyncio.sleep(wait)
                continue
            if answer.status not in _TRANSIENT or (answer.wait_seconds or 0) > WAIT_MAX:
                return answer
            await asyncio.sleep(max(wait, answer.wait_seconds or 0))
        return await self._exchange(texts)

    async def _exchange(self, texts: Sequence[str]) -> UpstreamAnswer:
        try:
            return await self._upstream.ask(
                self._question(texts), seconds=self._total_seconds, bytes_max=ANSWER_BYTES
            )
        except NoAnswer as error:
            raise self._failure(str(error)) from error

    def _question(self, texts: Sequence[str]) -> dict[str, Any]:
        return {
            "model": self._endpoint.model,
            "input": list(texts),
            "encoding_format": "float",
        }

    def _read(self, body: bytes, count: int) -> Sequence[Sequence[float]]:
        """The vectors of an answer, in the order of the texts."""
        try:
            rows = sorted(json.loads(body)["data"], key=lambda row: row["index"])
            vectors = [[float(value) for value in row["embedding"]] for row in rows]
            places = [row["index"] for row in rows]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as fault:
            raise self._failure("does not answer as an embeddings endpoint does") from fault
        is_whole = all(any(vector) and all(map(isfinite, vector)) for vector in vectors)
        if places != list(range(count)) or not is_whole:
            raise self._failure("does not give one vector for each text")
        return vectors

    def _failure(self, reason: str, *, is_refusal: bool = False) -> EmbeddingFailure:
        message = self._upstream.without_key(reason)
        return EmbeddingFailure(f"{self._upstream.url} {message}", is_refusal=is_refusal)

    def _refusal(self, answer: UpstreamAnswer) -> str:
        cure, words = _CURES.get(answer.status), self._upstream.error_message(answer.body)
        return (
            f"answered {status_phrase(answer.status)}"
            + (f": {words}" if words else "")
            + (f"; {cure}" if cure else "")
        )
