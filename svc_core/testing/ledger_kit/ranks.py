"""Laws of ranking in a fold: refuted records, and the best value of a claim (P13, P14).

They are among those of `folds`, which says what a fold under test is.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from svc_core.base.canonical import dumps
from svc_core.ledger.fold.verification_states import RANK
from svc_core.ledger.records import SealedRecord
from svc_core.testing.ledger_kit.fold_questions import Fold, View, holds, questions, standing_rows
from svc_core.testing.ledger_kit.history_strategies import History
from svc_core.testing.rules import explain_failures


@explain_failures
def check_refuted(fold: Fold, history: History) -> None:
    """P13: what was refuted is never best, and every refuted record is listed as rejected."""
    for question in questions(history):
        view = fold(history.records, question)
        refuted_ids = {
            row["id"] for row in standing_rows(view) if row["verification"]["state"] == "refuted"
        }
        holds(refuted_ids == {row["id"] for row in view["rejected"]}, question)
        for candidate in _candidates(view):
            if {row["id"] for row in candidate["support"]} <= refuted_ids:
                holds(not candidate["best"] and candidate["rank"] < 0, question)


@explain_failures
def check_best(fold: Fold, history: History) -> None:
    """P14: the best candidates are those of the highest rank; the first of them is the value.

    Within a rank the order is by authors, confidence and the newest record. A candidate is the
    value, as its canonical bytes tell, of all the claims that give it, and of no others.
    """
    said_by = {record.id: record for record in history.records}
    for question in questions(history):
        for name, claim in fold(history.records, question)["claims"].items():
            candidates = claim["candidates"]
            ranks = [candidate["rank"] for candidate in candidates]
            for candidate in candidates:
                texts = {_value_text(said_by[row["id"]]) for row in candidate["support"]}
                holds(texts == {dumps(candidate["value"])}, question, candidate)
                states = [row["verification"]["state"] for row in candidate["support"]]
                holds(candidate["rank"] == max([RANK[state] for state in states]), question)
                expected = candidate["rank"] == max(ranks) >= 0
                holds(candidate["best"] is expected, question)
            holds(ranks == sorted(ranks, reverse=True), question, name)
            holds(claim["value"] == (candidates[0]["value"] if ranks[0] >= 0 else None), question)
            standing = sum(rank >= 0 for rank in ranks)
            holds(claim["contested"] is (claim["single"] and standing > 1), question, name)
            values = {dumps(candidate["value"]) for candidate in candidates}
            holds(len(values) == len(candidates), question, values)
            weights = [_weight(candidate) for candidate in candidates]
            holds(weights == sorted(weights, reverse=True), question, weights)


def _value_text(claim: SealedRecord) -> bytes:
    return dumps((claim.payload or {}).get("value"))


def _weight(candidate: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Compute the sort key of a candidate, in which refuted claims have no weight.

    Raises:
        AssertionError: its authors or its confidence are not those of the claims that give it.
    """
    rows = candidate["support"]
    standing = [row for row in rows if row["verification"]["state"] != "refuted"]
    authors = {row["author"] for row in standing}
    sure = [row["confidence"] for row in standing if row["confidence"] is not None]
    holds(candidate["authors"] == len(authors), candidate)
    holds(candidate["confidence"] == max(sure, default=None), candidate)
    newest = max([row["seq"] for row in standing or rows])
    return candidate["rank"], len(authors), max(sure, default=-1), newest


def _candidates(view: View) -> Iterator[Mapping[str, Any]]:
    for claim in view["claims"].values():
        yield from claim["candidates"]
