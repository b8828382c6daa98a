"""What a source says of a row beside what it said before."""

from datetime import datetime
from typing import Any

from attrs import frozen

from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.model import Source
from svc_core.intel.signals.detectors import found, measured, source_of
from svc_core.intel.signals.model import Signal, SignalType


@frozen
class Diff:
    """What a source says of a row `new`, and what it said before; None where it says nothing."""

    old: Contribution | None
    new: Contribution | None
    source: Source
    at: datetime

    @property
    def has_earlier(self) -> bool:
        """Whether the source had brought a whole document before."""
        return self.source.health.last_success_at is not None

    @property
    def claim(self) -> Contribution:
        """What is said, or was said last."""
        claim = self.new or self.old
        if claim is None:
            raise AssertionError("a change has two sides, one of which is something")
        return claim

    @property
    def stamp(self) -> datetime:
        """When it changed, by the source's own word, else now."""
        return (self.new and self.new.stamp) or self.at

    def pair(self, name: str) -> tuple[Any, Any]:
        """A member as it was and as it is."""
        old, new = (claim and claim.said.get(name) for claim in (self.old, self.new))
        return old, new

    def evidence(self, reading: float, baseline: float, threshold: float | None = None) -> Any:
        """What was measured, over the time between the two documents."""
        before = self.source.stamp or self.source.health.last_success_at
        start = before and min(before, self.stamp)
        return measured(reading, baseline, start, self.stamp, threshold=threshold)

    def signal(self, type_: SignalType, key: str, title: str, **members: Any) -> Signal:
        """The signal of what changed, by default when that changed."""
        at = members.pop("at", None) or self.stamp
        return found(type_, key, title, at, sources=(source_of(self.claim),), **members)
