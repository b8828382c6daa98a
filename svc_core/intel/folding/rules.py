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
    with what tells their entries apart (nothing: the entry itself). A row that is `whole` is told
    by one contribution alone. Formats that are `silent` make no row of their own.
    """

    precedence: tuple[str, ...] = ()
    prefer: Mapping[str, tuple[str, ...]] = field(factory=dict)
    joined: Mapping[str, tuple[str, ...]] = field(factory=dict)
    whole: bool = False
    silent: frozenset[str] = frozenset()

    def place(self, format_: str) -> int:
        """How far behind the strongest a format is."""
        places = enumerate(self.precedence)
        return next((at for at, some in places if format_ in some.split()), len(self.precedence))


def fold(rules: Rules, contributions: Sequence[Contribution]) -> dict[str, Any] | None:
    """The members that the contributions give a row together; None where they make none."""
    contributions = standing(contributions)
    if all(one.format in rules.silent for one in contributions):
        return None
    order = _ranked(contributions, rules.precedence)
    members = dict(_first(order[:1] if rules.whole else order))
    for name, formats in rules.prefer.items():
        members |= {k: v for k, v in _first(_ranked(contributions, formats)).items() if k == name}
    for name, apart in rules.joined.items():
        lists = [one.said[name] for one in order if one.said.get(name) is not None]
        if lists:
            members[name] = united(lists, apart)
    refs = sorted(contributions, key=lambda one: one.id)
    return members | {"sources": [_source(one) for one in refs]}


def _source(one: Contribution) -> dict[str, Any]:
    return {**one.ref, "retrievedAt": at(one.read_at)}


def standing(contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions that say something."""
    if len(contributions) == 1:
        return [] if contributions[0].gone else list(contributions)
    taken_up = _taken_up(contributions)
    return [
        one
        for one in contributions
        if not (one.gone or _is_earlier(one, taken_up.get((one.source, *one.names[:1]))))
    ]


def _taken_up(contributions: Sequence[Contribution]) -> dict[tuple[str, ...], datetime]:
    """When each source last named a key beside another, by the source and the key."""
    found: dict[tuple[str, ...], datetime] = {}
    for one in contributions:
        for name in one.names[1:]:
            place = (one.source, name)
            found[place] = max(one.told_at, found.get(place, one.told_at))
    return found


def _is_earlier(one: Contribution, taken_up_at: datetime | None) -> bool:
    return taken_up_at is not None and one.told_at < taken_up_at


def strongest(rules: Rules, contributions: Sequence[Contribution]) -> Contribution:
    """The contribution that others give way to."""
    return ranked(rules, contributions)[0]


def ranked(rules: Rules, contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions that say something, the strongest first."""
    return _ranked(standing(contributions), rules.precedence)


def _ranked(contributions: Sequence[Contribution], formats: Sequence[str]) -> list[Contribution]:
    """The strongest first."""
    if len(contributions) == 1:
        return list(contributions)
    place = {name: at for at, some in enumerate(reversed(formats), 1) for name in some.split()}

    def strength(one: Contribution) -> tuple[int, bool, datetime]:
        return (place.get(one.format, 0), one.stamp is not None, one.told_at)

    by_id = sorted(contributions, key=lambda one: one.id)
    return sorted(by_id, key=strength, reverse=True)


def _first(ranked: Iterable[Contribution]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for one in ranked:
        for name, value in one.said.items():
            if members.get(name) is None:
                members[name] = value
    return members


def united(lists: Iterable[Sequence[Any]], apart: Sequence[str]) -> list[Any]:
    """The entries of all lists, of those that `apart` does not tell apart the first."""
    found: dict[Any, Any] = {}
    for entries in lists:
        for entry in entries:
            name = tuple(str(entry.get(part)) for part in apart) if apart else str(entry)
            found.setdefault(name, entry)
    return list(found.values())
