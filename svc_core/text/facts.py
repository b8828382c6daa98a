"""Decides whether rows state everything that a sentence claims.

The sentence is held against the passages of the rows: content words are aligned by what they may be
found by, numbers and dates are compared as values, and what turns a meaning (denial, supposition,
bounds, reasons, the order of names around the verb) has a rule of its own, as in natural logic
(MacCartney and Manning 2009).

Rule 1: every number and date of the sentence stands in a passage, and no other one of its kind
        stands nearer to the words around it.
Rule 2: every name stands there, and hardly any other word is new. A word that bounds (all, only,
        most, again) or gives a reason is never new. Between two languages numbers, dates, names and
        words with one root have to carry the sentence.
Rule 3: the sentence denies what its nearest clause denies, and supposes what that only supposes.
Rule 4: names keep their sides of each other and of the verb; in the passive voice they change them.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from heapq import nlargest
from itertools import chain, islice
from typing import Any, Final, Literal, TypeAlias

from attrs import field, frozen

from svc_core.text.language import guess
from svc_core.text.quantities import claim_cues
from svc_core.text.row_passages import (
    Clause,
    PlacedValue,
    RowPassage,
    RowWord,
    cognates,
    overlap,
    passage_of,
    passages_of,
    row_words,
    text_passages,
    word_keys,
)
from svc_core.text.sentences import is_whole, split_sentences
from svc_core.text.words import stop_words

NEW_MAX: Final = 0.2
"""The share of a sentence's content, by weight, that may be new: half of the rows of
labelled sentences chose it 32 times of 40 (ADR 58)."""
NEW_MAX_TRANSLATED: Final = 0.5
"""The same between two languages."""
VALUE_WEIGHT: Final = 4.0
"""What a number or date weighs: as much as a middling word; between two languages twice that."""
DENIAL_SHARE_MIN: Final = 1 / 3
"""Of what the nearest clause has in common with a denial, a clause that denies has so much."""
VALUES_MAX: Final = 400
CLAIM_VALUES_MAX: Final = 12
"""Numbers and dates that are read in rows, and in a sentence; one with more is not supported."""
QUOTED_MEMBERS: Final = 4
"""So many members stand for a row without sentences."""

Fault: TypeAlias = Literal["value", "place", "name", "bound", "new", "denial", "hedge", "role"]


@frozen
class TextFacts:
    """What some rows and texts state; see the rules of this module. They are read when needed.

    A row is held by its texts and by its members; each line of a text is a paragraph.
    """

    rows: tuple[str | Mapping[str, Any], ...] = field(repr=False, eq=False)

    @classmethod
    def of(cls, row: str | Mapping[str, Any]) -> "TextFacts":
        """The facts of a text or row."""
        return cls((row,))

    @classmethod
    def union(cls, facts: Iterable["TextFacts"]) -> "TextFacts":
        """The facts of several together."""
        return cls(tuple(row for item in facts for row in item.rows))

    @cached_property
    def passages(self) -> tuple[RowPassage, ...]:
        """What they are read as."""
        read = (text_passages(r) if isinstance(r, str) else passages_of(r) for r in self.rows)
        return tuple(dict.fromkeys(chain.from_iterable(read)))

    def entail(self, sentence: str) -> bool:
        """Whether the rows state all that a sentence says."""
        return self.fault(sentence) is None

    def fault(self, sentence: str) -> Fault | None:
        """The first rule that a sentence breaks, None where the rows state all that it says."""
        language = guess(sentence) or (min(self._languages) if len(self._languages) == 1 else None)
        claim = passage_of(sentence, language)
        if any(claim.clauses == passage.clauses for passage in self.passages):
            return None
        return (
            self._value_fault(claim)
            or self._word_fault(claim)
            or self._turn_fault(claim)
            or self._role_fault(claim)
        )

    def nearest(self, sentence: str) -> tuple[float, str] | None:
        """The whole sentence that shares most with another, and how much; else a few members."""
        claim = passage_of(sentence, guess(sentence))
        shares = [(_share(claim, passage), passage) for passage in self.passages]
        for share, passage in sorted(shares, key=lambda pair: -pair[0]):
            quotes = [text for text in split_sentences(passage.text, 3) if is_whole(text)]
            if share and not passage.is_member and quotes and not quotes[0].endswith("?"):
                return share, quotes[0]
        members = [(share, passage.text) for share, passage in shares if passage.is_member]
        best = {text: share for share, text in nlargest(QUOTED_MEMBERS, members) if share}
        if not best:
            return None
        text = "; ".join(text for _, text in members if best.pop(text, None))
        return max(members)[0], f"{text[:1].upper()}{text[1:].rstrip('.')}."

    # -- numbers and dates -----------------------------------------------------------------------

    @cached_property
    def _values(self) -> tuple[PlacedValue, ...]:
        values = (placed for passage in self.passages for placed in passage.values)
        return tuple(dict.fromkeys(islice(values, VALUES_MAX)))

    @cached_property
    def _years(self) -> frozenset[int]:
        members = [passage.values for passage in self.passages if passage.is_member]
        days = (day for row in chain(*members) for day in row.quantity.days)
        return frozenset(day[0] for day in days if day[0])

    def _value_fault(self, claim: RowPassage) -> Fault | None:
        values = claim.values
        places = range(len(self._values))
        sources = [[at for at in places if self._follows(own, at)] for own in values]
        if not all(sources) or len(values) > CLAIM_VALUES_MAX:
            return "value"
        overlaps = [[own.overlap(row) for row in self._values] for own in values]
        shares = [[max(map(row.__getitem__, places)) for places in sources] for row in overlaps]
        for number, own in enumerate(values):
            if self._is_tied(own, sources[number]):
                continue
            for at in set(places).difference(sources[number]):
                if not own.quantity.is_like(self._values[at].quantity):
                    continue
                # The other value may be in the sentence, too: then a swap has to serve both.
                twins = [twin for twin, row in enumerate(sources) if at in row]
                losses = (shares[twin][twin] - shares[twin][number] for twin in twins)
                if overlaps[number][at] - shares[number][number] > max(losses, default=0.0):
                    return "place"
        return None

    def _follows(self, own: PlacedValue, place: int) -> bool:
        return own.quantity.follows(self._values[place].quantity, self._years)

    def _is_tied(self, own: PlacedValue, places: list[int]) -> bool:
        """Whether what is counted, or a name with a number (CVSS 3.1), is the same here."""
        behind, names = word_keys(own.behind[:1]), word_keys(w for w in own.before[:1] if w.is_name)
        return any(
            behind & word_keys(row.behind[:1]) or names & row.around
            for row in map(self._values.__getitem__, places)
        )

    # -- words -----------------------------------------------------------------------------------

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.folded for passage in self.passages for word in passage.words)

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset[str]().union(*(passage.keys for passage in self.passages))

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset(passage.language for passage in self.passages if passage.language)

    def _word_fault(self, claim: RowPassage) -> Fault | None:
        own, languages = claim.language, self._languages
        is_translated = bool(own and languages) and own not in languages
        vocabulary = self._keys
        if is_translated:
            vocabulary |= cognates(word for passage in self.passages for word in passage.words)
        total = VALUE_WEIGHT * (1 + is_translated) * len(claim.values)
        new = 0.0
        for word in claim.words:
            roots = cognates([word]) if is_translated else frozenset[str]()
            is_new = vocabulary.isdisjoint(word.keys | roots)
            if not is_translated and word.folded not in self._words:
                if word.folded in claim_cues("binding") | claim_cues("cause"):
                    return "bound"
                if word.is_name and (is_new or not word.folded.isalpha()):
                    return "name"
            if word.is_name and not is_new and not self._is_subject(word, claim):
                return "name"
            total += word.weight
            new += word.weight * is_new
        limit = NEW_MAX_TRANSLATED if is_translated else NEW_MAX
        return None if total and new <= limit * total else "new"

    def _is_subject(self, name: RowWord, claim: RowPassage) -> bool:
        """Whether a row is about a name, or says of it some of what the sentence says."""
        others = [word for word in claim.words if not word.is_name and word.weight]
        return not others or any(
            passage.is_member or overlap(others, passage.keys) or passage.values
            for passage in self.passages
            if not name.keys.isdisjoint(passage.keys)
        )

    # -- what turns a meaning --------------------------------------------------------------------

    def _turn_fault(self, claim: RowPassage) -> Fault | None:
        for own in claim.clauses:
            words = [word for word in row_words(own) if word.weight and not word.is_name]
            shares = [
                (share, clause, passage.language)
                for passage in self.passages
                for share, clause in _clause_shares(words, passage, claim.words)
            ]
            largest = max((share for share, *_ in shares), default=0.0)
            nearest = [row[1:] for row in shares if row[0] == largest > 0]
            if not nearest:
                continue
            if _denies(own, claim.language):
                least = largest * DENIAL_SHARE_MIN
                near = [row[1:] for row in shares if overlap(words, word_keys(row[1])) > least]
                is_turned = not any(_denies(*row) for row in near)
            else:
                is_turned = all(_denies(*row) for row in nearest)
                is_turned = is_turned or overlap(words, self._denied) > 0
            if is_turned:
                return "denial"
            if not _hedges(own, claim.language) and all(_hedges(*row) for row in nearest):
                return "hedge"
        return None

    @cached_property
    def _denied(self) -> frozenset[str]:
        """What stands only in sentences that deny."""
        sides: tuple[set[str], set[str]] = set(), set()
        for passage in self.passages:
            sides[0].update(passage.context)
            for clause in passage.clauses:
                is_denied = not passage.is_member and _denies(clause, passage.language)
                sides[is_denied].update(*(w.keys for w in row_words(clause) if w.weight))
        return frozenset(sides[1] - sides[0])

    # -- who does what to whom -------------------------------------------------------------------

    def _role_fault(self, claim: RowPassage) -> Fault | None:
        order = _order(claim)
        shares = [(overlap(claim.words, p.keys), p) for p in self.passages if not p.is_member]
        largest = max((share for share, _ in shares), default=0.0)
        nearest = [_order(passage) for share, passage in shares if share == largest > 0]
        verbs_move = claim.language == "de"
        is_swapped = [_is_swapped(order, row, verbs_move=verbs_move) for row in nearest]
        rows = [passage.roles for passage in self.passages if passage.roles]
        if (nearest and all(is_swapped)) or any(_is_target_first(order, *row) for row in rows):
            return "role"
        return None


def _clause_shares(
    words: list[RowWord], passage: RowPassage, sentence: Iterable[RowWord]
) -> Iterator[tuple[float, Clause]]:
    """What each clause of a passage says of some words, and a little for the passage's other."""
    about = overlap(words, passage.keys) / 2 + overlap(sentence, passage.keys) / 100
    for clause in passage.clauses:
        yield overlap(words, word_keys(clause) | passage.context) + about, clause


