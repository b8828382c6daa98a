"""Verification states: what a verdict may follow, and what each is worth.

A statement without a verdict in force is `unverified`; that state is no verdict, so it is reached
by retracting the verdicts and not by giving one.
"""

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
"""The verdicts that may follow each state. A verdict changes the state: none follows itself."""

FOUR_EYES: Final[frozenset[State]] = frozenset({"corroborated", "verified", "refuted"})
"""The verdicts that the author of a statement may not give on it."""

RANK: Final[Mapping[State, int]] = {
    "verified": 3,
    "corroborated": 2,
    "unverified": 1,
    "under_review": 1,
    "disputed": 0,
    "refuted": -1,
}
"""Which of several values is shown: the highest; a refuted one is listed and never the value."""

CREDIBILITY: Final[Mapping[State, int]] = {
    "verified": 1,
    "corroborated": 2,
    "disputed": 4,
    "refuted": 5,
    "unverified": 6,
    "under_review": 6,
}
"""The Admiralty scale of information: 1 confirmed, 5 improbable, 6 cannot be judged."""
