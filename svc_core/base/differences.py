"""Compares two versions of a row and names the members that a change record reports.

Rule: a row that was only read or written again has not changed. The times of records and
`revision` do not count, nor does the order of `sources` or when each of them was retrieved.
"""

import json
from typing import Any, Final

_BOOKKEEPING: Final = frozenset({"createdAt", "updatedAt", "recordedAt", "retrievedAt", "revision"})
_ABSENT: Final = object()


def changed_fields(before: bytes, after: bytes) -> tuple[str, ...]:
    """The members of a row whose JSON values differ, or that only one of both has, by name.

    `before` and `after` are the bytes of the public row. An empty tuple means no change.
    """
    if before == after:
        return ()
    old, new = _comparable(json.loads(before)), _comparable(json.loads(after))
    names = sorted(old.keys() | new.keys())
    return tuple(n for n in names if not _is_same(old.get(n, _ABSENT), new.get(n, _ABSENT)))


def _comparable(row: dict[str, Any]) -> dict[str, Any]:
    members = {name: value for name, value in row.items() if name not in _BOOKKEEPING}
    if isinstance(row.get("sources"), list):
        members["sources"] = sorted(map(_source, row["sources"]))
    return members


def _source(reference: Any) -> str:
    """A reference to a source as text, by which references are put in one order."""
    if isinstance(reference, dict):
        reference = {name: value for name, value in reference.items() if name != "retrievedAt"}
    return json.dumps(reference, sort_keys=True)


def _is_same(left: Any, right: Any) -> bool:
    """Whether two JSON values are equal: the order of members is free, and true is not 1."""
    if repr(left) == repr(right):  # true of most members, and compared in C
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_is_same(left[n], right[n]) for n in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_is_same, left, right))
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)
