"""The difference between two statements of one source about a row, by the times of the source."""

from datetime import datetime
from typing import Any

from attrs import frozen

from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.signals.detectors import signal_evidence, signal_of, source_of
from svc_core.intel.signals.model import Signal, SignalEvidence, SignalType


@frozen
class Diff:
    """A change of one source's statement about a row: `old` and `new`, None where it has none.

    `start` and `end` are the times of the documents that state them, by their own stamps; one
    without a stamp has the time when it was read. It `has_earlier` documents where the source had
    brought a whole one before. A statement that `is_late`, as a later one was read before it,
    stands alone: it only tells by when a change that is known had happened.
    """

    old: Contribution | None
    new: Contribution | None
    start: datetime | None
    end: datetime
    has_earlier: bool
    is_late: bool = False

    @property
    def claim(self) -> Contribution:
        """The new statement, else the old one."""
        claim = self.new or self.old
        if claim is None:
            raise AssertionError("a change has two sides, one of which is something")
        return claim

    def pair(self, name: str) -> tuple[Any, Any]:
        """A member's value in the old and in the new statement; None where it is absent."""
        old, new = (claim and claim.said.get(name) for claim in (self.old, self.new))
        return old, new

    def evidence(
        self, reading: float, baseline: float | None, at: datetime | None = None,
        *, threshold: float | None = None,
    ) -> SignalEvidence:  # fmt: skip
        """The evidence of a signal: the time between the two documents, or the source's own date
        of the change, `at`.
        """
        start, end = (self.start, self.end) if at is None else (at, at)
        return signal_evidence(reading, baseline, start, end, threshold=threshold)

    def signal(self, type_: SignalType, key: str, title: str, **members: Any) -> Signal:
        """A signal of this change."""
        return signal_of(type_, key, title, sources=(source_of(self.claim),), **members)
