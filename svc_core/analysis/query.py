"""What a profile asks for: its free-text topic and keywords as a structure that items are held to.

Rule 1: words that only instruct ("monitor the latest news about") are no part of the subject.
Rule 2: a query is any of its clauses; a clause is all of its groups; a group is any of its chunks
("hospitals and clinics"); a chunk is all of its units ("ransomware attacks"); a unit is one word,
name or known phrase with everything that means the same.
Rule 3: names weigh more than words, and words that stand in any news weigh little.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache

from attrs import frozen

from svc_core.analysis.concepts import concepts, is_askable, region_members, related
from svc_core.analysis.topics import TOPICS
from svc_core.analysis.tokens import fold, tokens

NAME_WEIGHT = 2.0
CONCEPT_WEIGHT = 1.2
WORD_WEIGHT = 1.0
GENERIC_WEIGHT = 0.35
UNITS_MAX = 64  # a topic of 2,000 characters has at most a few dozen subjects (Spec: Profile input)

_CLAUSE = re.compile(r"[.!?](?=\s|$)|[;\n•]+")
_PIECE = re.compile(r"[,/:()]|[^\W_][\w.'’&-]*|&")
_TITLE_CASE_SHARE = 0.8


@frozen
class Unit:
    """One subject word: the term runs and concepts that stand for it, how it weighs and reads."""

    label: str
    runs: tuple[tuple[str, ...], ...]
    concepts: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    weight: float = WORD_WEIGHT
    is_name: bool = False

    @property
    def is_generic(self) -> bool:
        """Whether the unit only narrows: a word of any news."""
        return self.weight <= GENERIC_WEIGHT

    @property
    def is_place(self) -> bool:
        """Whether the unit means a country or a region and nothing else."""
        return bool(self.concepts) and all(name.startswith(("qqc", "qqr")) for name in self.concepts)


@frozen
class Group:
    """Alternatives: an item answers the group when it answers any of its chunks."""

    chunks: tuple[tuple[Unit, ...], ...]

    @property
    def weight(self) -> float:
        """The weight of the heaviest chunk, at most that of two names."""
        heaviest = max(sum(unit.weight for unit in chunk) for chunk in self.chunks)
        return min(heaviest, 2 * NAME_WEIGHT)

    @property
    def is_name(self) -> bool:
        """Whether every alternative holds a name."""
        return all(any(unit.is_name for unit in chunk) for chunk in self.chunks)

    @property
    def is_place(self) -> bool:
        """Whether every alternative is a country or a region."""
        return all(all(unit.is_place for unit in chunk) for chunk in self.chunks)


@frozen
class Query:
    """A question. `clauses` are alternatives, `keywords` stand alone, `excluded` shut out."""

    clauses: tuple[tuple[Group, ...], ...]
    keywords: tuple[tuple[Unit, ...], ...] = ()
    excluded: tuple[Unit, ...] = ()

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every unit that is asked for, once, heaviest first."""
        asked = [unit for clause in self.clauses for group in clause for chunk in group.chunks
                 for unit in chunk]
        found = dict.fromkeys([*asked, *(unit for chunk in self.keywords for unit in chunk)])
        return tuple(sorted(found, key=lambda unit: (-unit.weight, unit.label)))[:UNITS_MAX]

    @property
    def terms(self) -> tuple[str, ...]:
        """Terms for the candidate search (any of them), as they stand in `tokens.search_text`."""
        units = self.units
        telling = [unit for unit in units if not unit.is_generic] or list(units)
        without_places = [unit for unit in telling if not unit.is_place] or telling
        found: dict[str, None] = {}
        for unit in without_places:
            found.update(dict.fromkeys(sorted(unit.concepts)))
            for run in unit.runs:
                found.update(dict.fromkeys(term for term in run if term not in _generic()))
        return tuple(found)

    @classmethod
    def of(cls, topic: str, keywords: Iterable[str] = (), language: str | None = "en") -> "Query":
        """The query of a profile. Repeats are dropped; a topic of instructions alone asks nothing."""
        wanted, unwanted = _part(topic)
        clauses = [_clause(text, language) for text in _CLAUSE.split(wanted)]
        told = {term for term in tokens(wanted)}
        alone = [_chunk(keyword, language) for keyword in keywords]
        return cls(
            clauses=tuple(dict.fromkeys(clause for clause in clauses if clause)),
            keywords=tuple(dict.fromkeys(chunk for chunk in alone if chunk and _adds(chunk, told))),
            excluded=tuple(unit for text in unwanted for unit in _chunk(text, language)),
        )


