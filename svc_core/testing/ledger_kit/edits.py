"""Hypothesis strategies of damage to a ledger's lines, each with the line that must be reported.

Only edits that cannot be lawful are generated: a changed byte, and misplaced or missing lines.
"""

from typing import Any

from attrs import frozen
from hypothesis import strategies as st

from svc_core.testing.ledger_kit.history_strategies import History

Lines = tuple[bytes, ...]


@frozen(repr=False)
class Edit:
    """Damaged lines, and the number of the first bad one, counted from 1.

    None stands for an edit that only an anchor outside the lines can show.
    """

    what: str
    lines: Lines
    line: int | None

    def __repr__(self) -> str:
        """What was done, without the lines."""
        return f"<Edit {self.what}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: ARG002 - the protocol has it
        # As `History` does: its lines are too long to be shown.
        printer.text(repr(self))


@st.composite
def byte_edits(draw: st.DrawFn, history: History) -> Edit:
    """One byte of one line changed; the line stays one line."""
    index = draw(st.integers(0, len(history.lines) - 1))
    line = history.lines[index]
    place = draw(st.integers(0, len(line) - 1))
    byte = draw(st.integers(0, 255).filter(lambda candidate: candidate not in (line[place], 0x0A)))
    new_line = line[:place] + bytes([byte]) + line[place + 1 :]
    lines = (*history.lines[:index], new_line, *history.lines[index + 1 :])
    return Edit(f"byte {place} of line {index + 1} became {byte}", lines, index + 1)


@st.composite
def line_edits(draw: st.DrawFn, history: History) -> Edit:
    """Lines swapped, deleted, repeated, or the last ones cut off."""
    lines = history.lines
    op = draw(st.sampled_from(("swap", "delete", "repeat", "cut")))
    index = draw(st.integers(0, len(lines) - 2))
    if op == "swap":
        target = draw(st.integers(index + 1, len(lines) - 1))
        order = list(lines)
        order[index], order[target] = lines[target], lines[index]
        return Edit(f"{op} {index + 1} and {target + 1}", tuple(order), index + 1)
    if op == "delete":
        return Edit(f"{op} {index + 1}", (*lines[:index], *lines[index + 1 :]), index + 1)
    if op == "repeat":
        again = (*lines[: index + 1], lines[index], *lines[index + 1 :])
        return Edit(f"{op} {index + 1}", again, index + 2)
    return Edit(f"{op} after {index + 1}", lines[: index + 1], None)
