"""Reading a question: a profile's words as clauses, groups, chunks and units.

Rule 1: words that only instruct ("monitor the latest news about") are no part of the subject.
Rule 2: words between prepositions and fillers make a chunk; "and", "or" and commas make the chunk
an alternative of the one before it.
Rule 3: a capital letter makes a name only where it is a choice: not in a title, not in German, not
at the start of a sentence that goes on.
"""

import re
from collections.abc import Sequence

from attrs import frozen

from svc_core.analysis.concepts import concepts, is_askable, region_members, related
from svc_core.analysis.tokens import fold, tokens
from svc_core.analysis.topics import TOPICS
from svc_core.analysis.units import (
    CONCEPT_WEIGHT,
    GENERIC_WEIGHT,
    NAME_WEIGHT,
    WORD_WEIGHT,
    Group,
    Unit,
    generic_terms,
)

_PIECE = re.compile(r"[,/:()]|[^\W_][\w.'’&-]*|&")
_TITLE_CASE_SHARE = 0.8
_KINDS = frozenset(("recorder", "studios", "operation", "project", "typhoon", "tropical"))
_KNOWN_PIECES_MAX = 7  # a phrase of the lexicon with the fillers between its words


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


def chunk(text: str, language: str | None) -> tuple[Unit, ...]:
    """A keyword: all its units together."""
    groups = clause(text, language)
    return tuple(dict.fromkeys(unit for group in groups for unit in group.chunks[0]))


def clause(text: str, language: str | None) -> tuple[Group, ...]:
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
        while (more := _particles(pieces, at + size)) + at + size < len(pieces) and _continues(
            pieces, at + size + more
        ):
            size += more + 1
    elif _is_person(pieces, at):
        size = 2
    taken = pieces[at : at + size]
    alone = len([piece for piece in pieces if piece.kind == "word"]) == size
    inner = any(letter.isupper() or letter.isdigit() for letter in taken[0].text[1:])
    starts = at == 0 and len(pieces) > 1 and pieces[1].kind == "word"
    is_name = (
        size > 1 or alone or inner or (taken[0].is_capital and not (starts or german or title_case))
    )
    return _word_unit(taken, is_name=is_name), size


def _particles(pieces: Sequence[_Piece], at: int) -> int:
    """How many particles of a name stand here ("Marine Le Pen", "Ursula von der Leyen").

    Small ones tell a name only after a given name: "Bank of Japan and the Fed" has none.
    """
    from svc_core.analysis._query_words import PARTICLES  # noqa: PLC0415 - read on first use

    given = is_given_name(pieces[at - 1].text)
    size = 0
    while at + size < len(pieces) and fold(pieces[at + size].text) in PARTICLES:
        if not (given or pieces[at + size].is_capital):
            break
        size += 1
    return size


def _continues(pieces: Sequence[_Piece], at: int) -> bool:
    piece = pieces[at]
    known = bool(_known(pieces, at)[1]) and not _is_person(pieces, at - 1)
    begins = _is_person(pieces, at) or _is_title(piece.text)
    return piece.kind == "word" and piece.is_capital and not known and not begins


def _is_person(pieces: Sequence[_Piece], at: int) -> bool:
    """Whether a given name and a capitalised word stand here ("Donald Trump")."""
    return (
        at + 1 < len(pieces)
        and pieces[at + 1].kind == "word"
        and pieces[at + 1].is_capital
        and is_given_name(pieces[at].text)
    )


def _known(pieces: Sequence[_Piece], at: int) -> tuple[int, tuple[str, ...]]:
    """The longest run of pieces (joiners between them allowed) that the lexicon knows."""
    best: tuple[int, tuple[str, ...]] = (1, ())
    terms: list[str] = []
    for size in range(1, min(_KNOWN_PIECES_MAX, len(pieces) - at) + 1):
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
    generic = len(run) == 1 and run[0] in generic_terms()
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
    if is_name and len(run) >= 2 and is_given_name(pieces[0].text) and len(run[-1]) >= 4:
        runs.append(run[-1:])
    if is_name and len(run) == 2 and fold(pieces[0].text) in _KINDS and len(run[1]) >= 4:
        runs.append(run[1:])
    if is_name and len(run) >= 3:
        runs.append(("".join(term[0] for term in run),))
    generic = len(run) == 1 and (run[0] in generic_terms() or _is_title(pieces[0].text))
    weight = GENERIC_WEIGHT if generic else NAME_WEIGHT if is_name else WORD_WEIGHT
    return Unit(
        label=" ".join(piece.text for piece in pieces),
        runs=tuple(runs),
        topics=_topics(run),
        weight=weight,
        is_name=is_name and not generic,
    )


def _is_title(word: str) -> bool:
    from svc_core.analysis._name_words import TITLES  # noqa: PLC0415 - read on first use

    return fold(word).strip(".") in TITLES


def is_given_name(word: str) -> bool:
    """Whether a word is one of the given names that tell a person."""
    from svc_core.analysis._query_words import GIVEN_NAMES  # noqa: PLC0415 - read on first use

    return fold(word) in GIVEN_NAMES


def _topics(run: tuple[str, ...]) -> frozenset[str]:
    """The catalogue's topics whose name is exactly these words."""
    return frozenset(t.id for t in TOPICS if run in (tuple(tokens(t.name)), tuple(tokens(t.id))))
