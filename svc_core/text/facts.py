"""Decides whether rows state everything that a sentence claims.

The sentence is held against the passages of the rows: content words are aligned by what they may be
found by, numbers and dates are compared as values, and what turns a meaning (denial, supposition,
bounds, reasons, the order of names around the verb) has a rule of its own, as in natural logic
(MacCartney and Manning 2009).

Rule 1: every number and date of the sentence stands in a passage, or is the difference of two that
        stand in one; no two of them would fit the words around them better the other way round; no
        member but its own fits better, and in a text no other that stands beside the name that it
        has in the sentence.
Rule 2: every name stands there, and few words of a clause are new to the members and to the one
        sentence nearest to it. What bounds (all, only, largest, again) is bounded there, too, and a
        reason is given there or stands in one passage.
Rule 3: the sentence denies what its nearest clause denies, has no word that stands only in clauses
        that deny, supposes what the nearest supposes or asks, and says the opposite of no word.
Rule 4: two names do not stand in reverse order, with a word between them reversed, too; what only
        moves as a whole reverses no three. The agent of a passive comes first.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from heapq import nlargest
from itertools import chain, combinations, islice, starmap
from typing import Any, Final, Literal, TypeAlias

from attrs import field, frozen

from svc_core.text.language import guess
from svc_core.text.quantities import Value, claim_cues, claim_words
from svc_core.text.row_passages import (
    VALUE_WEIGHT,
    Clause,
    PlacedValue,
    RowPassage,
    RowWord,
    Token,
    overlap,
    passage_of,
    passages_of,
    row_words,
    text_passages,
    word_keys,
)
from svc_core.text.sentences import is_whole, split_sentences
from svc_core.text.synonyms import opposite_keys
from svc_core.text.words import stop_words

NEW_MAX: Final = 0.35
"""The share of a sentence's content, by weight, that may be new. The three shares keep most where
88 of 100 labelled sentences that rows do not state are caught (ADR 58)."""
NEW_MAX_MEMBERS: Final = 0.02
"""The same of what members say rather than texts: there a new word is another value."""
NEW_MAX_TRANSLATED: Final = 0.45
"""The same between two languages."""
REASON_SHARE_MIN: Final = 0.75
"""So much of a reason that a row does not give as one stands in one passage."""
DENIAL_SHARE_MIN: Final = 1 / 3
"""Of what the nearest clause has in common with a denial, a clause that denies has so much."""
SWAP_MAX: Final = 6
"""Two names that exchange their places stand at most so many words apart."""
VALUES_MAX: Final = 400
CLAIM_VALUES_MAX: Final = 12
DIFFERENCES_MAX: Final = 2_000
"""Numbers and dates that are read in rows, and in a sentence; one with more is not supported. Of
so many pairs the difference is read."""
QUOTED_MEMBERS: Final = 4
"""So many members stand for a row without sentences."""

Fault: TypeAlias = Literal[
    "value", "place", "name", "bound", "new", "denial", "hedge", "opposite", "role"
]


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
        checks = self._value_fault, self._word_fault, self._turn_fault, self._order_fault
        return next(filter(None, (check(claim) for check in checks)), None)

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

    def _value_fault(self, claim: RowPassage) -> Fault | None:
        places = range(len(self._values))
        ends = [
            (own, [at for at in places if own.quantity.follows(self._values[at].quantity)])
            for own in claim.values
        ]
        values = [own for own, sources in ends if sources]
        others = [own.quantity for own, sources in ends if not sources]
        if len(ends) > CLAIM_VALUES_MAX or not all(map(self._is_difference, others)):
            return "value"
        sources = [places for _, places in ends if places]
        overlaps = [[own.overlap(row) for row in self._values] for own in values]
        shares = [[max(map(row.__getitem__, ends)) for ends in sources] for row in overlaps]
        for number, own in enumerate(values):
            rows = [self._values[at] for at in sources[number]]
            is_member = all(row.is_member for row in rows)
            names = own.names.difference(*(row.names for row in rows))
            for at in set(places).difference(sources[number]):
                row = self._values[at]
                twins = [twin for twin, ends in enumerate(sources) if at in ends]
                is_rival = row.is_member if is_member else bool(names & row.names)
                if not own.quantity.is_like(row.quantity):
                    continue
                # The other value may be in the sentence, too: then a swap has to serve both.
                losses = (shares[twin][twin] - shares[twin][number] for twin in twins)
                loss = max(losses, default=0.0 if is_rival else VALUE_WEIGHT)
                if overlaps[number][at] - shares[number][number] > loss:
                    return "place"
        return None

    def _is_difference(self, own: Value) -> bool:
        """Whether a number is the difference of two values that stand in one passage."""
        pairs = chain.from_iterable(combinations(p.values, 2) for p in self.passages)
        gaps = (a.quantity.difference(b.quantity) for a, b in islice(pairs, DIFFERENCES_MAX))
        return any(gap and own.follows(gap) for gap in gaps)

    # -- words -----------------------------------------------------------------------------------

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.folded for passage in self.passages for word in passage.words)

    @cached_property
    def _keys(self) -> frozenset[str]:
        return frozenset[str]().union(*(passage.keys for passage in self.passages))

    @cached_property
    def _texts(self) -> list[RowPassage]:
        return [passage for passage in self.passages if not passage.is_member]

    @cached_property
    def _text_keys(self) -> frozenset[str]:
        return frozenset[str]().union(*(passage.keys for passage in self._texts))

    @cached_property
    def _member_keys(self) -> frozenset[str]:
        return frozenset[str]().union(*(row.keys for row in self.passages if row.is_member))

    @cached_property
    def _languages(self) -> frozenset[str]:
        return frozenset(passage.language for passage in self.passages if passage.language)

    @cached_property
    def _bounds(self) -> frozenset[str]:
        """What bounds, of all, only, the largest and the like, is said."""
        return frozenset(key for word in self._words for key in claim_words("bound").get(word, ()))

    def _word_fault(self, claim: RowPassage) -> Fault | None:
        is_translated = bool(self._languages) and claim.language not in {None, *self._languages}
        plain = [word for word in claim.words if word.weight and not word.is_name]
        if not is_translated and not all(map(self._is_bounded, claim.clauses)):
            return "bound"
        for word in claim.words if not is_translated else ():
            rows = (row for row in self.passages if not word.keys.isdisjoint(row.keys))
            is_about = (o.is_member or o.values or overlap(plain, o.keys) for o in rows)
            if word.is_name and not any(is_about if plain else rows):
                return "name"
        total = sum(word.weight for word in claim.words) + VALUE_WEIGHT * len(claim.values)
        new = sum(map(self._new_weight, claim.clauses))
        # Where a script has no capitals a new word may be a name.
        is_cased = claim.text.upper() != claim.text.lower()
        is_text = is_cased and 2 * overlap(plain, self._text_keys) > overlap(plain, self._keys)
        limit = NEW_MAX_TRANSLATED if is_translated else NEW_MAX if is_text else NEW_MAX_MEMBERS
        return None if total and new <= limit * total else "new"

    def _new_weight(self, clause: Clause) -> float:
        """The weight of the words of a clause that no member nor a sentence at most has."""
        words = [word for word in row_words(clause) if word.keys.isdisjoint(self._member_keys)]
        weight = sum(word.weight for word in words)
        return weight - max((overlap(words, row.keys) for row in self._texts), default=0.0)

    def _is_bounded(self, clause: Clause) -> bool:
        """Whether each word of a clause that bounds is said, and a passage has what it reasons."""
        words = list(row_words(clause))
        for at, word in enumerate(words):
            keys = claim_words("bound").get(word.folded, ())
            if keys and self._bounds.isdisjoint(keys):
                return False
            if word.folded in claim_cues("cause") and word.folded not in self._words:
                reason = words[at + 1 :]
                weight = sum(each.weight for each in reason)
                if all(overlap(reason, p.keys) < REASON_SHARE_MIN * weight for p in self.passages):
                    return False
        return True

    # -- what turns a meaning --------------------------------------------------------------------

    def _turn_fault(self, claim: RowPassage) -> Fault | None:
        is_supposed = any(_hedges(clause, claim, "hedge like") for clause in claim.clauses)
        is_denied = any(_denies(clause, claim, "lack") for clause in claim.clauses)
        for own in claim.clauses:
            words = [word for word in row_words(own) if word.weight and not word.is_name]
            shares = [row for p in self.passages for row in _clause_shares(words, p, claim.words)]
            largest = max((share for share, *_ in shares), default=0.0)
            nearest = [row[1:] for row in shares if row[0] == largest > 0]
            if not nearest:
                continue
            if _denies(own, claim, "lack"):
                near = [row[1:] for row in shares if row[0] > largest * DENIAL_SHARE_MIN]
                if not any(_denies(*row, "lack") or _is_unlike(claim, row[1]) for row in near):
                    return "denial"
            elif not is_denied:
                weight = overlap(words, word_keys(words))
                is_only_denied = 0 < weight <= 2 * overlap(words, self._denied)
                if is_only_denied or all(starmap(_denies, nearest)):
                    return "denial"
            if not is_supposed and all(_hedges(*row) for row in nearest):
                return "hedge"
            if any(_opposes(word, passage) for word in words for _, passage in nearest):
                return "opposite"
        return None

    @cached_property
    def _denied(self) -> frozenset[str]:
        """What stands only in clauses that deny."""
        sides: tuple[set[str], set[str]] = set(), set()
        for passage in self.passages:
            for clause in passage.clauses:
                is_denied = _denies(clause, passage)
                sides[is_denied].update(*(w.keys for w in row_words(clause) if w.weight))
                sides[is_denied and passage.is_member].update(passage.context)
        return frozenset(sides[1] - sides[0])

    # -- who does what to whom -------------------------------------------------------------------

    def _order_fault(self, claim: RowPassage) -> Fault | None:
        order = _logical_order(claim)
        shares = [(_share(claim, p), p) for p in self.passages if not p.is_member]
        largest = max((share for share, _ in shares), default=0.0)
        nearest = [_logical_order(passage) for share, passage in shares if share == largest > 0]
        is_swapped = nearest and all(_is_swapped(order, source) for source in nearest)
        rows = [passage.roles for passage in self.passages if passage.roles]
        return "role" if is_swapped or any(_is_target_first(order, *row) for row in rows) else None


def _clause_shares(
    words: list[RowWord], passage: RowPassage, sentence: Iterable[RowWord]
) -> Iterator[tuple[float, Clause, RowPassage]]:
    """What each clause of a passage says of some words, and a little for the passage's other."""
    about = overlap(words, passage.keys) / 2 + overlap(sentence, passage.keys) / 100
    for clause in passage.clauses:
        yield overlap(words, word_keys(clause) | passage.context) + about, clause, passage


