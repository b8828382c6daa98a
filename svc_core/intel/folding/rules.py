"""The fold: makes the members of a row from what its sources say, in whatever order it was read.

Rule 1: each member is that of the first contribution that has it. Contributions are ordered by the
        kind's precedence of formats; within a format a stamped one precedes an unstamped one, the
        later precedes the earlier, and of equally late ones the lower id. Null says nothing.
Rule 2: lists that several sources add to are united, each item once; the kind names the members by
        which items are told apart.
Rule 3: `sources` lists the contributions themselves, in the order of their ids.
Rule 4: a withdrawn contribution says nothing. Nor does one under an old key, once the same source
        has later stated another key together with the old one. What a delta changed counts as
        changed, in whichever source it was said (`deltas`).
"""

# Why a row is folded, and not updated
#
# Forty formats tell of the same vulnerabilities, companies and events. Their documents come twice,
# late, in parts and in any order; a catalogue withdraws an entry, a person withdraws a source. Four
# ways were weighed.
#
#   1. Each connector updates the row in place. The last writer wins, and what a source said is lost
#      in the row, so that nothing can be taken back.
#   2. One statement for each value, as FollowTheMoney's stores keep them. The provenance of every
#      value is exact, but a CVE has two hundred, and a day brings 300,000 scores.
#   3. A log of readings, folded like a ledger. A feed that is read every quarter of an hour would
#      write for ever, and only what each source says now matters.
#   4. The newest reading of each source by row and key, and the row as a pure function of these.
#
# This is 4. The states of a contribution are few, and every move replaces the whole of it:
#
#       (none) --record----------------------> says
#       (none) --stamped withdrawal----------> gone     (an older document cannot bring it back)
#       says   --newer or unstamped record---> says
#       says   --record with an older stamp--> says     (only `since` and `earlier` may move)
#       says   --record that withdraws it----> gone
#       says   --absence from a snapshot-----> (none)   (of sanctions: gone, with ended listings)
#       gone   --newer or unstamped record---> says
#       any    --the source is withdrawn-----> (none)
#
# Three laws follow because `fold_contributions` reads nothing but its arguments and sorts them by
# what they hold, never by arrival:
#
#   - idempotence: reading a document again changes no contribution, hence no row;
#   - independence of order: any two orders of the same readings leave the same contributions, as a
#     stamp decides which reading is the newest, and the same contributions leave the same row;
#   - partial withdrawal: without one source's contributions the row is what the others say, as if
#     the source had never been read.
#
# Where sources give no stamps, the newest reading is the one that was read last, so for those the
# second law holds only between sources, not between two versions of one document read out of order.
#
# `_by_precedence` sorts twice: by id, then by strength in reverse. Python's sort is stable, also
# with `reverse=True`, so equal strengths stay in the order of their ids.
#
# The price: what one source says is stored twice, in its contribution and in the row, and a changed
# rule reaches a row only when it is folded again.

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import field, frozen

from svc_core.base.instants import render as render_instant
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.deltas import with_changes


@frozen
class Rules:
    """How the contributions to one kind of row are folded.

    `precedence` lists formats, the strongest first, equally strong ones in one string with spaces;
    `prefer` has the order of single members that differ. `item_keys` are the list members to unite,
    each with the members that identify an item (none: the whole item). With `is_single` only the
    strongest contribution makes the row. Contributions of `silent_formats` alone make no row.
    """

    precedence: tuple[str, ...] = ()
    prefer: Mapping[str, tuple[str, ...]] = field(factory=dict)
    item_keys: Mapping[str, tuple[str, ...]] = field(factory=dict)
    is_single: bool = False
    silent_formats: frozenset[str] = frozenset()

    def rank(self, format_: str) -> int:
        """The rank of a format: 0 for the strongest."""
        places = enumerate(self.precedence)
        return next((i for i, group in places if format_ in group.split()), len(self.precedence))


def fold_contributions(rules: Rules, claims: Sequence[Contribution]) -> dict[str, Any] | None:
    """The members of the row that contributions make; None where they make none."""
    claims = live_contributions(claims)
    if all(claim.format in rules.silent_formats for claim in claims):
        return None
    order = _by_precedence(claims, rules.precedence)
    members = dict(_members(order[:1] if rules.is_single else order))
    for name, formats in rules.prefer.items():
        members |= {k: v for k, v in _members(_by_precedence(claims, formats)).items() if k == name}
    for name, keys in rules.item_keys.items():
        lists = [claim.said[name] for claim in order if claim.said.get(name) is not None]
        if lists:
            members[name] = list_union(lists, keys)
    refs = sorted(claims, key=lambda claim: claim.id)
    return members | {"sources": [_source(claim) for claim in refs]}


def _source(claim: Contribution) -> dict[str, Any]:
    return {**claim.ref, "retrievedAt": render_instant(claim.read_at)}


def live_contributions(contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions that say something (Rule 4)."""
    if len(contributions) == 1:
        return [] if contributions[0].gone else list(contributions)
    contributions = with_changes(contributions)
    alias_times = _alias_times(contributions)
    return [
        claim
        for claim in contributions
        if not (claim.gone or _is_earlier(claim, alias_times.get((claim.source, *claim.names[:1]))))
    ]


def _alias_times(contributions: Sequence[Contribution]) -> dict[tuple[str, ...], datetime]:
    """When each source last named a key as another key's alias, by source and name."""
    times: dict[tuple[str, ...], datetime] = {}
    for claim in contributions:
        for name in claim.names[1:]:
            key = (claim.source, name)
            times[key] = max(claim.stated_at, times.get(key, claim.stated_at))
    return times


def _is_earlier(claim: Contribution, alias_time: datetime | None) -> bool:
    return alias_time is not None and claim.stated_at < alias_time


def strongest_contribution(rules: Rules, contributions: Sequence[Contribution]) -> Contribution:
    """The contribution whose members count before those of all others."""
    return by_strength(rules, contributions)[0]


def by_strength(rules: Rules, contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions that say something, the strongest first."""
    return _by_precedence(live_contributions(contributions), rules.precedence)


def _by_precedence(claims: Sequence[Contribution], formats: Sequence[str]) -> list[Contribution]:
    """Sorts contributions, the strongest first (Rule 1)."""
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
    """The items of all lists, each once: of those with equal `keys` the first."""
    by_key: dict[Any, Any] = {}
    for entries in lists:
        for entry in entries:
            key = tuple(str(entry.get(part)) for part in keys) if keys else str(entry)
            by_key.setdefault(key, entry)
    return list(by_key.values())
