"""Selects the sentences of some passages that answer a question.

Rule 1: a sentence is one of its passage, word for word, without markup, addresses and citation
        marks of its own; two are never joined. One that gives an assistant orders is left out.
Rule 2: a name of the question that stands neither in the sentence nor near it in the passage rules
        the sentence out; so does another year. Who, when, where and how many are answered only by
        sentences that name a person, date, place or number.
Rule 3: a sentence is scored by the question and its own passage alone: the order of passages, and
        others beside it, change no more than its numbers. Only where no sentence answers, fewer
        words are enough in the one text that has more names of the question than any other.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property, lru_cache, partial
from itertools import pairwise

from attrs import evolve, frozen

from svc_core.agent.text_query import (
    DECIMAL,
    TextQuery,
    groups,
    has_expression,
    has_measure,
    is_close,
    is_number,
    is_role,
    is_strange,
    month_of,
    months_in,
    query_of,
    roots,
    word_root,
)
from svc_core.intel.linking.runs import capital_runs
from svc_core.text.language import guess
from svc_core.text.name_mentions import is_place
from svc_core.text.sentences import clean_headline, is_anaphoric, split_sentences
from svc_core.text.synonyms import WORDS_MAX, lemmas, related_keys
from svc_core.text.words import fold_case, split_words, stop_words, term_of

PASSAGES_MAX, TEXT_MAX, SENTENCES_MAX = 100, 6_000, 60
"""Passages that are read, characters and sentences of each: about 30 ms in all."""
RECENT_MAX, RECENT_CHARS = 256, 2_000
"""Texts that a process remembers as they were read, and characters of each: 10 MB of news, at most
60. The questions of a thread, and the parts of one, meet the same texts."""
CORRECTED_MAX = 8  # words of a question: each is compared with all words of the passages
WORDS_MIN = 2  # of a sentence: "Four died."
ANSWER_MAX, OVERVIEW_MAX = 3, 5  # sentences of an answer
ALIKE = 0.6  # the Jaccard index of their terms from which two sentences are alike
ENOUGH, LONE = 0.5, 0.7  # least share of the terms' weight: beside names, and without any
ENOUGH_OF_SOLE = 0.38
"""The same in the one text with most names of the question, where no other sentence answers."""
CLOSE = 0.65  # of the best score: sentences below it are left out
NEARBY = 0.5  # share of a term that stands near the sentence
OTHER_WORD = 0.85  # share of a synonym of a term
LACKING = 0.7
"""Factor on the score of a sentence that lacks part of the answer: a place for "where", a date of
its own for "when", a reason for "why", or the first and the last word of the subject."""
BEFORE = 2  # sentences before one that are its context
_REACH = 3  # words between an office and the organisation that it belongs to
_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?!\d|[.,]\d)")
_NAMED = re.compile(
    r"(?<=[a-zß-ÿ,;] )(?:[A-ZÀ-Þ0-9][\w’'.&-]*(?: (?:(?:of|de|la|the|der|von) )?(?=[A-ZÀ-Þ0-9]))?)+"
)
_PAIRS = re.compile(r"(?:^|(?<=[.!?\n] ))[A-ZÀ-Þ][\w’'-]+(?: [A-ZÀ-Þ][\w’'-]+)+")
_LOWER = re.compile(r"\b[a-zß-ÿ]\w+")
_FIRST = re.compile(r"\b[A-ZÀ-Þ]\w+")
_TOKEN = re.compile(r"\d(?:[\d.,]*\d)?|\w+")
_STRANGE = re.compile(r"[^\W\d_]{5,}")
_PARTS = re.compile(r" (?:of|de|du|del|della|der|&) ")


@frozen
class PassageText:
    """A title and a text, and what is read of them for every question."""

    title: str
    text: str

    @cached_property
    def words(self) -> list[str]:
        """The folded words of its title and text."""
        return split_words(f"{self.title}\n{self.text[:TEXT_MAX]}")

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Its words, their terms and roots, and the initials of its names."""
        initials, words = _initials(f"{self.title}\n{self.text[:TEXT_MAX]}"), {*self.words}
        return frozenset([*words, *map(term_of, words), *map(word_root, words), *initials])

    @cached_property
    def language(self) -> str | None:
        """The language that it is written in; None where that is not sure."""
        return guess(f"{self.title} {self.text[:TEXT_MAX]}")

    @cached_property
    def names(self) -> frozenset[str]:
        """The folded words that it writes as names."""
        return _written_as_names(self)

    @cached_property
    def lines(self) -> tuple[tuple[str, frozenset[str]], ...]:
        """Its title and sentences, each with its tokens."""
        title = clean_headline(without_markup(self.title))
        text = without_markup(self.text[:TEXT_MAX])
        lines = split_sentences(text, WORDS_MIN, fragments=True)[:SENTENCES_MAX]
        return tuple((line, _tokens(line, self.language)) for line in (title, *lines))


