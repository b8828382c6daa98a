"""The laws of folding catch folds that are broken in ways that are easily overlooked."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from svc_core.ledger.records import Draft, SealedRecord
from svc_core.testing.ledger_kit import folds, ranks
from svc_core.testing.ledger_kit.folds import Fold, Question, core
from svc_core.testing.ledger_kit.history_strategies import (
    VALID_TIMES,
    History,
    instant,
    new_history,
)

Y20, Y21, *_ = VALID_TIMES


@pytest.fixture(scope="module")
def history() -> History:
    """One subject, and claims of two authors that contradict each other."""
    sample = new_history(1)
    (subject,) = sample.subjects
    for number, (author, value, confidence, end) in enumerate(
        [
            ("key_ann", "Zug", 40, None),
            ("key_ann", "Zug", 10, None),
            ("key_bob", "Bern", 100, None),
            ("key_cyd", "Bern", None, None),
            ("key_cyd", "Chur", 60, Y21),
        ]
    ):
        salt = f"{number:021d}A"
        payload: Any = {"predicate": "headquarters", "value": value, "salt": salt}
        if confidence is not None:
            payload["confidence"] = confidence
        draft = Draft("claim", "assert", subject, None, Y20, end, author, payload)
        sample = sample.append([draft], instant(number + 9))
    return sample


def _reading(change: Callable[[SealedRecord, Sequence[SealedRecord]], SealedRecord]) -> Fold:
    """A fold that takes some records for others."""
    return lambda records, question: core([change(row, records) for row in records], question)


def _showing(change: Callable[[Any], None]) -> Fold:
    """A fold that shows some candidates otherwise."""

    def fold(records: Sequence[SealedRecord], question: Question) -> Any:
        view: Any = core(records, question)
        for claim in view["claims"].values():
            change(claim["candidates"])
        return view

    return fold


def _limited(record: SealedRecord, _: Sequence[SealedRecord]) -> SealedRecord:
    return record._replace(op="amend") if record.op == "supersede" else record


def _unlimited(record: SealedRecord, records: Sequence[SealedRecord]) -> SealedRecord:
    verdicts = {row.id for row in records if row.op == "verify"}
    return record._replace(valid_from=None, valid_to=None) if record.target in verdicts else record


def _count_all(candidates: Any) -> None:
    for row in candidates:
        row["authors"] = len(row["support"])


def _forget_confidence(candidates: Any) -> None:
    for row in candidates:
        row["confidence"] = None


def _misquote(candidates: Any) -> None:
    for row in candidates:
        row["value"] = "Olten"


def _count_withdrawn_dissent(candidates: Any) -> None:
    for each in candidates:
        for row in each["support"]:
            payload = row["verification"]
            payload["dissent"] = [v for v in payload["verdicts"] if v["state"] != payload["state"]]


def _forgetful(records: Sequence[SealedRecord], question: Question) -> Any:
    return core([row for row in records if row.op != "erase"], question)


def _forgetful_of_later(records: Sequence[SealedRecord], question: Question) -> Any:
    last = question.record_time or "9"
    return core([row for row in records if row.recorded_at <= last], question)


BROKEN = {
    "a supersession is limited to its interval": (_reading(_limited), folds.check_full_retraction),
    "a verdict retracted for a time is gone": (_reading(_unlimited), folds.check_retracted_verdict),
    "an author counts for each claim": (_showing(_count_all), ranks.check_best),
    "confidence is forgotten": (_showing(_forget_confidence), ranks.check_best),
    "values are not those of the claims": (_showing(_misquote), ranks.check_best),
    "a withdrawn verdict dissents": (
        _showing(_count_withdrawn_dissent),
        folds.check_retracted_verdict,
    ),
    "an erasure is not heeded": (_forgetful, folds.check_erasure),
    "a later erasure is not heeded": (_forgetful_of_later, folds.check_erasure),
    "candidates are turned round": (_showing(lambda sample: sample.reverse()), ranks.check_best),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_fold_is_caught(name: str, history: History) -> None:
    fault, check = BROKEN[name]
    check(core, history)
    with pytest.raises(AssertionError):
        check(fault, history)
