"""A row as the fold of its contributions: pure, and the same in whatever order they came.

Rule 1: of contributions that say a member, the one of the stated precedence of formats says it,
        within a format the one with the later stamp, without one the one that was read later, of
        equally late ones the one with the lower id. Null says nothing.
Rule 2: lists that several sources add to are joined, each entry once, as told apart by the members
        that the kind names.
Rule 3: `sources` are the contributions themselves, in the order of their ids.
Rule 4: what a source withdrew says nothing, nor does what it said under a key before it said
        something under another key and named the first one with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import field, frozen

from svc_core.base.instants import render as at
from svc_core.intel.folding.contributions import Contribution


@frozen
class Rules:
    """How contributions to one kind of row are folded.

    `precedence` are formats, the strongest first, equally strong ones in one text with spaces;
    `prefer` are those of single members that have an order of their own. `joined` are list members
    with what tells their entries apart (nothing: the entry itself). A row that is `is_single` is told
    by one contribution alone. Formats that are `silent_formats` make no row of their own.
    """

    precedence: tuple[str, ...] = ()
    prefer: Mapping[str, tuple[str, ...]] = field(factory=dict)
    joined: Mapping[str, tuple[str, ...]] = field(factory=dict)
    is_single: bool = False
    silent_formats: frozenset[str] = frozenset()

    def rank(self, format_: str) -> int:
        """How far behind the strongest a format is."""
        places = enumerate(self.precedence)
        return next((i for i, group in places if format_ in group.split()), len(self.precedence))


def fold_contributions(rules: Rules, claims: Sequence[Contribution]) -> dict[str, Any] | None:
    """The members that the contributions give a row together; None where they make none."""
    claims = live_contributions(claims)
    if all(claim.format in rules.silent_formats for claim in claims):
        return None
    order = _by_precedence(claims, rules.precedence)
    members = dict(_members(order[:1] if rules.is_single else order))
    for name, formats in rules.prefer.items():
        members |= {k: v for k, v in _members(_by_precedence(claims, formats)).items() if k == name}
    for name, keys in rules.joined.items():
        lists = [claim.said[name] for claim in order if claim.said.get(name) is not None]
        if lists:
            members[name] = list_union(lists, keys)
    refs = sorted(claims, key=lambda claim: claim.id)
    return members | {"sources": [_source(claim) for claim in refs]}


def _source(claim: Contribution) -> dict[str, Any]:
    return {**claim.ref, "retrievedAt": at(claim.read_at)}


def live_contributions(contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions that say something."""
    if len(contributions) == 1:
        return [] if contributions[0].gone else list(contributions)
    alias_times = _alias_times(contributions)
    return [
        claim
        for claim in contributions
        if not (claim.gone or _is_earlier(claim, alias_times.get((claim.source, *claim.names[:1]))))
    ]


def _alias_times(contributions: Sequence[Contribution]) -> dict[tuple[str, ...], datetime]:
    """When each source last named a key beside another, by the source and the key."""
    times: dict[tuple[str, ...], datetime] = {}
    for claim in contributions:
        for name in claim.names[1:]:
            key = (claim.source, name)
            times[key] = max(claim.stated_at, times.get(key, claim.stated_at))
    return times


def _is_earlier(claim: Contribution, alias_time: datetime | None) -> bool:
    return alias_time is not None and claim.stated_at < alias_time


def strongest_contribution(rules: Rules, contributions: Sequence[Contribution]) -> Contribution:
    """The contribution that others give way to."""
    return by_strength(rules, contributions)[0]


def by_strength(rules: Rules, contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions that say something, the strongest first."""
    return _by_precedence(live_contributions(contributions), rules.precedence)


def _by_precedence(claims: Sequence[Contribution], formats: Sequence[str]) -> list[Contribution]:
    """The strongest first."""
    if len(claims) == 1:
        return list(claims)
    ranks = {name: i for i, group in enumerate(reversed(formats), 1) for name in group.split()}

    def strength(claim: Contribution) -> tuple[int, bool, datetime]:
        return (ranks.get(claim.format, 0), claim.stamp is not None, claim.stated_at)

    by_id = sorted(claims, key=lambda claim: claim.id)
    return sorted(by_id, key=strength, reverse=True)


def _members(claims: Iterable[Contribution]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for claim in claims:
        for name, value in claim.said.items():
            if members.get(name) is None:
                members[name] = value
    return members


def list_union(lists: Iterable[Sequence[Any]], keys: Sequence[str]) -> list[Any]:
    """The entries of all lists, of those that `keys` does not tell apart the first."""
    by_key: dict[Any, Any] = {}
    for entries in lists:
        for entry in entries:
            key = tuple(str(entry.get(part)) for part in keys) if keys else str(entry)
            by_key.setdefault(key, entry)
    return list(by_key.values())
