"""The rows of a picture: which statements are drawn, in which order, and what is written beside.

Rule 1: rows are grouped by kind, claims by predicate; within a group the oldest comes first.
Rule 2: what is left out is counted.
"""

from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from svc_core.ledger.fold.recordset import readable
from svc_core.ledger.fold.segments import NEVER
from svc_core.ledger.picture.beliefs import Belief, Beliefs, spans
from svc_core.ledger.picture.ink import WORDS
from svc_core.ledger.predicates import is_single
from svc_core.ledger.records import Record

SHAPES_MAX: Final = 2_200
"""Rectangles and lines of one picture; at some 700 bytes each it stays below two megabytes."""
_SHARES: Final = {"subject": 8, "designator": 24, "observation": 18, "claim": 40}
"""Rows of each kind in one picture, the newest; all together about seven screens."""
TITLES: Final = {
    "subject": "Identity",
    "designator": "Designators",
    "observation": "Observations",
    "claim": "Claims",
}


@frozen
class Row:
    """One statement: what it says, in which words, and the belief in it."""

    belief: Belief
    words: str
    detail: str


@frozen
class Group:
    """Rows under one heading; `omitted` of them are left out. `kind` is set for a new section."""

    kind: str
    title: str
    note: str
    rows: tuple[Row, ...]
    omitted: int


def groups(found: Beliefs) -> list[Group]:
    """All rows of a picture in their groups; groups without rows are left out."""
    room = SHAPES_MAX
    made = []
    for kind, share in _SHARES.items():
        own = [each for each in found.shown if each.record.kind == kind]
        kept, room = _kept(own[-share:], room)
        made += _groups(kind, own, kept)
    return made


def _kept(newest: Sequence[Belief], room: int) -> tuple[list[Belief], int]:
    """The newest of them that there is room for, oldest first, and the room that is left."""
    kept = []
    for each in reversed(newest):
        needed = shapes_of(each)
        if needed <= room:
            kept.append(each)
            room -= needed
    return kept[::-1], room


def shapes_of(belief: Belief) -> int:
    """How many shapes a belief is drawn with."""
    return sum(
        len(spans(cell.periods)) + len(spans(cell.contested)) + len(spans(cell.ended))
        for cell in belief.cells
    )


def _groups(kind: str, own: Sequence[Belief], kept: Sequence[Belief]) -> list[Group]:
    names = list(dict.fromkeys(each.predicate or "" for each in own))
    made = []
    for name in sorted(names):
        rows = tuple(_row(each) for each in kept if (each.predicate or "") == name)
        omitted = sum((each.predicate or "") == name for each in own) - len(rows)
        title = name or ("Not readable" if kind == "claim" else "")
        note = "one value at a time" if name and is_single(name) else ""
        made.append(Group(kind, title, note, rows, omitted))
    return made


# -- words -------------------------------------------------------------------------------------


def _row(belief: Belief) -> Row:
    record = belief.record
    confidence = (record.payload or {}).get("confidence")
    sure = f" · {confidence} %" if isinstance(confidence, int) else ""
    return Row(belief, words_of(record), f"{record.author}{sure}")


def words_of(record: Record) -> str:
    """What a statement says, on one line."""
    if record.payload is None:
        return "(erased)"
    say = record.payload.get
    match record.kind:
        case "subject":
            return f"{_text(say('label'))} ({_text(say('type'))})"
        case "designator":
            return f"{_text(say('scheme'))} {_text(say('value'))}"
        case "observation":
            return _text(say("text"))
        case _:
            value = say("value")
            return value if isinstance(value, str) else _parts(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "?"


def _parts(value: Any) -> str:
    """A value that is no text, in the fewest words."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_parts(item)}" for name, item in sorted(value.items()))
    if isinstance(value, list):
        return ", ".join(map(_parts, value))
    if isinstance(value, str):
        return value
    # As it stands in the line: `null` and `true`, not what Python calls them.
    written = readable(value)
    return "?" if written is None else written.decode()


def act_of(act: Record, belief: Belief) -> str:
    """What a record did to a statement, in a few words."""
    if act.id == belief.record.id:
        return _OWN.get(act.op, "recorded")
    if act.target != belief.record.id:
        aim = next((each for each in belief.acts if each.id == act.target), act)
        return f"{_NOUNS.get(aim.op, 'act')} {_DONE.get(act.op, act.op)}"
    if act.op == "verify":
        state = (act.payload or {}).get("state")
        return state_words(state) if isinstance(state, str) else "verdict, since erased"
    return _DONE.get(act.op, act.op)


_OWN: Final = {"amend": "recorded as amendment", "supersede": "recorded as replacement"}
_NOUNS: Final = {
    "verify": "verdict",
    "amend": "amendment",
    "supersede": "replacement",
    "retract": "retraction",
    "erase": "erasure",
}
_DONE: Final = {
    "amend": "amended",
    "supersede": "replaced",
    "retract": "retracted",
    "erase": "erased",
    "verify": "judged",
}


def state_words(state: str) -> str:
    """A verification state as it is written."""
    return WORDS.get(state, state)


def period(start: str | None, end: str | None) -> str:
    """For when something holds; None is an open side."""
    if start is None:
        return "always" if end is None else f"until {end}"
    return f"since {start}" if end is None else f"from {start} to {end}"


def is_held(belief: Belief) -> bool:
    """Whether the statement is still held for some valid time."""
    return (
        bool(belief.cells) and belief.cells[-1].until is None and belief.cells[-1].periods != NEVER
    )
