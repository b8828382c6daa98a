"""Questions for folds, and the comparison of answers: the basis of the laws.

A fold under test is a function of records and a `Question` that returns the view as plain JSON,
with the members of `SubjectView`. `core` is the fold of this library in that form.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from attrs import frozen

from svc_core.ledger.fold.bitemporal import fold_records
from svc_core.ledger.fold.segments import breakpoints
from svc_core.ledger.fold.view import encode
from svc_core.ledger.records import SealedRecord
from svc_core.ledger.timestamps import utc_text
from svc_core.testing.ledger_kit.history_strategies import History

View: TypeAlias = Mapping[str, Any]


@frozen
class Question:
    """The arguments of a fold."""

    subject: str
    valid_time: str
    record_time: str | None = None
    size: int | None = None


Fold: TypeAlias = Callable[[Sequence[SealedRecord], Question], View]


def core(records: Iterable[SealedRecord], question: Question) -> View:
    """Fold with this library, with history, and return the view as plain JSON."""
    view: View = json.loads(
        encode(
            fold_records(
                records,
                question.subject,
                valid_time=question.valid_time,
                record_time=question.record_time,
                size=question.size,
                with_history=True,
            )
        )
    )
    return view


# -- questions ---------------------------------------------------------------------------------


def questions(history: History, *subjects: str) -> Iterator[Question]:
    """Yield a question for each subject before the first breakpoint, at each, just before each."""
    for subject in subjects or history.subjects:
        for valid_time in valid_times(history.records):
            yield Question(subject, valid_time)


def valid_times(records: Iterable[SealedRecord]) -> list[str]:
    """Return the first and the last microsecond of every segment."""
    times = ["0001-01-01T00:00:00.000000Z"]
    for at in breakpoints(records):
        times += [_before(at), at]
    return times


def _before(at: str) -> str:
    return utc_text(datetime.fromisoformat(at) - timedelta(microseconds=1))


def view_content(view: View) -> View:
    """Return a view without the members that repeat the question."""
    echoes = {"recordTime", "validTime", "basis"}
    return {name: member for name, member in view.items() if name not in echoes}


def standing_rows(view: View) -> Iterator[Mapping[str, Any]]:
    """Yield every record in force that a view shows, some of them more than once."""
    if view["identity"] is not None:
        yield view["identity"]
    for name in ("otherIdentities", "designators", "observations", "rejected", "unreadable"):
        yield from view[name]
    for claim in view["claims"].values():
        for candidate in claim["candidates"]:
            yield from candidate["support"]


def live_ids(view: View) -> frozenset[str]:
    """Return the ids of the records that a view shows as in force."""
    return frozenset([row["id"] for row in standing_rows(view)])


def check_same(first: View, second: View, *context: object) -> None:
    """Check that two views have the same content.

    Raises:
        AssertionError: they differ.
    """
    if view_content(first) != view_content(second):
        raise AssertionError(
            f"{view_content(first)!r} is not {view_content(second)!r}: {context!r}"
        )


def holds(law: bool, *context: object) -> None:
    """Check that a condition is true.

    Raises:
        AssertionError: it is false.
    """
    if not law:
        raise AssertionError(repr(context))
