"""Applies what deltas say to what earlier documents of the same provider said of the same record.

Rule 1: a delta's statement under the id of a record replaces every earlier one of its provider, in
        whichever source: a collection and its deltas are different addresses.
Rule 2: a deleted record says nothing. One that was changed keeps from before only what a delta has
        on lines of their own, and none of the names that it has no more: so a thing comes apart.
"""

from collections.abc import Sequence
from functools import cache
from operator import attrgetter

import attrs

from svc_core.formats.table import FORMATS
from svc_core.intel.folding.contributions import Contribution

_OF_OTHER_LINES = ("sanctions", "identifiers", "addresses")


@cache
def _deltas() -> frozenset[str]:
    return frozenset(format_.id for format_ in FORMATS.values() if format_.kind == "delta")


def _record(claim: Contribution) -> tuple[str, str]:
    return claim.ref["provider"], claim.ref["recordId"]


def with_changes(claims: Sequence[Contribution]) -> Sequence[Contribution]:
    """Contributions as the deltas among them leave them."""
    changes: dict[tuple[str, str], Contribution] = {}
    for claim in claims:
        if claim.format in _deltas() and claim.ref.get("recordId") is not None:
            last = changes.get(_record(claim), claim)
            changes[_record(claim)] = max(last, claim, key=attrgetter("stated_at", "id"))
    if not changes:
        return claims
    return [
        claim if claim.pair else _changed(claim, changes.get(_record(claim))) for claim in claims
    ]


def _changed(claim: Contribution, change: Contribution | None) -> Contribution:
    if change is None or claim.stated_at >= change.stated_at:
        return claim
    names = tuple(name for name in claim.names if name in change.names) or claim.names[:1]
    said = {name: claim.said[name] for name in _OF_OTHER_LINES if name in claim.said}
    is_gone = claim.gone or change.gone
    return attrs.evolve(claim, names=names, said={} if is_gone else said, gone=is_gone)
