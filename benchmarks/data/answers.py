"""Fits the regression that says whether a query has an answer (`svc_core.text.ranking`).

    python benchmarks/data/answers.py FOLDER

FOLDER holds the documents of `benchmarks/quality_sets.py`. The questions are our subjects of a few
days and of windows, in every wording: as they are, after all that is about them was taken away, and
those about which there is nothing. Prints weights, bias and the thresholds below which 2 % and 6 %
of the questions with an answer lie when each quarter of the subjects is judged by the others; from
bias and second threshold the code takes the first away. The numbers in the code rest on these
questions and on those of four sets more (ADR 60), each set judged by the others. By meaning E5 is
fitted. Needs scikit-learn.
"""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

sys.path.insert(0, str(Path(__file__).parents[1]))

from quality_product import BY_MEANING, candidates_of, frequencies_of, query_of
from quality_sets import Search, Sets

from svc_core.text.evidence import readings
from svc_core.text.ranking import _hits, _Window, answer_features

LOST, SCANT = 0.02, 0.06
FOLDS = 4


def searches(sets: Sets) -> Iterator[tuple[bool, Search]]:
    """Each search, and whether there is something to find."""
    for search in (*sets.searches_of_days(), *sets.searches_of_windows()):
        yield True, search
        yield False, sets.left_out(search)
    for subject in sets.subjects():
        if not subject.relevant:
            yield False, Search(subject, sets.days(), sets.days())


def rows_of(sets: Sets, model: str | None) -> Iterator[tuple[int, bool, tuple[float, ...]]]:
    """The fold, the answer and the features of each question."""
    BY_MEANING[:] = [model] if model else []
    for is_answerable, search in searches(sets):
        items, store = readings(search.items), frequencies_of(readings(search.store))
        fold = hashlib.sha256(search.subject.key.encode()).digest()[1] % FOLDS
        for wording in search.subject.wordings:
            query, near = query_of(items, wording, search.subject.language)
            candidates = candidates_of(items, query, near, store)
            window = _Window(query, candidates, store, len(items))
            window.near = near
            hits = _hits(query, window)
            if hits:
                yield fold, is_answerable, answer_features(query, hits, store)


def fitted(name: str, rows: list[tuple[int, bool, tuple[float, ...]]]) -> None:
    """Print one regression."""
    folds, labels, features = (np.array(column) for column in zip(*rows, strict=True))
    odds = np.zeros(len(labels))
    for fold in range(FOLDS):
        model = _model().fit(features[folds != fold], labels[folds != fold])
        odds[folds == fold] = model.decision_function(features[folds == fold])
    least, scant = np.quantile(odds[labels], (LOST, SCANT))
    model = _model().fit(features, labels)
    weights = ", ".join(f"{weight:.2f}" for weight in model.coef_[0])
    print(f"{name}: ({weights}), {model.intercept_[0]:.2f}, {least:.2f}, {scant:.2f}")
    print(f"  {len(labels)} questions, area under the curve {roc_auc_score(labels, odds):.3f}")
    print(f"  told as nothing where nothing is: {np.mean(odds[~labels] < least):.2f}")


def _model() -> LogisticRegression:
    return LogisticRegression(C=0.5, class_weight="balanced", max_iter=1_000)


def main(folder: str) -> None:
    """Fit both."""
    sets = Sets(Path(folder))
    fitted("words", list(rows_of(sets, None)))
    fitted("meaning", list(rows_of(sets, "e5")))


if __name__ == "__main__":
    main(sys.argv[1])
