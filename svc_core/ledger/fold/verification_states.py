"""Verification states of statements: the allowed transitions, and the rank of each state."""

# How a statement gets its state.
#
# A statement (an assertion, amendment or supersession) carries no state of its own. Its state is
# that of the newest verdict on it that is in force, or `unverified` without one:
#
#   unverified     nobody has judged it, or every verdict was withdrawn
#   under_review   somebody is at it; that alone says nothing, so it ranks like unverified
#   corroborated   evidence by another author or from another source says the same
#   verified       somebody checked it by a stated method
#   disputed       there are reasons to doubt it
#   refuted        it was shown to be wrong; it stays listed and is never the value of a claim
#
# Moves are of two kinds, and only these:
#
#   1. a new verdict, by the table below. `unverified` is no verdict: nobody can declare that
#      nothing is known. No verdict may repeat the present state, so that each record of a verdict
#      is a change. What was refuted must be reopened (`under_review` or `disputed`) before it can
#      count again, so that a refutation is never overruled by a single record. What was verified
#      cannot fall to `corroborated` directly, which would read as a weaker confirmation of the
#      same: dispute it or review it first.
#   2. the retraction of a verdict, which takes the statement back to the verdict before it, or to
#      `unverified`. Retracting that retraction restores the verdict and is judged as giving it.
#
# Four eyes: the author of a statement may put it under review or dispute it, but only somebody else
# may corroborate, verify or refute it. Authors are principals, not keys: two keys of one person are
# one pair of eyes.
#
# Why the state is computed and not stored: a fold at an earlier record time must show the state as
# it was then, and a withdrawn verdict must leave no trace in later states. Both follow when the
# state is a function of the records up to that time.
#
# Weak spots: an author may retract somebody else's verdict on their own statement (both records
# stay visible); an erased verdict counts as `unverified` and does not revive the one before it;
# and the table binds appends only. A fold takes any set of records, so an imported ledger may hold
# moves that the table forbids.

from collections.abc import Mapping
from typing import Final, Literal

Verdict = Literal["under_review", "corroborated", "verified", "disputed", "refuted"]
State = Literal["unverified", "under_review", "corroborated", "verified", "disputed", "refuted"]

UNVERIFIED: Final = "unverified"

TRANSITIONS: Final[Mapping[State, tuple[Verdict, ...]]] = {
    "unverified": ("under_review", "corroborated", "verified", "disputed", "refuted"),
    "under_review": ("corroborated", "verified", "disputed", "refuted"),
    "corroborated": ("under_review", "verified", "disputed", "refuted"),
    "verified": ("under_review", "disputed", "refuted"),
    "disputed": ("under_review", "corroborated", "verified", "refuted"),
    "refuted": ("under_review", "disputed"),
}
"""The verdicts that may follow each state; none may follow itself."""

FOUR_EYES: Final[frozenset[State]] = frozenset({"corroborated", "verified", "refuted"})
"""The verdicts that must come from somebody other than the author of the statement."""

RANK: Final[Mapping[State, int]] = {
    "verified": 3,
    "corroborated": 2,
    "unverified": 1,
    "under_review": 1,
    "disputed": 0,
    "refuted": -1,
}
"""The rank of a claimed value: the highest is shown; a refuted value is listed, never shown."""

CREDIBILITY: Final[Mapping[State, int]] = {
    "verified": 1,
    "corroborated": 2,
    "disputed": 4,
    "refuted": 5,
    "unverified": 6,
    "under_review": 6,
}
"""The Admiralty scale of information: 1 confirmed, 5 improbable, 6 cannot be judged."""
