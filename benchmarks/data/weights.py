"""Linear models as data files: weights as bytes, as `svc_core.text.linear_models` reads them."""

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

DATA = Path(__file__).parents[2] / "svc_core" / "data"


def write(
    name: str,
    columns: Sequence[str],
    biases: Sequence[float],
    rows: Mapping[str, np.ndarray],
    *,
    scale: float,
) -> None:
    """Write a model in steps of `scale`: less than half of one is nothing, 127 are the most.

    A row without any weight is left out.
    """
    weights = {
        term: np.clip(np.round(row / scale), -127, 127).astype(np.int8)
        for term, row in sorted(rows.items())
    }
    weights = {term: row for term, row in weights.items() if row.any()}
    head = {
        "columns": list(columns),
        "biases": [round(float(bias), 3) for bias in biases],
        "scale": scale,
    }
    plain = b"\n".join(
        (
            json.dumps(head).encode(),
            "\t".join(weights).encode(),
            b"".join(row.tobytes() for row in weights.values()),
        )
    )
    blob = zlib.compress(plain, 9)
    (DATA / name).write_bytes(blob)
    print(f"{name}: {len(weights)} terms, {len(blob) // 1000} kB")