_recent_text = lru_cache(RECENT_MAX)(PassageText)


@frozen
class Passage:
    """A text that may be cited by its number; `at` is its aware date."""

    number: int
    title: str
    text: str
    at: datetime | None = None

    @cached_property
    def content(self) -> PassageText:
        """What is read of it; one process remembers that of the last short texts."""
        is_short = len(self.title) + len(self.text) <= RECENT_CHARS
        return (_recent_text if is_short else PassageText)(self.title, self.text)

    @cached_property
    def candidates(self) -> tuple["TextLine", ...]:
        """Its title and sentences, each with its tokens."""
        return tuple(_candidates(self))


@frozen
class Sentence:
    """A sentence of an answer, with the numbers of the passages that hold it."""

    text: str
    numbers: tuple[int, ...]


@frozen
class TextLine:
    """A sentence with its own tokens, and the tokens of its title, lead and predecessors."""

    text: str
    tokens: frozenset[str]
    context: frozenset[str]
    place: int
    """0 for the title, from 1 on for sentences."""
    passage: Passage
    language: str | None
    score: float = 0.0

    @property
    def order(self) -> tuple[float, float, int, str]:
        """Where it stands: the best first, the newest of equals."""
        at = self.passage.at.timestamp() if self.passage.at else 0.0
        return -round(self.score * 10), -at, self.place, self.text


def select(question: str, passages: Sequence[Passage], now: datetime) -> tuple[Sentence, ...]:
    """The sentences that answer a question, the best first; none where no passage does.

    `now` is aware; a later date of a passage counts as `now`.
    """
    text = corrected(asking_part(question), passages[:PASSAGES_MAX])
    words = frozenset(split_words(text))
    query = query_of(text)
    if not (query.terms or query.names):
        return ()
    pairs = [(query_of(text, row.content.names & words), row) for row in passages[:PASSAGES_MAX]]
    items = [(own, row) for own, row in pairs if own.names or own.terms]
    items = [(own, _cap_date(row, now)) for own, row in items if _is_relevant(own, row)]
    rows = [(own, line) for own, row in items for line in row.candidates]
    ranking = _scored(rows, ENOUGH)
    if not any(line.score for line in ranking):
        ranking = _scored(_sole(rows), ENOUGH_OF_SOLE)
    hits = sorted((hit for hit in ranking if hit.score > 0), key=lambda hit: hit.order)
    picks = _best(hits, OVERVIEW_MAX if query.kind == "overview" else ANSWER_MAX)
    if query.kind == "why":
        picks += [line for line in ranking if picks and _follows(line, picks[0])]
    return tuple(_sentences(picks, hits))


def _scored(rows: Iterable[tuple[TextQuery, TextLine]], enough: float) -> list[TextLine]:
    """Sentences, each with its score for the question as its text has it."""
    return [evolve(line, score=_score(query, line, enough)) for query, line in rows]


