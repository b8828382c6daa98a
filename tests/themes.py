"""Rows of a matrix: what a theme promises of one subject is tried together, and all faults told.

A promise is a function whose arguments are fixtures, the subject, and a case of its own. A theme
makes one test of them for every subject, in place of one for every promise, subject and case.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import partial, wraps
from typing import Any

import pytest
from attrs import frozen


@frozen
class _Promise:
    keep: Callable[..., None]
    applies: Callable[[Any], Any]
    cases: tuple[dict[str, Any], ...]


def each(cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Makes one test of a promise about many small cases, each a value or a tuple of several.

    A row of its own takes longer than such a case. All are tried, and all faults are told.
    """
    cases = tuple(cases)
    assert cases, "a test of no case cannot fail"

    def make(keep: Callable[..., None]) -> Callable[[], None]:
        @wraps(keep)
        def test() -> None:
            attempts = ((f"{case!r:.200}", partial(keep, *_parts(case))) for case in cases)
            _try_all(keep.__name__, attempts)

        test.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return test

    return make


def _parts(case: Any) -> tuple[Any, ...]:
    return case if type(case) is tuple else (case,)


def _try_all(name: str, attempts: Iterable[tuple[str, Callable[[], None]]]) -> None:
    """Try all of them.

    Raises:
        BaseExceptionGroup: of everything that did not hold, each with its name.
    """
    faults = []
    for words, attempt in attempts:
        try:
            attempt()
        except (Exception, pytest.fail.Exception) as fault:
            fault.add_note(words)
            faults.append(fault)
    if faults:
        notes = "; ".join(fault.__notes__[-1] for fault in faults)
        raise BaseExceptionGroup(f"{name}: {notes}", faults)


class Theme:
    """Promises about subjects, such as the operations of a catalogue, by one fixture name."""

    def __init__(self, subjects: Iterable[Any], name: str = "operation") -> None:
        self._subjects, self._name = tuple(subjects), name
        self._promises: list[_Promise] = []

    def of(self, applies: Callable[[Any], Any] = lambda _: True, **cases: Iterable[Any]) -> Any:
        """Adds a promise about wanted subjects; `cases` names an argument and its values."""
        ((name, values),) = cases.items() or [("", ())]
        cases_of_name = tuple({name: value} for value in values) or ({},)

        def add(keep: Callable[..., None]) -> Callable[..., None]:
            self._promises.append(_Promise(keep, applies, cases_of_name))
            return keep

        return add

    def rows(self, test: Callable[..., None]) -> Any:
        """Parametrises a test over the subjects of which something is promised, in this theme."""
        subjects = [
            subject for subject in self._subjects if any(p.applies(subject) for p in self._promises)
        ]
        return pytest.mark.parametrize(
            self._name, subjects, ids=[subject.id for subject in subjects]
        )(test)

    def keep(self, request: pytest.FixtureRequest) -> None:
        """Try every promise about the subject of this row.

        Raises:
            BaseExceptionGroup: of everything that did not hold, each with its promise and case.
        """
        subject = request.getfixturevalue(self._name)
        _try_all(subject.id, self._attempts(subject, request.getfixturevalue))

    def _attempts(
        self, subject: Any, fixture: Callable[[str], Any]
    ) -> Iterator[tuple[str, Callable[[], None]]]:
        for promise in self._promises:
            if promise.applies(subject):
                names = inspect.signature(promise.keep).parameters
                for case in promise.cases:
                    fixtures = {name: fixture(name) for name in names if name not in case}
                    text = "".join(f" {value!r:.60}" for value in case.values())
                    yield promise.keep.__name__ + text, partial(promise.keep, **fixtures, **case)
