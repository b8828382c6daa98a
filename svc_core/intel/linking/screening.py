"""Many names against many entities: what is asked is indexed, and the entities pass by once.

Rule 1: an entity is near where both have a designator, or words that make up half of both names, or
        more of one; words are equal that sound equal.
Rule 2: of what is near, the nearest are kept for each name and compared in full, so that time and
        memory are those of what is asked, however many entities share a word.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from heapq import heappush, heappushpop

from svc_core.intel.linking.matching import SCORE_MIN, Match, Party, compare
from svc_core.intel.linking.similarity import rarity, sound

NEAREST_MAX = 12
"""Entities that are compared with a name in full: 40 us each."""

_SHARES_MIN, _SHARE_MIN = 1.0, 0.3
"""Of the shares that common words have in both names; of those that are left to ask for."""
_CERTAIN = 3.0  # a designator in common: above all shares


def mark(word: str) -> str:
    """What a word is found by: how it sounds, or where that says little, how it is written."""
    heard = sound(word)
    return f"0{heard}" if heard else word


def shares(words: Sequence[str]) -> dict[str, float]:
    """The marks of a name, each with the share that its word has in what the name tells.

    Squares of rarity: what many names have is no reason to look at them. The words written as one
    are a mark of the whole name.
    """
    weights = {mark(word): rarity(word) ** 2 for word in words}
    total = sum(weights.values())
    found = {one: weight / total for one, weight in weights.items()}
    return {**found, f"={''.join(words)}": 1.0}


def found_by(known: Party) -> dict[str, float]:
    """The tokens that stand for the names of somebody in a text index, with how telling each is."""
    words = {word for names in (known.names, known.weak) for name in names.words for word in name}
    return {f"~{mark(word)}": rarity(word) for word in sorted(words)}


class Screening:
    """The candidates for each of some parties."""

    def __init__(self, asked: Sequence[Party]) -> None:
        """Index what is asked."""
        self._asked = asked
        self._names: list[int] = []
        self._words: dict[str, dict[int, float]] = {}
        self._numbers: dict[str, list[int]] = defaultdict(list)
        self._nearest: list[list[tuple[float, int, str, Party]]] = [[] for _ in asked]
        for at, one in enumerate(asked):
            for number in one.designators:
                self._numbers[number].append(at)
            for words in one.names.words:
                for each, share in shares(words).items():
                    self._words.setdefault(each, {})[len(self._names)] = share
                self._names.append(at)

    def pass_by(self, id_: str, known: Party) -> None:
        """Keep an entity where it is near."""
        near = {at: _CERTAIN for one in known.designators for at in self._numbers.get(one, ())}
        for names in (known.names, known.weak):
            for words in names.words:
                for at, share in self._alike(shares(words)):
                    near[at] = max(share, near.get(at, 0.0))
        for at, share in near.items():
            self._keep(at, share, id_, known)

    def candidates(self, at: int, most: int) -> list[tuple[str, Party, Match]]:
        """The likest entities for one of the parties, at most so many; equal ones by id."""
        found = {}
        for _, _, id_, known in self._nearest[at]:
            match = compare(self._asked[at], known)
            if match is not None and match.score >= SCORE_MIN:
                found[id_] = (id_, known, match)
        return sorted(found.values(), key=lambda one: (-one[2].score, one[0]))[:most]

    def _alike(self, mine: dict[str, float]) -> Iterator[tuple[int, float]]:
        """The names of which this one has enough, with both shares.

        Words that many names have are asked for last, and only of names that are there already.
        """
        held = sorted((len(self._words[one]), one) for one in mine if one in self._words)
        found: dict[int, float] = {}
        left = sum(mine[one] for _, one in held)
        for _, each in held:
            share, names = mine[each], self._words[each]
            for name in names if left >= _SHARE_MIN else found.keys() & names.keys():
                found[name] = found.get(name, 0.0) + share + names[name]
            left -= share
        for name, both in found.items():
            if both >= _SHARES_MIN:
                yield self._names[name], both

    def _keep(self, at: int, share: float, id_: str, known: Party) -> None:
        one = (share, -int(id_[4:], 16), id_, known)  # of equal ones the lower id is nearer
        push = heappush if len(self._nearest[at]) < NEAREST_MAX else heappushpop
        push(self._nearest[at], one)
