"""Which numbers of records a damaged log has shown already, and under which seals.

8 bytes of a seal are kept for a line: enough to tell a line that stands twice from two records with
one number. Lines that follow each other share a run, so that nothing depends on how large a number
claims to be.
"""

from typing import Final

_KEPT: Final = 8
_RUNS_MAX: Final = 128
"""Runs kept, since each may be searched for a line; more of them are forgotten."""


class Seen:
    """Sealed lines by their number."""

    def __init__(self) -> None:
        self._runs: list[tuple[int, bytearray]] = []

    def add(self, seq: int, seal: str) -> None:
        """Remember that this number stood in the log."""
        runs = self._runs
        if not runs or runs[-1][0] + len(runs[-1][1]) // _KEPT != seq:
            if len(runs) == _RUNS_MAX:
                return
            runs.append((seq, bytearray()))
        runs[-1][1].extend(bytes.fromhex(seal)[:_KEPT])

    def __contains__(self, seq: int) -> bool:
        return self._of(seq) is not None

    def has(self, seq: int, seal: str) -> bool:
        """Whether this number was seen under this seal."""
        return self._of(seq) == bytes.fromhex(seal)[:_KEPT]

    def _of(self, seq: int) -> bytes | None:
        for start, seals in self._runs:
            at = (seq - start) * _KEPT
            if 0 <= at < len(seals):
                return bytes(seals[at : at + _KEPT])
        return None
