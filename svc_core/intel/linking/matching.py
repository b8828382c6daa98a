"""Compares two parties and scores how likely they are one; never merges them.

The score is that of the strongest feature, moved by qualifiers, in the spirit of the logic of
OpenSanctions' nomenklatura: a designator, else a name, else a weak alias; then facts that differ.
Code names, of actors and what they use, are the same or they are others: their makers give them by
schemes ("Violet Typhoon", "Volt Typhoon"), so how they sound and are spelt says nothing.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from attrs import field, frozen

from svc_core.intel.linking.similarity import comparison_words, is_same, likeness

SCORE_MIN = 0.75
"""The least score of a candidate, chosen on one half of the names in `benchmarks/links.json`."""

_WEAK = 0.8  # of what a weak alias says
_STRONG = frozenset(
    ["lei", "cik", "isin", "wikidata", "ofac-uid", "un-ref", "attack", "misp-galaxy", "stix", "ftm"]
)
_IDENTIFIER = 0.85  # of what any other number says
_COUNTRY, _BIRTH_YEAR, _BIRTH_DAY, _GENDER = -0.2, -0.15, -0.25, -0.2
_BIRTH, _ADDRESS = 0.05, 0.1
_CODE_NAMED = frozenset(["threatActor", "campaign", "malware", "tool"])
_SHOWN_MAX = 5  # names in common that a reason tells
_KINDS = {"company": "body", "organization": "body", "government": "body"}


@frozen
class Names:
    """Names as they are written, and each one's words in the form that is compared."""

    spellings: tuple[str, ...]
    words: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, spellings: Iterable[str]) -> "Names":
        """Prepares names; those that have no words are left out."""
        pairs = [(name, comparison_words(name)) for name in dict.fromkeys(spellings) if name]
        usable = [pair for pair in pairs if pair[1]]
        return cls(tuple(name for name, _ in usable), tuple(words for _, words in usable))


@frozen
class Party:
    """What is known of a person, company or other entity that is compared.

    `designators` are `scheme:value`; each of `birth_dates` is a year, a month or a day.
    """

    names: Names
    weak: Names = Names((), ())
    type: str | None = None
    designators: frozenset[str] = frozenset()
    countries: frozenset[str] = frozenset()
    birth_dates: frozenset[str] = frozenset()
    gender: str | None = None
    addresses: frozenset[str] = frozenset()


@frozen
class NameMatch:
    """A score from 0 to 1 that two parties are one, with what each feature adds and why."""

    score: float
    features: Mapping[str, float]
    reasons: tuple[str, ...] = field(repr=False)


def party(facts: Mapping[str, Any]) -> Party:
    """The party that an entity's row describes."""
    designators = [f"{item['scheme']}:{item['value']}" for item in facts["designators"]]
    return Party(
        Names.of([facts["name"], *facts["aliases"]]),
        Names.of(facts["weakAliases"]),
        facts["type"],
        frozenset(designators),
        frozenset(facts["countryCodes"]),
        frozenset(facts.get("birthDates") or ()),
        facts.get("gender"),
        frozenset(" ".join(comparison_words(address)) for address in facts.get("addresses") or ()),
    )


def compare(query: Party, candidate: Party) -> NameMatch | None:
    """Scores two parties; None where their types differ or no feature speaks for a match."""
    if not _fit(query.type, candidate.type):
        return None
    evidence = [*_numbers(query, candidate), *_names(query, candidate)]
    if not evidence:
        return None
    best = max(evidence, key=lambda feature: feature[1])
    features = [best, *_qualifiers(query, candidate)]
    score = min(1.0, max(0.0, sum(weight for _, weight, _ in features)))
    return NameMatch(
        round(score, 3),
        {name: round(weight, 3) for name, weight, _ in features},
        tuple(reason for *_, reason in features),
    )


_Feature = tuple[str, float, str]


def _fit(left: str | None, right: str | None) -> bool:
    return None in (left, right) or _KINDS.get(left or "", left) == _KINDS.get(right or "", right)


def _numbers(query: Party, candidate: Party) -> Iterable[_Feature]:
    for designator in sorted(query.designators & candidate.designators):
        is_strong = designator.partition(":")[0] in _STRONG
        yield "designator", 1.0 if is_strong else _IDENTIFIER, f"both are {designator}"


def _names(query: Party, candidate: Party) -> Iterable[_Feature]:
    if not _CODE_NAMED.isdisjoint((query.type, candidate.type)):
        yield from _common_names(query.names, candidate.names)
        return
    is_person = "person" in (query.type, candidate.type)
    sides = [(candidate.names, "name", 1.0), (candidate.weak, "weakAlias", _WEAK)]
    for names, feature, weight in sides:
        scores = [
            (likeness(left, right, is_person=is_person), i, j)
            for i, left in enumerate(query.names.words)
            for j, right in enumerate(names.words)
        ]
        if scores:
            score, i, j = max(scores, key=lambda row: row[0])
            left, right = query.names.spellings[i], names.spellings[j]
            yield feature, weight * score, f"{left!r} is {score:.0%} like {feature} {right!r}"


def _common_names(query: Names, candidate: Names) -> Iterable[_Feature]:
    """The names that both have; where they are only other names of both, they say less."""
    pairs = [
        (i, j)
        for i, left in enumerate(query.words)
        for j, right in enumerate(candidate.words)
        if is_same(left, right)
    ]
    if pairs:
        common = list(dict.fromkeys(query.spellings[i] for i, _ in pairs))
        shown = ", ".join(map(repr, common[:_SHOWN_MAX]))
        sizes = f"{len(common)} of {len(query.words)} and of {len(candidate.words)} names"
        yield "name", 1.0 if 0 in chain(*pairs) else _WEAK, f"both are called {shown}: {sizes}"


def _qualifiers(query: Party, candidate: Party) -> Iterable[_Feature]:
    if query.countries and candidate.countries and not query.countries & candidate.countries:
        left, right = (", ".join(sorted(side.countries)) for side in (query, candidate))
        yield "country", _COUNTRY, f"{left} is not {right}"
    if query.birth_dates and candidate.birth_dates:
        yield from _births(query.birth_dates, candidate.birth_dates)
    if query.gender and candidate.gender and query.gender != candidate.gender:
        yield "gender", _GENDER, f"{query.gender} is not {candidate.gender}"
    if query.addresses & candidate.addresses:
        yield "address", _ADDRESS, "they have an address in common"


def _births(query: frozenset[str], candidate: frozenset[str]) -> Iterable[_Feature]:
    """The feature that dates of birth give; each date may be a year, a month or a day."""
    left, right = (", ".join(sorted(dates)) for dates in (query, candidate))
    if any(day.startswith(other) or other.startswith(day) for day in query for other in candidate):
        yield "birthDate", _BIRTH, f"born {left}, as told"
    elif {day[:4] for day in query} & {day[:4] for day in candidate}:
        yield "birthDate", _BIRTH_YEAR, f"born {left}, not {right}"
    else:
        yield "birthDate", _BIRTH_DAY, f"born {left}, not {right}"