def _part(topic: str) -> tuple[str, list[str]]:
    """What is asked for, and what is asked to be left out ("... but not football")."""
    from svc_core.analysis._query_words import EXCLUSIONS  # noqa: PLC0415 - read on first use

    marks = "|".join(re.escape(mark) for mark in EXCLUSIONS)
    pattern = re.compile(rf"[,(]?\s*\b(?:{marks})\b\s+([^.;!?()\n]+)\)?", re.IGNORECASE)
    unwanted = [part for match in pattern.findall(topic) for part in re.split(r",|\bor\b|\band\b", match)]
    return pattern.sub(" ", topic), [part for part in unwanted if part.strip()]


def _adds(chunk: Sequence[Unit], told: set[str]) -> bool:
    """Whether a keyword says more than the topic does: a lone common word of it does not."""
    if len(chunk) > 1 or chunk[0].is_name or chunk[0].concepts:
        return any(term not in told for unit in chunk for run in unit.runs for term in run) or (
            chunk[0].is_name and len(chunk) == 1
        )
    return not chunk[0].is_generic and not set(chunk[0].runs[0]) <= told


def _chunk(text: str, language: str | None) -> tuple[Unit, ...]:
    """A keyword: all its units together."""
    groups = _clause(text, language)
    return tuple(dict.fromkeys(unit for group in groups for unit in group.chunks[0]))


# --- reading a clause -------------------------------------------------------------------------


@frozen
class _Piece:
    text: str
    kind: str  # word, comma, and, joiner, break
    terms: tuple[str, ...] = ()

    @property
    def is_capital(self) -> bool:
        return self.text[0].isupper() or any(letter.isupper() for letter in self.text[1:])


def _pieces(text: str) -> list[_Piece]:
    from svc_core.analysis import _query_words as words  # noqa: PLC0415 - read on first use

    found: list[_Piece] = []
    for raw in _PIECE.findall(text):
        plain = fold(raw).strip(".")
        terms = tuple(tokens(raw))
        if raw in ",/:()":
            kind = "comma"
        elif plain in words.CONJUNCTIONS:
            kind = "and"
        elif plain in words.RELATIONS:
            kind = "relation"
        elif plain in words.INSTRUCTIONS:
            kind = "break"
        elif not terms:
            kind = "joiner" if plain in words.JOINERS else "break"
        else:
            kind = "word"
        found.append(_Piece(raw, kind, terms))
    return found


def _clause(text: str, language: str | None) -> tuple[Group, ...]:
    """The groups of one clause, in order."""
    pieces = _pieces(text)
    words = [piece for piece in pieces if piece.kind == "word"]
    capitals = sum(piece.is_capital for piece in words)
    title_case = len(words) > 3 and capitals >= _TITLE_CASE_SHARE * len(words)
    groups: list[list[tuple[Unit, ...]]] = []
    chunk: list[Unit] = []
    joined = False
    relation = any(piece.kind == "relation" for piece in pieces)
    at = 0
    while at < len(pieces):
        piece = pieces[at]
        if piece.kind == "word" or (piece.terms and _known(pieces, at)[0] > 1):
            unit, size = _unit(pieces, at, title_case=title_case, german=language == "de")
            chunk.append(unit)
            at += size
            continue
        if piece.kind != "joiner" or chunk:
            _close(groups, chunk, joined=joined, related=relation)
            joined = piece.kind in ("comma", "and") or (joined and not chunk)
            chunk = []
        at += 1
    _close(groups, chunk, joined=joined, related=relation)
    return tuple(Group(tuple(dict.fromkeys(chunks))) for chunks in groups)


def _close(
    groups: list[list[tuple[Unit, ...]]], chunk: list[Unit], *, joined: bool, related: bool
) -> None:
    """End a chunk: an alternative of the group before it when joined, else a group of its own.

    Two names joined in a relation ("between Japan and South Korea") are both asked for, and a name
    before the first alternative ("US jobs and wages") stands before them all.
    """
    if not chunk:
        return
    if joined and groups and not (related and any(unit.is_name for unit in chunk)):
        first = groups[-1][0]
        shared = first[:1] if len(first) > 1 and first[0].is_name else ()
        named = any(unit.is_name for unit in chunk)
        groups[-1].append(tuple(chunk) if named else (*shared, *chunk))
    else:
        groups.append([tuple(chunk)])


