"""Notices that the clock of a machine was set, by comparing it with one that nobody sets.

Rule 1: both clocks are handed in, in seconds; only their differences have a meaning.
Rule 2: what a clock gains or loses slowly, as NTP slews it, is no jump: each look compares with the
        one before.
"""

from typing import Final

from attrs import define

JUMP_SECONDS: Final = 2.0
"""The least that is a jump: far more than a second is slewed by, and than a look takes."""


@define
class ClockJumps:
    """What the looks at a clock have found: `jumped` is the sum of all jumps in seconds, negative
    where the clock was set back, and `at` the time that it showed after the last one."""

    _offset: float | None = None
    jumped: float = 0.0
    at: float = 0.0

    def look(self, wall: float, steady: float) -> float:
        """Compare the clocks; the seconds by which the one was set since the last look, or 0."""
        before, self._offset = self._offset, wall - steady
        jump = 0.0 if before is None else self._offset - before
        if abs(jump) < JUMP_SECONDS:
            return 0.0
        self.jumped += jump
        self.at = wall
        return jump