def _sole(rows: Sequence[tuple[TextQuery, TextLine]]) -> list[tuple[TextQuery, TextLine]]:
    """The sentences with a name of the text that has more names of a question than any other.

    Its names say what is asked about, so that it may put the rest in other words, where the
    question asks for a kind of thing that a sentence has or lacks.
    """
    weights = {line.passage.number: sum(n.weight for n in query.names) for query, line in rows}
    most = max(weights.values(), default=0.0)
    best = [number for number, weight in weights.items() if weight == most]
    return [
        (query, line)
        for query, line in rows
        if best == [line.passage.number] and query.kind in ("who", "when", "where", "number")
        if any(name.is_in(line.tokens) for name in query.names)
        if not _names_another(query, line.passage.content)
    ]


def _names_another(query: TextQuery, text: PassageText) -> bool:
    """Whether a question has a word that a text lacks and that may be a name.

    That is what is hardly used; where the text is in another language, what no dictionary has.
    """
    terms = query.terms if query.language == text.language else query.unnamed
    return any(is_strange(term) for term in terms if term not in text.vocabulary)


def nearest_line(question: str, passage: Passage) -> str | None:
    """The sentence of a passage that holds most of a question, whether or not that answers it."""
    text = asking_part(question)
    query = query_of(text, passage.content.names & {*split_words(text)})
    lines = [line for line in passage.candidates if line.place]
    best = max(lines, key=lambda line: word_share(query, line), default=None)
    return best.text if best else None


def corrected(text: str, passages: Sequence[Passage]) -> str:
    """A question with each word that nobody uses as the passages spell it, but for one letter.

    What differs by a letter from a name may be another name, and no word is meant by a name.
    """
    rows = passages if any(map(is_strange, map(fold_case, _STRANGE.findall(text)))) else ()
    plain = {fold_case(w) for row in rows for w in _LOWER.findall(row.text[:TEXT_MAX])}
    places = iter(range(CORRECTED_MAX, 0, -1))
    language = guess(text) or "en"
    usual = stop_words(language)

    def spelling(match: re.Match[str]) -> str:
        word = fold_case(match[0])
        is_wrong = match[0].islower() and is_strange(word) and word not in plain
        is_wrong = is_wrong and not (word in usual or lemmas(word, language))
        is_wrong = is_wrong and next(places, 0) > 0
        return min(filter(partial(is_close, word), plain if is_wrong else ()), default=match[0])

    return _STRANGE.sub(spelling, text)


def _follows(candidate: TextLine, best: TextLine) -> bool:
    """Whether a sentence stands right behind another: reasons follow what happened."""
    return candidate.passage == best.passage and candidate.place == max(best.place, 1) + 1


def _is_relevant(query: TextQuery, passage: Passage) -> bool:
    """Whether a passage holds the names of the question side by side."""
    content = passage.content
    matches = [name.is_in(content.vocabulary) for name in query.names]
    is_lacking = not query.unnamed <= content.vocabulary
    if is_lacking and content.language not in (None, query.language):
        return False  # no translation tells it: a name, which every language writes alike
    if query.kind == "compare":
        return any(matches) or not matches
    if query.kind == "why" and content.language == query.language:
        forms = frozenset().union(*(own for _, own in content.lines))
        if any(forms.isdisjoint({term, *query.meanings[term]}) for term in query.terms):
            return False  # what is taken for granted it does not tell
    runs: dict[int, list[str]] = {}
    for name in query.names:
        runs.setdefault(name.run_number, []).extend(name.spellings[0] * (len(name.spellings) == 1))
    text = f" {' '.join(content.words)} "
    is_whole = all(len(run) < 2 or f" {' '.join(run)} " in text for run in runs.values())
    return all(matches) and (query.is_bare or is_whole)


def asking_part(question: str) -> str:
    """The sentences of a question that ask; orders to an assistant are left out."""
    lines = _ENDS.split(without_markup(question))
    parts = [line for line in lines if not has_expression("order", line)]
    text = " ".join(part for part in parts if part.endswith("?"))
    query = query_of(text)
    return text if query.names or query.terms else " ".join(parts)


