"""Candidates: who may be meant, with a score and its reasons. Nothing here makes two things one.

The score is that of the strongest feature, moved by qualifiers, in the spirit of the logic of
OpenSanctions' nomenklatura: a designator, else a name, else a weak alias; then facts that differ.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from svc_core.intel.linking.similarity import compared, likeness

SCORE_MIN = 0.75
"""Of a candidate: chosen on one half of the names in `benchmarks/links.json`."""

_WEAK = 0.8  # of what a weak alias says
_STRONG = frozenset(
    ["lei", "cik", "isin", "wikidata", "ofac-uid", "un-ref", "attack", "misp-galaxy", "stix", "ftm"]
)
_IDENTIFIER = 0.85  # of what any other number says
_COUNTRY, _BIRTH_YEAR, _BIRTH_DAY, _GENDER = -0.2, -0.15, -0.25, -0.2
_BIRTH, _ADDRESS = 0.05, 0.1
_KINDS = {"company": "body", "organization": "body", "government": "body"}


@frozen
class Names:
    """Names as they stand, and each in the words by which it is compared."""

    written: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, written: Iterable[str]) -> "Names":
        """Names without those that have no words."""
        told = [(name, compared(name)) for name in dict.fromkeys(written) if name]
        kept = [one for one in told if one[1]]
        return cls(tuple(name for name, _ in kept), tuple(words for _, words in kept))


@frozen
class Party:
    """What is known of somebody: `designators` as `scheme:value`, `born` as far as it is told."""

    names: Names
    weak: Names = Names((), ())
    type: str | None = None
    designators: frozenset[str] = frozenset()
    countries: frozenset[str] = frozenset()
    born: frozenset[str] = frozenset()
    gender: str | None = None
    addresses: frozenset[str] = frozenset()


@frozen
class Match:
    """How far two may be one: each feature by name with what it adds, and these in words."""

    score: float
    features: Mapping[str, float]
    reasons: tuple[str, ...] = field(repr=False)


def party(facts: Mapping[str, Any]) -> Party:
    """What the row of an entity tells."""
    told = [f"{one['scheme']}:{one['value']}" for one in facts["designators"]]
    return Party(
        Names.of([facts["name"], *facts["aliases"]]),
        Names.of(facts["weakAliases"]),
        facts["type"],
        frozenset(told),
        frozenset(facts["countryCodes"]),
        frozenset(facts.get("birthDates") or ()),
        facts.get("gender"),
        frozenset(" ".join(compared(one)) for one in facts.get("addresses") or ()),
    )


def compare(asked: Party, known: Party) -> Match | None:
    """How far two may be one; None where their types forbid it or nothing speaks for it."""
    if not _fit(asked.type, known.type):
        return None
    found = [*_numbers(asked, known), *_names(asked, known)]
    if not found:
        return None
    best = max(found, key=lambda one: one[1])
    features = [best, *_qualifiers(asked, known)]
    score = min(1.0, max(0.0, sum(weight for _, weight, _ in features)))
    return Match(
        round(score, 3),
        {name: round(weight, 3) for name, weight, _ in features},
        tuple(reason for *_, reason in features),
    )


_Feature = tuple[str, float, str]


def _fit(one: str | None, other: str | None) -> bool:
    return None in (one, other) or _KINDS.get(one or "", one) == _KINDS.get(other or "", other)


def _numbers(asked: Party, known: Party) -> Iterable[_Feature]:
    for each in sorted(asked.designators & known.designators):
        is_strong = each.partition(":")[0] in _STRONG
        yield "designator", 1.0 if is_strong else _IDENTIFIER, f"both are {each}"


def _names(asked: Party, known: Party) -> Iterable[_Feature]:
    is_person = "person" in (asked.type, known.type)
    sides = [(known.names, "name", 1.0), (known.weak, "weakAlias", _WEAK)]
    for names, feature, weight in sides:
        told = [
            (likeness(mine, theirs, is_person=is_person), at, to)
            for at, mine in enumerate(asked.names.words)
            for to, theirs in enumerate(names.words)
        ]
        if told:
            alike, at, to = max(told, key=lambda one: one[0])
            mine, theirs = asked.names.written[at], names.written[to]
            yield feature, weight * alike, f"{mine!r} is {alike:.0%} like {feature} {theirs!r}"


def _qualifiers(asked: Party, known: Party) -> Iterable[_Feature]:
    if asked.countries and known.countries and not asked.countries & known.countries:
        here, there = (", ".join(sorted(one.countries)) for one in (asked, known))
        yield "country", _COUNTRY, f"{here} is not {there}"
    if asked.born and known.born:
        yield from _births(asked.born, known.born)
    if asked.gender and known.gender and asked.gender != known.gender:
        yield "gender", _GENDER, f"{asked.gender} is not {known.gender}"
    if asked.addresses & known.addresses:
        yield "address", _ADDRESS, "they have an address in common"


def _births(asked: frozenset[str], known: frozenset[str]) -> Iterable[_Feature]:
    """What dates of birth say: each may be a year, a month or a day."""
    here, there = (", ".join(sorted(one)) for one in (asked, known))
    if any(one.startswith(other) or other.startswith(one) for one in asked for other in known):
        yield "birthDate", _BIRTH, f"born {here}, as told"
    elif {one[:4] for one in asked} & {one[:4] for one in known}:
        yield "birthDate", _BIRTH_YEAR, f"born {here}, not {there}"
    else:
        yield "birthDate", _BIRTH_DAY, f"born {here}, not {there}"