def _unit(pieces: Sequence[_Piece], at: int, *, title_case: bool, german: bool) -> tuple[Unit, int]:
    """The unit that begins at a piece, and how many pieces it takes."""
    size, named = _known(pieces, at)
    if named and not _is_person(pieces, at):
        run = tuple(term for piece in pieces[at : at + size] for term in piece.terms)
        return _concept_unit(pieces[at : at + size], run, named), size
    size = 1
    if pieces[at].is_capital and not title_case:
        while at + size < len(pieces) and _continues(pieces, at + size):
            size += 1
    taken = pieces[at : at + size]
    alone = len([piece for piece in pieces if piece.kind == "word"]) == size
    inner = any(letter.isupper() or letter.isdigit() for letter in taken[0].text[1:])
    starts = at == 0 and len(pieces) > 1 and pieces[1].kind == "word"
    is_name = size > 1 or alone or inner or (taken[0].is_capital and not (starts or german or title_case))
    return _word_unit(taken, is_name=is_name), size


def _continues(pieces: Sequence[_Piece], at: int) -> bool:
    piece = pieces[at]
    known = bool(_known(pieces, at)[1]) and not _is_person(pieces, at - 1)
    return piece.kind == "word" and piece.is_capital and not known


def _is_person(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a given name and a capitalised word stand here ("Donald Trump")."""
    return (
        at + 1 < len(pieces)
        and pieces[at + 1].kind == "word"
        and pieces[at + 1].is_capital
        and _is_given_name(pieces[at].text)
    )


def _known(pieces: Sequence[_Piece], at: int) -> tuple[int, tuple[str, ...]]:
    """The longest run of pieces (joiners between them allowed) that the lexicon knows."""
    best: tuple[int, tuple[str, ...]] = (1, ())
    terms: list[str] = []
    for size in range(1, min(7, len(pieces) - at) + 1):
        piece = pieces[at + size - 1]
        if piece.kind == "joiner":
            continue
        if not piece.terms:
            break
        terms.extend(piece.terms)
        named = concepts(terms)
        if named and is_askable(tuple(terms)) and (size > 1 or piece.kind == "word"):
            best = (size, tuple(dict.fromkeys(named)))
    return best


def _concept_unit(pieces: Sequence[_Piece], run: tuple[str, ...], named: tuple[str, ...]) -> Unit:
    places = [name for name in named if name.startswith(("qqc", "qqr"))]
    members = [code for name in named for code in region_members(name)]
    generic = len(run) == 1 and run[0] in _generic()
    weight = GENERIC_WEIGHT if generic else NAME_WEIGHT if places else CONCEPT_WEIGHT
    return Unit(
        label=" ".join(piece.text for piece in pieces),
        runs=(run,),
        concepts=frozenset([*named, *members, *(near for name in named for near in related(name))]),
        topics=_topics(run),
        weight=weight,
        is_name=bool(places) or (len(run) > 1 and all(p.is_capital for p in pieces if p.terms)),
    )


def _word_unit(pieces: Sequence[_Piece], *, is_name: bool) -> Unit:
    run = tuple(term for piece in pieces for term in piece.terms)
    runs = [run]
    if is_name and len(run) >= 2 and _is_given_name(pieces[0].text) and len(run[-1]) >= 4:
        runs.append(run[-1:])
    if is_name and len(run) >= 3:
        runs.append(("".join(term[0] for term in run),))
    generic = len(run) == 1 and run[0] in _generic()
    weight = GENERIC_WEIGHT if generic else NAME_WEIGHT if is_name else WORD_WEIGHT
    return Unit(
        label=" ".join(piece.text for piece in pieces),
        runs=tuple(runs),
            topics=_topics(run),
        weight=weight,
        is_name=is_name and not generic,
    )


@cache
def _generic() -> frozenset[str]:
    from svc_core.analysis._query_words import GENERIC  # noqa: PLC0415 - read on first use

    return frozenset(term for word in GENERIC for term in tokens(word))


def _is_given_name(word: str) -> bool:
    from svc_core.analysis._query_words import GIVEN_NAMES  # noqa: PLC0415 - read on first use

    return fold(word) in GIVEN_NAMES


def _topics(run: tuple[str, ...]) -> frozenset[str]:
    """The catalogue's topics whose name is exactly these words."""
    return frozenset(t.id for t in TOPICS if run in (tuple(tokens(t.name)), tuple(tokens(t.id))))