def _share(claim: RowPassage, passage: RowPassage) -> float:
    """The weight of what a passage says like a sentence: of words, and of values of its kinds."""
    words = overlap(claim.words, word_keys(passage.words))
    own = [row.quantity for row in claim.values]
    rows = [row.quantity for row in passage.values]
    values = VALUE_WEIGHT * sum(any(a.follows(b) or a.is_like(b) for b in own) for a in rows)
    return words + (values if passage.is_member else min(values, words))


def _hedges(clause: Clause, passage: RowPassage, also: str = "") -> bool:
    """Whether a clause supposes; a question states nothing. `also` are further cues."""
    cues = claim_cues("hedge", passage.language) | claim_cues(also)
    return passage.text.endswith("?") or any(word.folded in cues for word in row_words(clause))


def _denies(clause: Clause, passage: RowPassage, also: str = "denial") -> bool:
    """Whether a clause denies; two denials are none. `also` are further cues."""
    denials = claim_cues("denial", passage.language) | claim_cues(also)
    return sum(w.folded in denials and not w.is_name for w in row_words(clause)) % 2 == 1


def _is_unlike(claim: RowPassage, passage: RowPassage) -> bool:
    """Whether a passage has a word like a denial that a sentence does not have in any form."""
    cues = claim_cues("denial like")
    return any(w.folded in cues and w.keys.isdisjoint(claim.keys) for w in passage.words)


