"""Linear models over terms: a score by column, from the weights of a data file.

Rule 1: a score is the bias of its column and the weights of the terms that stand in the text, each
        counted once, divided by the root of the number of terms, so that length has no effect.
Rule 2: cues are terms with a value, which counts as it is.
Rule 3: weights are bytes times one scale, so that a model is small and read in milliseconds.
"""

import json
import zlib
from collections.abc import Collection, Mapping
from functools import cache

from attrs import field, frozen

from svc_core import data


@frozen
class Linear:
    """A linear model; `places` gives the start of a term's row in `weights`, signed bytes."""

    columns: tuple[str, ...]
    biases: tuple[float, ...]
    scale: float
    places: Mapping[str, int] = field(repr=False)
    weights: memoryview = field(repr=False)

    def scores(
        self, terms: Collection[str], cues: Mapping[str, float] | None = None
    ) -> list[float]:
        """The scores of a text with these different terms, in the order of the columns."""
        totals = list(self.biases)
        rows = [self._row(term) for term in terms if term in self.places]
        if rows:
            share = self.scale / float(len(terms)) ** 0.5
            sums = map(sum, zip(*rows, strict=True))
            totals = [bias + share * total for bias, total in zip(totals, sums, strict=True)]
        for cue, value in (cues or {}).items():
            for column, weight in enumerate(self._row(cue) if cue in self.places else ()):
                totals[column] += self.scale * weight * value
        return totals

    def _row(self, term: str) -> memoryview:
        start = self.places[term]
        return self.weights[start : start + len(self.columns)]


@cache
def load_model(name: str) -> Linear:
    """The model of a data file: a line of JSON, a line of terms parted by tabs, the bytes.

    Raises:
        FileNotFoundError: there is no such model.
    """
    head, terms, weights = zlib.decompress(data.table_bytes(name)).split(b"\n", 2)
    header = json.loads(head)
    width = len(header["columns"])
    return Linear(
        columns=tuple(header["columns"]),
        biases=tuple(header["biases"]),
        scale=header["scale"],
        places={term: row * width for row, term in enumerate(terms.decode().split("\t"))},
        weights=memoryview(weights).cast("b"),
    )
