"""The laws of a bitemporal fold, P1 to P18, for any function that folds.

    from svc_core.testing.ledger_kit import folds
    from svc_core.testing.ledger_kit.folds import core as my_fold  # or one of your own

    TestMyFold = folds.laws(my_fold)

`my_fold(records, question)` returns the view as plain JSON with the members of `SubjectView`;
`core` is the fold of this library in that form. Each law is a test of its own. Each check raises
AssertionError, with the broken law first and then the question.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import evolve
from hypothesis import HealthCheck, given, settings

from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.segments import breakpoints
from svc_core.ledger.fold.standing import Standing, covers
from svc_core.ledger.records import STATEMENTS, Draft, Op, SealedRecord
from svc_core.testing.ledger_kit.fold_questions import (
    Fold,
    Question,
    View,
    check_same,
    core,
    holds,
    live_ids,
    questions,
    standing_rows,
    valid_times,
)
from svc_core.testing.ledger_kit.history_strategies import AUTHORS, History, histories, instant
from svc_core.testing.ledger_kit.ranks import check_best, check_refuted
from svc_core.testing.rules import explain_failures

__all__ = ["CHECKS", "Check", "Fold", "Question", "act", "check_agreement", "core", "laws"]

Check: TypeAlias = Callable[[Fold, History], None]


# -- P1 to P6, P12: sets and prefixes ------------------------------------------------------------


@explain_failures
def check_order_independence(fold: Fold, history: History) -> None:
    """P1: the order of the records does not matter."""
    records = history.records
    orders = (records[::-1], tuple(sorted(records, key=_by_id)), (*records[1::2], *records[::2]))
    for question in questions(history):
        expected = fold(records, question)
        for order in orders:
            check_same(fold(order, question), expected, question)


@explain_failures
def check_idempotence(fold: Fold, history: History) -> None:
    """P2: a record given twice counts once."""
    for question in questions(history):
        expected = fold(history.records, question)
        check_same(fold((*history.records, *history.records), question), expected, question)


@explain_failures
def check_incremental(fold: Fold, history: History) -> None:
    """P3: parts that overlap, joined in any order, fold as the whole does."""
    records, half = history.records, len(history.records) // 2
    for question in questions(history):
        expected = fold(records, question)
        check_same(fold((*records[half:], *records[: half + 1]), question), expected, question)
        union = RecordSet.of(records[half:]) | RecordSet.of(records[: half + 1])
        check_same(fold(union.records, question), expected, question)


@explain_failures
def check_monoid(_: Fold, history: History) -> None:
    """P4: sets under union are a commutative, idempotent monoid."""
    third = len(history.records) // 3
    a, b, c = (
        RecordSet.of(part)
        for part in (
            history.records[: 2 * third],
            history.records[third:],
            history.records[2 * third :],
        )
    )
    whole = RecordSet.of(history.records)
    holds((a | b) | c == a | (b | c) == whole, "associative")
    holds(a | b == b | a, "commutative")
    holds(a | a == a and a | RecordSet() == a == RecordSet() | a, "idempotent, neutral")
    for size in range(len(history.records) + 1):
        cut = a.restrict(size=size) | b.restrict(size=size)
        holds((a | b).restrict(size=size) == cut, "a homomorphism", size)
        # So a set that was kept at a size answers for every size, joined with what came since.
        early, tail = whole.restrict(size=size), RecordSet.of(history.records[size:])
        holds(early | tail == whole, "incremental", size)


@explain_failures
def check_later_records(fold: Fold, history: History) -> None:
    """P5: what is recorded after a record time does not change a fold at it."""
    for at, prefix in _prefixes(history):
        for question in questions(history):
            at_time = evolve(question, record_time=at)
            check_same(fold(history.records, at_time), fold(prefix, at_time), at_time)


@explain_failures
def check_restriction(fold: Fold, history: History) -> None:
    """P6: folding what was recorded by a time is folding at that record time."""
    for at, prefix in _prefixes(history):
        for question in questions(history):
            at_time = evolve(question, record_time=at)
            check_same(fold(prefix, question), fold(history.records, at_time), at_time)


@explain_failures
def check_prefix_size(fold: Fold, history: History) -> None:
    """P12: each record time is one size."""
    for at, prefix in _prefixes(history):
        for question in questions(history):
            by_time = evolve(question, record_time=at)
            by_size = evolve(question, size=len(prefix))
            check_same(fold(history.records, by_time), fold(history.records, by_size), by_time)


def _prefixes(history: History) -> Iterator[tuple[str, tuple[SealedRecord, ...]]]:
    """Yield a few record times before the last append, with the records up to each."""
    for head in history.heads[-1:1:-3]:
        yield head.recorded_at or "", history.records[: head.size]


def _by_id(record: SealedRecord) -> str:
    return record.id


# -- P7, P11: valid time -------------------------------------------------------------------------


@explain_failures
def check_segments(fold: Fold, history: History) -> None:
    """P7: between two breakpoints a fold is constant."""
    for subject in history.subjects:
        first, *times = valid_times(history.records)
        for start, end in zip([first, *times[1::2]], [*times[::2], None], strict=True):
            if end is not None:
                opening, closing = Question(subject, start), Question(subject, end)
                check_same(fold(history.records, opening), fold(history.records, closing), opening)


@explain_failures
def check_coverage(fold: Fold, history: History) -> None:
    """P11: what is in force covers the valid time, and is a statement."""
    records = {record.id: record for record in history.records}
    for question in questions(history):
        for id_ in live_ids(fold(history.records, question)):
            record = records[id_]
            holds(covers(record, question.valid_time) and record.op in STATEMENTS, question, id_)


# -- P8 to P10, P15: acts --------------------------------------------------------------------------


@explain_failures
def check_full_retraction(fold: Fold, history: History) -> None:
    """P8: a retraction without bounds removes its target at every valid time.

    So does a supersession, whatever its bounds.
    """
    for target in _statements(history):
        supersession = act(history, "supersede", target, _middle(history))
        for after in (act(history, "retract", target), supersession):
            for question in questions(after, target.subject):
                live = live_ids(fold(after.records, question))
                holds(target.id not in live, question, target.id)


@explain_failures
def check_restoration(fold: Fold, history: History) -> None:
    """P9: retracting a retraction restores what it displaced, exactly."""
    for target in _statements(history):
        for interval in ((None, None), _middle(history)):
            retraction = act(history, "retract", target, interval)
            restoration = act(retraction, "retract", retraction.records[-1])
            for question in questions(history, target.subject):
                before, after = fold(history.records, question), fold(restoration.records, question)
                check_same(_present(after), _present(before), question, target.id)


@explain_failures
def check_erasure(fold: Fold, history: History) -> None:
    """P10: an erasure takes content away and never what is in force."""
    for target in _statements(history):
        after = act(history, "erase", target)
        for question in questions(history, target.subject):
            before = fold(history.records, question)
            view = fold(after.records, question)
            holds(live_ids(view) == live_ids(before), question, target.id)
            # A copy from before does not bring it back, and no record time is before an erasure.
            copies = (*history.records, after.records[-1])
            at_time = evolve(question, record_time=history.head.recorded_at)
            for answer in (view, fold(copies, question), fold(copies, at_time)):
                rows = [row for row in standing_rows(answer) if row["id"] == target.id]
                holds(all(row["erased"] for row in rows), question, rows)


@explain_failures
def check_amendment(fold: Fold, history: History) -> None:
    """P15: an amendment changes nothing outside its interval."""
    for target in _statements(history):
        interval = _middle(history)
        after = act(history, "amend", target, interval)
        amendment = after.records[-1]
        for question in questions(after, target.subject):
            before, view = fold(history.records, question), fold(after.records, question)
            if covers(amendment, question.valid_time):
                holds(target.id not in live_ids(view), question)
                holds(amendment.id in live_ids(view), question)
            else:
                check_same(_present(view), _present(before), question)


def _present(view: View) -> View:
    return {name: member for name, member in view.items() if name != "history"}


def _middle(history: History) -> tuple[str | None, str | None]:
    """Return an interval between two breakpoints in the middle of valid time."""
    times = breakpoints(history.records) or ["2021-01-01T00:00:00.000000Z"]
    middle = len(times) // 2
    return times[middle], times[middle + 1] if middle + 1 < len(times) else None


def _statements(history: History) -> list[SealedRecord]:
    """Return up to two statements that are not displaced everywhere, newest first."""
    statements: list[SealedRecord] = []
    for subject in history.subjects:
        standing = Standing.of(history.records, subject)
        statements += [
            record
            for record in standing.records
            if record.op in STATEMENTS and record.id in standing.in_force and record.payload
        ]
    return statements[::-1][:2]


def act(
    history: History,
    op: Op,
    target: SealedRecord,
    interval: tuple[str | None, str | None] = (None, None),
    payload: Mapping[str, Any] | None = None,
) -> History:
    """Return the history after one more act; an amendment repeats its target's payload."""
    members = payload or (target.payload if op in STATEMENTS else None) or {"reason": "other"}
    head = history.head
    draft = Draft(
        target.kind,
        op,
        target.subject,
        target.id,
        *interval,
        next(author for author in AUTHORS if author != target.author),
        {**members, "salt": f"x{head.size:020d}A"},
    )
    return history.append([draft], head.recorded_at or instant(0))