def _written_as_names(passage: PassageText) -> frozenset[str]:
    """The folded words of a passage that have capitals within sentences, or digits.

    In German all nouns have: there only words that are hardly used count.
    """
    text = f"{passage.title}.\n{passage.text[:TEXT_MAX]}"
    matches = (*_NAMED.finditer(text), *_PAIRS.finditer(passage.text[:TEXT_MAX]))
    runs = " ".join(match[0] for match in matches)
    lower = set(_LOWER.findall(text))
    firsts = " ".join(w for w in _FIRST.findall(text) if w.lower() not in lower and is_strange(w))
    words = {*split_words(runs), *split_words(firsts)}
    if passage.language == "de":
        words = {word for word in words if is_strange(word)}
    return frozenset(words)


def _cap_date(passage: Passage, now: datetime) -> Passage:
    return passage if passage.at is None or passage.at <= now else evolve(passage, at=now)


# -- reading -----------------------------------------------------------------------------------

_MARKUP = re.compile(
    r"!\[[^\[\]]*\](?:\([^)]{0,500}\)|\[[^\[\]]*\])?|<!--(?:(?!<!--).)*?-->"
    r"|</?[a-zA-Z][^<>]{0,200}>",
    re.S,
)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^)]{0,500}\)")
_MARK = re.compile(r"\[\^?\d[\d,\s–-]*\]|【[^【】]*】|[`|]|<\|[^|>]*\|>")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]{0,30}://|www\.|data:|javascript:)\S+", re.IGNORECASE)


def without_markup(text: str) -> str:
    """A text without markup, addresses, citation marks and invisible characters."""
    bare = _LINK.sub(r"\1", _MARKUP.sub(" ", text))
    bare = _ADDRESS.sub(" ", _MARK.sub(" ", bare))
    if bare.replace("\n", " ").replace("\t", " ").isprintable():  # as most are
        return bare
    return "".join(char for char in bare if char in "\n\t" or unicodedata.category(char)[0] != "C")


def _candidates(passage: Passage) -> Iterator[TextLine]:
    """The title and the sentences of a passage as candidates."""
    language, token_sets = passage.content.language, [own for _, own in passage.content.lines]
    for place, (line, own) in enumerate(passage.content.lines):
        around = {0, 1, *range(max(place - BEFORE, 0), place)}
        beside = frozenset().union(*(token_sets[at] for at in around if at < len(token_sets)))
        is_marked = not place and bool(_MARK.search(passage.title))
        if line and not is_marked and not has_expression("order", line):
            yield TextLine(line, own, own | beside, place, passage, language)


def _tokens(text: str, language: str | None) -> frozenset[str]:
    """The words of a text in all their forms, the pairs of its roots, and its initials."""
    pairs = {f"{first}_{second}" for first, second in pairwise(roots(text, language))}
    forms = (_forms(word, language) for word in split_words(text))
    return frozenset(pairs).union(_initials(text), *map(groups, pairs), *forms)


@lru_cache(WORDS_MAX)
def _forms(word: str, language: str | None) -> frozenset[str]:
    """A word, its term, root and lemmas, and the lists of words that mean the same."""
    forms = {word} if word in stop_words(language) else {word, term_of(word), word_root(word)}
    return related_keys(word, term_of(word), language).union(forms, *map(groups, forms))


def _initials(text: str) -> Iterator[str]:
    """The initials of adjacent capitalised words, with and without the first."""
    firsts = "".join(word[0] if word[0].isupper() else " " for word in _TOKEN.findall(text))
    for run in firsts.split():
        yield from (fold_case(run[at:]) for at in (0, 1) if len(run) > at + 1)


# -- judging -----------------------------------------------------------------------------------


