"""The difference between what one source states of a row now and what it stated before."""

from datetime import datetime
from typing import Any

from attrs import frozen

from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.model import Source
from svc_core.intel.signals.detectors import signal_evidence, signal_of, source_of
from svc_core.intel.signals.model import Signal, SignalType


@frozen
class Diff:
    """A change of one source's statement about a row: `old` and `new`, None where it has none.

    `at` is the time of the unit of work in which the change is seen.
    """

    old: Contribution | None
    new: Contribution | None
    source: Source
    at: datetime

    @property
    def has_earlier(self) -> bool:
        """Whether the source had delivered a complete document before this change."""
        return self.source.health.last_success_at is not None

    @property
    def claim(self) -> Contribution:
        """The new statement, else the old one."""
        claim = self.new or self.old
        if claim is None:
            raise AssertionError("a change has two sides, one of which is something")
        return claim

    @property
    def stamp(self) -> datetime:
        """When the change happened: the source's own timestamp, else now."""
        return (self.new and self.new.stamp) or self.at

    def pair(self, name: str) -> tuple[Any, Any]:
        """A member's value in the old and in the new statement; None where it is absent."""
        old, new = (claim and claim.said.get(name) for claim in (self.old, self.new))
        return old, new

    def evidence(self, reading: float, baseline: float, threshold: float | None = None) -> Any:
        """The evidence of a signal, with the time between the two documents as its window."""
        before = self.source.stamp or self.source.health.last_success_at
        start = before and min(before, self.stamp)
        return signal_evidence(reading, baseline, start, self.stamp, threshold=threshold)

    def signal(self, type_: SignalType, key: str, title: str, **members: Any) -> Signal:
        """A signal of this change, detected when it happened unless `at` says otherwise."""
        at = members.pop("at", None) or self.stamp
        return signal_of(type_, key, title, at, sources=(source_of(self.claim),), **members)