# -- P17, P18: verdicts ----------------------------------------------------------------------------


@explain_failures
def check_retracted_verdict(fold: Fold, history: History) -> None:
    """P17: retracting a verdict restores the one before it.

    A verdict has no valid time: one that is retracted for a part of it stands.
    """
    for target in _statements(history):
        for state in ("verified", "refuted"):
            verdict = act(history, "verify", target, payload={"state": state, "method": "reading"})
            restoration = act(verdict, "retract", verdict.records[-1])
            in_part = act(verdict, "retract", verdict.records[-1], _middle(history))
            for question in questions(history, target.subject):
                before = fold(history.records, question)
                holds(
                    _states(fold(in_part.records, question))
                    == _with(_states(before), target.id, state),
                    question,
                )
                during = fold(verdict.records, question)
                after = fold(restoration.records, question)
                holds(_states(during) == _with(_states(before), target.id, state), question)
                holds(_states(after) == _states(before), question)
                holds(_outcome(after) == _outcome(before), question)
                holds(_dissent(after) == _dissent(before), question)


@explain_failures
def check_all_refuted(fold: Fold, history: History) -> None:
    """P18: where every claim under a predicate is refuted its value is null; all stay listed."""
    records = {record.id: record for record in history.records}
    for question in list(questions(history))[:3]:
        for name, claim in fold(history.records, question)["claims"].items():
            after = history
            support = [row["id"] for item in claim["candidates"] for row in item["support"]]
            for id_ in support:
                after = act(after, "verify", records[id_], payload={"state": "refuted"})
            outcome = fold(after.records, question)["claims"][name]
            holds(outcome["value"] is None and not outcome["contested"], question)
            holds(not any(candidate["best"] for candidate in outcome["candidates"]), question)
            ids_shown = [row["id"] for item in outcome["candidates"] for row in item["support"]]
            holds(sorted(ids_shown) == sorted(support), question)