def _share(claim: RowPassage, passage: RowPassage) -> float:
    """The weight of what a passage says like a sentence: of words, and of values of its kinds."""
    words = overlap(claim.words, word_keys(passage.words))
    own = [row.quantity for row in claim.values]
    rows = [row.quantity for row in passage.values]
    values = VALUE_WEIGHT * sum(any(a.follows(b) or a.is_like(b) for b in own) for a in rows)
    return words + (values if passage.is_member else min(values, words))


def _hedges(clause: Clause, language: str | None) -> bool:
    return any(word.folded in claim_cues("hedge", language) for word in row_words(clause))


def _denies(clause: Clause, language: str | None) -> bool:
    """Whether a clause denies; two denials are none."""
    denials = claim_cues("denial", language)
    return sum(w.folded in denials and not w.is_name for w in row_words(clause)) % 2 == 1


@frozen
class _Place:
    """A word in the logical order of a sentence; one behind a preposition is not bare."""

    word: RowWord
    is_bare: bool


_Pair: TypeAlias = tuple[int, _Place, int, _Place]
"""A word of a sentence and its like in the source, each behind its place."""


def _order(passage: RowPassage) -> list[_Place]:
    """The words that state something, as they stand, but an agent of the passive voice first."""
    stops, agents, others = stop_words(passage.language), list[_Place](), list[_Place]()
    is_passive = any(word.folded in claim_cues("passive") for word in passage.words)
    side, is_bare = others, True
    for word in passage.words:
        if is_passive and word.folded in claim_cues("agent"):
            side, is_bare = agents, True
        elif word.folded in claim_cues("preposition"):
            side, is_bare = others, False
        elif word.folded in stops and not word.is_name:
            if word.folded not in claim_cues("determiner"):
                side, is_bare = others, True
        else:
            side.append(_Place(word, is_bare))
            is_bare = is_bare or (side is others and not word.is_name)
    return agents + others