def _score(query: TextQuery, candidate: TextLine, enough: float) -> float:
    """How well a sentence answers, from 0, where it does not; `enough` is the least share of the
    terms' weight beside names.
    """
    if not (_is_named(query, candidate) and _is_of_time(query, candidate)):
        return 0.0
    matches = {term: _match(term, candidate, query) for term in query.terms}
    subject = sum(query.terms[term] * share for term, share in matches.items())
    is_lost = query.is_bare and not all(matches.values())
    least = _share_min(query, enough)
    is_wide = query.names or query.kind in ("compare", "overview")
    is_little = not is_wide and sum(map(bool, matches.values())) < 2
    if is_lost or is_little or subject < least * sum(query.terms.values()):
        return 0.0
    fit = _fit(query, candidate)
    share = subject / sum(query.terms.values()) if query.terms else 1.0
    if least == 0:
        share = (1 + share) / 2
    is_focussed = [matches[term] >= OTHER_WORD for term in query.focus]
    is_told = subject >= LONE * sum(query.terms.values())
    is_strict = query.asks_count or (query.asks_doer and not is_told)
    if is_strict and is_focussed and not any(is_focussed):
        return 0.0
    focus = 1.0 if any(is_focussed) or not is_focussed else LACKING
    return fit * share * focus * _clarity(candidate)


def word_share(query: TextQuery, candidate: TextLine) -> float:
    """The share of the question's weight that a sentence and what is near it hold."""
    matches = (number * _match(term, candidate, query) for term, number in query.terms.items())
    return sum(matches) / sum(query.terms.values()) if query.terms else 1.0


def may_answer(query: TextQuery, candidate: TextLine) -> bool:
    """Whether no name, year or kind of answer that a sentence lacks rules it out."""
    is_open = _is_named(query, candidate) and _is_of_time(query, candidate)
    return is_open and _is_relevant(query, candidate.passage) and _fit(query, candidate) > 0


def _is_named(query: TextQuery, candidate: TextLine) -> bool:
    """Whether no name of the question is far from a sentence; of those compared one may be."""
    matches = [name.is_in(candidate.context) for name in query.names]
    return all(matches) or (query.kind == "compare" and any(matches))


def _share_min(query: TextQuery, enough: float) -> float:
    if query.kind in ("overview", "compare") and query.names:
        return 0.0
    return enough if query.names else LONE


def _match(term: str, candidate: TextLine, query: TextQuery) -> float:
    """How far a sentence holds a term or a synonym, 0..1."""
    if term in candidate.tokens:
        return 1.0
    is_cost = query.asks_sum and groups(term) & groups(word_root("cost"))
    if is_cost and has_expression("money", candidate.text):
        return OTHER_WORD
    others = query.meanings[term]
    if not others.isdisjoint(candidate.tokens):
        return OTHER_WORD
    if term in candidate.context:
        return NEARBY
    return 0.0 if others.isdisjoint(candidate.context) else NEARBY * OTHER_WORD


def _is_of_time(query: TextQuery, candidate: TextLine) -> bool:
    """Whether a sentence is of the years and months that are asked for."""
    at = candidate.passage.at
    if query.years:
        years = set(_YEAR.findall(candidate.text))
        own = years or {str(at.year if at else "")}
        if own.isdisjoint(query.years):
            return False
    if not query.months:
        return True
    months = months_in(candidate.text) or {at.month if at else 0}
    return not months.isdisjoint(query.months)


def _clarity(candidate: TextLine) -> float:
    """How well a sentence is understood alone, and how likely it leads the news."""
    lead = {0: 0.95, 1: 1.05}.get(candidate.place, 1.0)
    is_bound = candidate.place and is_anaphoric(candidate.text, candidate.language)
    return lead * (0.85 if is_bound else 1.0)