def _states(view: View) -> dict[str, str]:
    return {row["id"]: row["verification"]["state"] for row in standing_rows(view)}


def _dissent(view: View) -> dict[str, list[str]]:
    return {
        row["id"]: [verdict["id"] for verdict in row["verification"]["dissent"]]
        for row in standing_rows(view)
    }


def _with(states: dict[str, str], id_: str, state: str) -> dict[str, str]:
    return {**states, id_: state} if id_ in states else states


def _outcome(view: View) -> object:
    return {name: (claim["value"], claim["contested"]) for name, claim in view["claims"].items()}


# -- P16: another implementation -------------------------------------------------------------------


@explain_failures
def check_agreement(fold: Fold, oracle: Fold, history: History) -> None:
    """P16: two implementations say the same at every record time and valid time."""
    for head in history.heads[1:]:
        for question in questions(history):
            at_time = evolve(question, record_time=head.recorded_at)
            check_same(fold(history.records, at_time), oracle(history.records, at_time), at_time)


CHECKS: Final[tuple[Check, ...]] = (
    check_order_independence, check_idempotence, check_incremental, check_monoid,
    check_later_records, check_restriction, check_segments, check_full_retraction,
    check_restoration, check_erasure, check_coverage, check_prefix_size, check_refuted,
    check_best, check_amendment, check_retracted_verdict, check_all_refuted,
)  # fmt: skip
"""P1 to P15, P17 and P18; P16 needs a second implementation: `check_agreement`."""


def laws(fold: Fold) -> type:
    """Create a test class with one test for each law, over random histories.

    None of them has a deadline: how long a history takes depends on the machine.
    """
    return type("Laws", (), {_name(check): _test(check, fold) for check in CHECKS})


def _test(check: Check, fold: Fold) -> Callable[[object, History], None]:
    def test(_: object, history: History) -> None:
        check(fold, history)

    test.__name__ = test.__qualname__ = _name(check)  # Hypothesis keeps what failed under it
    profile = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    return profile(given(histories())(test))


def _name(check: Check) -> str:
    return check.__name__.replace("check_", "test_", 1)
