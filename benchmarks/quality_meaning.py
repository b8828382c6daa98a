"""How near texts come to a question, as the service has it with a model on this machine.

Vectors are made once for all runs: they stay in the folder of temporary files.
"""

import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from svc_core.search.vector_likeness import nearness_of, pack_vector, passage
from svc_core.text.evidence import Reading
from svc_core.text.ranking import Nearness
from svc_http.outside.embeddings.local_model import LOCAL_KINDS, ModelProcess


@cache
def _process(model: str) -> ModelProcess:
    return ModelProcess(LOCAL_KINDS[model])


@cache
def _store() -> sqlite3.Connection:
    path = Path(tempfile.gettempdir()) / "svc-benchmark-vectors.db"
    store = sqlite3.connect(path, timeout=60, isolation_level=None)
    store.execute("CREATE TABLE IF NOT EXISTS vectors (digest BLOB PRIMARY KEY, vector BLOB)")
    return store


@cache
def _vector(model: str, text: str) -> bytes:
    kind = LOCAL_KINDS[model]
    digest = sha256(f"{kind.name} {kind.question(text)}".encode()).digest()
    rows = _store().execute("SELECT vector FROM vectors WHERE digest = ?", (digest,))
    for (vector,) in rows.fetchall():
        return bytes(vector)
    made = pack_vector(_process(model).vector(text))
    _store().execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (digest, made))
    return made


def vectors_of_items(model: str, readings: Sequence[Reading]) -> dict[str, bytes]:
    """The packed vector of each item, by id; 10 to 200 ms for each text that is new."""
    prefix = LOCAL_KINDS[model].passage_prefix
    return {
        reading.evidence.id: _vector(
            model, prefix + passage(reading.evidence.title, reading.evidence.text)
        )
        for reading in readings
    }


def cosines(model: str, readings: Sequence[Reading], question: str) -> list[float]:
    """The cosine of the question and each item."""
    from svc_http.outside.embeddings import matrix  # noqa: PLC0415 - of an extra

    vectors = vectors_of_items(model, readings)
    rows = [vectors[reading.evidence.id] for reading in readings]
    return matrix.cosines(_vector(model, LOCAL_KINDS[model].query_prefix + question), rows)


def nearness(model: str, readings: Sequence[Reading], question: str) -> Mapping[str, Nearness]:
    """How near every item is to a question, by id."""
    near = nearness_of(LOCAL_KINDS[model], cosines(model, readings, question))
    return {reading.evidence.id: row for reading, row in zip(readings, near, strict=True)}