def _fit(query: TextQuery, candidate: TextLine) -> float:
    """Whether a sentence holds the kind of thing that is asked for; 0 where it must."""
    if query.kind == "who":
        return float(_names_other(query, candidate.text) and _is_role_of(query, candidate))
    if query.kind == "number":
        is_same = query.decimals <= {*DECIMAL.findall(candidate.text)}
        is_measure = not query.measure or has_measure(query.measure, candidate.text)
        is_sum = not query.asks_sum or _is_sum(candidate.text)
        return float(is_same and is_measure and is_sum and _counts(query, candidate))
    if query.kind == "where":
        is_named = _names_other(query, candidate.text, places=True)
        signs = is_named + has_expression("placed", candidate.text)
        return (0.0, LACKING, 1.0)[signs]
    if query.kind == "when":
        is_dated = has_expression("dated", candidate.text) or months_in(candidate.text)
        is_done = not query.terms or _match([*query.terms][-1], candidate, query)
        return 1.0 if is_dated else LACKING * bool(candidate.passage.at and is_done)
    return LACKING if query.kind == "why" and not has_expression("cause", candidate.text) else 1.0


def _is_sum(text: str) -> bool:
    """Whether a text holds money, or a share by which money changes."""
    return has_expression("money", text) or has_measure("share", text)


def _names_other(query: TextQuery, text: str, *, places: bool = False) -> bool:
    """Whether a sentence names a person or, with `places`, a place that the question does not."""
    if query.kind == "who" and not query.terms:
        return True
    for run in capital_runs(text):
        whole = " ".join(run.words)
        for part in run.readings() if run.is_title else _PARTS.split(whole):
            is_sure = run.is_telling or " " in part or is_place(part) or is_strange(part)
            tokens = set(split_words(part))
            is_other = not all(map(is_role, tokens)) and query.name_words.isdisjoint(tokens)
            if is_sure and is_other and (places or not is_place(part)):
                return True
    return False


def _is_role_of(query: TextQuery, candidate: TextLine) -> bool:
    """Whether an office stands near a name, and near the organisation that the question names."""
    if query.role is None:
        return True
    tokens = [word[0] for word in _TOKEN.finditer(candidate.text)]
    offices = [at for at, word in enumerate(tokens) if is_role(fold_case(word))]
    owners = [at for at, word in enumerate(tokens) if fold_case(word) in query.name_words]
    others = {*owners, *offices}
    holders = [at for at, word in enumerate(tokens) if word[0].isupper() and at not in others]
    return any(_is_near(office, holders) and _is_near(office, owners) for office in offices)


def _counts(query: TextQuery, candidate: TextLine) -> bool:
    """Whether a number stands there that is neither a date nor in the question."""
    tokens = ["", *_TOKEN.findall(fold_case(candidate.text)), ""]
    return any(
        is_number(word) and not (_YEAR.fullmatch(word) or month_of(before) or month_of(after))
        for before, word, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if word and word not in query.words
    )


def _is_near(at: int, places: Sequence[int]) -> bool:
    return not places or any(abs(at - place) <= _REACH for place in places)


# -- choosing ----------------------------------------------------------------------------------


def _best(candidates: Sequence[TextLine], limit: int) -> list[TextLine]:
    """The best candidates: no two alike, and no title beside a sentence of its text."""
    least = CLOSE * max((candidate.score for candidate in candidates), default=0.0)
    close = [candidate for candidate in candidates if candidate.score >= least]
    picks: list[TextLine] = []
    for candidate in close:
        is_new = candidate.place or all(k.passage != candidate.passage for k in close if k.place)
        if len(picks) < limit and is_new and not any(_alike(candidate, k) for k in picks):
            picks.append(candidate)
    return picks


def _sentences(picks: Iterable[TextLine], candidates: Sequence[TextLine]) -> Iterator[Sentence]:
    """Each sentence once, with the numbers of all passages that hold it."""
    for text, candidate in {pick.text: pick for pick in picks}.items():
        numbers = {match.passage.number for match in candidates if match.text == text}
        yield Sentence(text, tuple(sorted(numbers | {candidate.passage.number})))


def _alike(first: TextLine, second: TextLine) -> bool:
    """Whether two sentences say the same: they share most terms and all numbers."""
    common, union = first.tokens & second.tokens, first.tokens | second.tokens
    numbers = {word for word in first.tokens ^ second.tokens if is_number(word)}
    return len(common) >= ALIKE * len(union) and not numbers