def _is_swapped(claim: list[_Place], source: list[_Place], *, verbs_move: bool) -> bool:
    """Whether names have changed their sides, of each other or of the words between them."""
    pairs: list[_Pair] = []
    free = dict(enumerate(source))
    for at, own in enumerate(claim):
        matches = (
            to for to, other in free.items() if not own.word.keys.isdisjoint(other.word.keys)
        )
        if (to := next(matches, None)) is not None:
            pairs.append((at, own, to, free.pop(to)))
    names = [pair for pair in pairs if pair[1].word.is_name]
    lost = [pair for pair in names if pair[1].is_bare < pair[3].is_bare]
    won = [pair for pair in names if pair[1].is_bare > pair[3].is_bare]
    if any((a[0] - b[0]) * (a[2] - b[2]) < 0 for a in lost for b in won):
        return True
    flips = 0
    bare = [pair for pair in pairs if pair[1].is_bare and pair[3].is_bare]
    for index, (at, own, to, _) in enumerate(bare):
        for later, other, further, _ in bare[index + 1 :]:
            is_flip = to > further
            if own.word.is_name and other.word.is_name:
                if is_flip and later - at > 1 and to - further > 1:
                    return True
            elif own.word.is_name != other.word.is_name and to != further and not verbs_move:
                flips += 1 if is_flip else -1
    return flips > 0


def _is_target_first(claim: list[_Place], actors: frozenset[str], targets: frozenset[str]) -> bool:
    """Whether a row's target stands before its actor in the logical order of a sentence."""
    names = [place.word.folded if place.word.is_name else "" for place in claim]
    ends = [[at for at, name in enumerate(names) if name in side] for side in (targets, actors)]
    return all(ends) and min(ends[0]) < min(ends[1])
