"""Judges whether a database is the one that a process knew, or an older state put in its place.

Rule 1: a database names the place where it lives (`origin`); one that is found at another place is
        a copy, a restored backup or a standby that was promoted, and may lack what was read before.
Rule 2: at the same place it must still have the newest change that a process knows of (`FeedMark`).
        One that lacks it was put back, however much was written to it since.
Rule 3: whatever does not prove that nothing is missing begins a new epoch. That costs consumers a
        resync; to keep an epoch wrongly would cost them changes that nobody tells them of.
"""

# How servers agree. A renewal replaces the epoch that was judged, by compare-and-set, and keeps it
# as the `former` one. Of two servers that judge at once one wins; the other finds an epoch whose
# former one is that of its mark, and knows that its own finding is dealt with. A database that was
# put back from before a renewal has another former epoch, so it is not taken for that.
#
# What is weak: a mark in the feed of a workspace that was erased meanwhile is missing too, and
# renews the epoch without need (rule 3).

from collections.abc import Mapping

from attrs import field, frozen
from attrs.validators import ge, instance_of, lt, matches_re

EPOCH, FORMER, ORIGIN, REASON = "epoch", "former", "origin", "renewed"
"""The names under which a database keeps the facts: of the last one, why its epoch is new."""

ELSEWHERE = "the database is at another place than before: restored, copied or failed over"
PUT_BACK = "the database lacks a change that this server knows of: an older state was put back"
BY_HAND = "renewed by hand"


@frozen
class FeedMark:
    """A change that a process knows to be in a feed: its scope, its position there, what
    proves it (the beginning of its entry), and the epoch (hex) in which it was read."""

    epoch: str = field(validator=matches_re("([0-9a-f]{2})+"))
    scope: str = field(validator=instance_of(str))
    position: int = field(validator=(instance_of(int), ge(0), lt(2**63)))
    proof: str = field(validator=instance_of(str))


def history_break(
    facts: Mapping[str, bytes], origin: str, mark: FeedMark | None, proof: str | None
) -> str:
    """Say why a database needs a new epoch; empty where it is the one that was known.

    `facts` are what it says of itself, `origin` is where it was found, empty where that cannot be
    asked, and `proof` what its feed has at the place of the mark.
    """
    stored = facts.get(ORIGIN, b"").decode()
    if stored and origin and stored != origin:
        return ELSEWHERE
    if mark is None or bytes.fromhex(mark.epoch) == facts.get(FORMER):
        return ""
    is_known = bytes.fromhex(mark.epoch) == facts[EPOCH] and proof == mark.proof
    return "" if is_known else PUT_BACK


def renewed_facts(
    facts: Mapping[str, bytes], origin: str, epoch: bytes, reason: str
) -> dict[str, bytes]:
    """What a database says of itself once a new epoch has begun."""
    origins = {ORIGIN: origin.encode()} if origin else {}
    return {EPOCH: epoch, FORMER: facts[EPOCH], REASON: reason.encode(), **origins}