def _opposes(word: RowWord, passage: RowPassage) -> bool:
    """Whether a passage says the opposite of a word, and not the word."""
    return word.keys.isdisjoint(passage.keys) and not opposite_keys(word.keys).isdisjoint(
        word_keys(passage.words)
    )


def _logical_order(passage: RowPassage) -> list[Token]:
    """The names, values and words that state something; of the passive voice the agent first."""
    tokens = [token for clause in passage.clauses for token in clause]
    words = [(at, token.folded) for at, token in enumerate(tokens) if isinstance(token, RowWord)]
    places = {
        kind: [at for at, word in words if word in claim_cues(kind)]
        for kind in ("passive", "agent", "preposition")
    }
    agents = [at for at in places["agent"] if any(verb < at for verb in places["passive"])]
    if agents:
        start = agents[0]
        verb = max(at for at in places["passive"] if at < start)
        end = next((at for at in places["preposition"] if at > start + 1), len(tokens))
        parts = slice(start + 1, end), slice(verb + 1, start), slice(verb), slice(end, None)
        tokens = [token for part in parts for token in tokens[part]]
    stops = stop_words(passage.language)
    return [
        token
        for token in tokens
        if isinstance(token, Value) or token.is_name or (token.weight and token.folded not in stops)
    ]


def _is_swapped(claim: list[Token], source: list[Token]) -> bool:
    """Whether two names have changed their sides, each of the other and of a word or value."""
    free, places = dict(enumerate(source)), list[tuple[int, int, Token]]()
    for at, own in enumerate(claim):
        place = next((to for to, other in free.items() if _is_same(own, other)), None)
        if place is not None:
            other = free.pop(place)
            places.append((at, place, other if _is_name(other) else own))
    for index, (at, place, own) in enumerate(places):
        if not _is_name(own):
            continue
        near = [row for row in places[index + 1 :] if row[0] - at <= SWAP_MAX and row[1] < place]
        if any(
            isinstance(middle, RowWord) and _is_name(last) and to < between
            for (_, between, middle), (_, to, last) in combinations(near, 2)
        ):
            return True
    return False


def _is_name(token: Token) -> bool:
    return isinstance(token, RowWord) and token.is_name


def _is_same(own: Token, other: Token) -> bool:
    if isinstance(own, RowWord) and isinstance(other, RowWord):
        return not own.keys.isdisjoint(other.keys)
    return isinstance(own, Value) and isinstance(other, Value) and own.follows(other)


def _is_target_first(claim: list[Token], actors: frozenset[str], targets: frozenset[str]) -> bool:
    """Whether a row's target stands before its actor in the logical order of a sentence."""
    names = [word.folded if isinstance(word, RowWord) else "" for word in claim]
    ends = [[at for at, name in enumerate(names) if name in side] for side in (targets, actors)]
    return all(ends) and min(ends[0]) < min(ends[1])
