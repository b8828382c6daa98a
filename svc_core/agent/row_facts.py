"""Turns rows into English sentences by a table of templates over their members (`facts.tsv`).

Rule 1: a sentence says nothing that its row does not; one whose members are missing is left out.
Rule 2: words of rows are data: they are quoted, in one line, and cannot look like a citation, a
        link or a picture.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from itertools import product
from typing import Any

from attrs import frozen

from svc_core import data
from svc_core.agent import times
from svc_core.agent.agent_ports import ToolHit
from svc_core.agent.passages import without_markup
from svc_core.agent.text_query import has_expression
from svc_core.text.words import split_words, term_of

Row = Mapping[str, Any]
Phrase = tuple[str, ...]

_MEMBER = re.compile(r"\{([^{}|]+)(?:\|([^{}]+))?\}")
_OPTIONAL = re.compile(r"<([^<>]*)>")
_MARKS = str.maketrans("[]<>`“”", "()‹›'‘’")
_READ_MAX, _TEXT_MAX, _LISTED_MAX = 2_000, 400, 16
_DIGITS_MAX = 6  # behind the point, beyond which a number is rounded
_ENDING_MAX = 4  # letters in which forms of a word differ; compounds differ in more
_WHOLE_MAX = 1e15  # beyond it a float is no exact number


@frozen
class CitedSentence:
    """A sentence of an answer, without its full stop, and the hits that support it."""

    text: str
    hits: tuple[ToolHit, ...]


@frozen
class Fact:
    """One fact that a kind of row may state; rows are compared by the member `number`."""

    name: str
    cues: frozenset[Phrase]
    template: str
    number: str

    def sentence(self, row: Row) -> str | None:
        """The sentence about a row; None where the row lacks a member of it."""
        try:
            parts = enumerate(_OPTIONAL.split(self.template))
            texts = (_optional(part, row) if at % 2 else _fill(part, row) for at, part in parts)
            return "".join(texts).replace(" %", "%")
        except LookupError:
            return None


def phrase(text: str) -> Phrase:
    """The words of a text in the form in which cues are compared."""
    return tuple(map(term_of, split_words(text)))


def cue_of(text: str) -> Phrase:
    """The words of a cue, as questions have them: those of time in English."""
    return phrase(times.in_english(text))


@cache
def _cue_words() -> Mapping[str, set[str]]:
    """The whole words of all cues by their terms."""
    tables = ("facts.tsv", "questions.tsv", "code_names.tsv")
    rows = [row[2] for name in tables for row in data.table_rows(name)]
    words: dict[str, set[str]] = {}
    for word in split_words(" ".join(rows)):
        words.setdefault(term_of(word), set()).add(word)
    return words


def is_cue(word: str) -> bool:
    """Whether a word stands in a cue as it is."""
    return word in _cue_words().get(term_of(word), ())


@lru_cache(4_096)
def cue_term(word: str) -> str:
    """The term of a word that differs from a cue by an ending alone; else the word itself."""
    term = term_of(word)
    cues = _cue_words().get(term, set())
    sizes = (max(len(word), len(cue)) - _ENDING_MAX for cue in cues)
    is_form = any(word[:size] == cue[:size] for cue, size in zip(cues, sizes, strict=True))
    return term if is_form else word


def is_run_of(part: Phrase, whole: Phrase) -> bool:
    """Whether the words of one phrase stand side by side in another."""
    size = len(part)
    return any(whole[at : at + size] == part for at in range(len(whole) - size + 1))


@lru_cache(64)
def _short_runs(words: Phrase) -> frozenset[Phrase]:
    """The words that stand side by side in a phrase, as many as a cue has."""
    size_max = max(len(cue) for _, fact in _facts() for cue in fact.cues)
    pairs = product(range(len(words) + 1), range(size_max + 1))
    return frozenset(words[start : start + size] for start, size in pairs)


@cache
def _facts() -> tuple[tuple[str, Fact], ...]:
    """The facts of the table, each with a kind of row that may state it."""
    return tuple(
        (kind, Fact(name, frozenset(map(cue_of, cues.split("|"))), template, number))
        for kinds, name, cues, template, number in data.table_rows("facts.tsv")
        for kind in kinds.split(",")
    )


@cache
def facts_of(kind: str) -> tuple[Fact, ...]:
    """The facts that rows of a kind may state, in the order of the table."""
    return tuple(fact for row_kind, fact in _facts() if row_kind == kind)


@cache
def compared_members() -> tuple[tuple[str, str, Phrase], ...]:
    """The members that rows of a kind are compared by, but dates, with each cue of theirs."""
    rows = ((kind, fact) for kind, fact in _facts() if fact.number and not fitting([fact], "when"))
    return tuple((kind, fact.number, cue) for kind, fact in rows for cue in fact.cues if cue)


@cache
def cue_words(kind: str = "") -> frozenset[str]:
    """The terms that ask for a fact by themselves, of a kind of row or of any."""
    cues = (cue for row_kind, fact in _facts() if kind in ("", row_kind) for cue in fact.cues)
    return frozenset(cue[0] for cue in cues if len(cue) == 1)


def fitting(facts: Iterable[Fact], kind: str) -> list[Fact]:
    """The facts that state what a word asks for: a date for "when", a place for "where"."""
    return [fact for fact in facts if has_expression(f"fits_{kind}", fact.template)]


def best_asked(facts: Sequence[Fact], question: Phrase, generic: frozenset[Phrase]) -> list[Fact]:
    """The facts but those of which a question has only some of the cues that another one has."""
    cues = {f: (f.cues - generic) & _short_runs(question) for f in facts}
    return [fact for fact in facts if not any(cues[fact] < other for other in cues.values())]


@frozen
class FactQuery:
    """The facts that a question asks for, and the words that ask for them.

    `is_plain` where only general words such as "what" or "when" ask.
    """

    facts: tuple[Fact, ...]
    cues: frozenset[str]
    is_plain: bool


def query_facts(kind: str, question: Phrase, generic: frozenset[Phrase]) -> FactQuery:
    """The facts of a kind that a question asks for; general words count where no other does.

    The words of a longer cue are none of their own: "EPSS score" asks for no other score.
    """
    fact_list = facts_of(kind)
    cues = {fact: fact.cues & _short_runs(question) for fact in fact_list}
    every = [cue for row in cues.values() for cue in row]
    silent = {cue for cue in every if any(cue != o and is_run_of(cue, o) for o in every)} | generic
    specific = {fact: [cue for cue in row if cue not in silent] for fact, row in cues.items()}
    is_plain = not any(specific.values())
    picks = {fact: cues for fact, cues in (cues if is_plain else specific).items() if cues}
    words_ = frozenset(word for fact in picks for cue in fact.cues for word in cue)
    return FactQuery(tuple(picks), words_, is_plain)


def row_sentences(
    kinds: Sequence[Fact], hit: ToolHit, *, is_counted: bool = False
) -> list[CitedSentence]:
    """The sentences that state these facts of a hit, where `is_counted` with how many they name."""
    texts = {text: fact for fact in kinds if (text := fact.sentence(hit.row))}
    counts = {text: hit.row.get(fact.number) for text, fact in texts.items() if is_counted}
    lists = {text: f", {_size(r)} in all" for text, r in counts.items() if isinstance(r, list)}
    return [CitedSentence(text + lists.get(text, ""), (hit,)) for text in texts]


# -- members -----------------------------------------------------------------------------------


def member(row: Any, path: str) -> Any:
    """The value at a path of a row; in a list the item of that name, or all items in brackets.

    Raises:
        LookupError: there is none, or it is null.
    """
    names, _, columns = path.partition("[")
    value = row
    for name in filter(None, names.split(".")):
        value = _member_part(value, name)
    if columns:
        return [_join(item, columns.rstrip("]").split()) for item in value or ()]
    if value is None or value == "":
        raise LookupError(path)
    return value


def _member_part(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    if not isinstance(value, list | tuple):
        raise LookupError(name)
    if name.isdigit():
        return value[int(name)]
    items = (item for item in value if isinstance(item, Mapping))
    return next(
        item for item in items if name in {item.get(key) for key in ("metric", "scheme", "kind")}
    )


def _join(value: Any, names: Sequence[str]) -> str:
    parts = (str(value[name]) for name in names if value.get(name))
    return " ".join(dict.fromkeys(parts))


def member_or_none(row: Row, path: str) -> Any:
    """The member that rows are compared by, of a list its length; None where the row has none."""
    try:
        content = member(row, path)
    except (LookupError, StopIteration):
        return None
    return _size(content) if isinstance(content, list | tuple) else content


def _size(items: Iterable[Any]) -> int:
    """How many different items a list names; several sources may give the same name."""
    names = (item.get("name", item) if isinstance(item, Mapping) else item for item in items)
    return len(set(map(str, names)))


# -- writing -----------------------------------------------------------------------------------


def quote_text(text: str) -> str:
    """Text of a row as part of a sentence: one line without markup, cut short."""
    line = " ".join(without_markup(text[:_READ_MAX]).translate(_MARKS).split())
    return line if len(line) <= _TEXT_MAX else line[:_TEXT_MAX].rsplit(" ", 1)[0] + " …"


def _fill(part: str, row: Row) -> str:
    return _MEMBER.sub(lambda match: _render(row, match), part)


def _optional(part: str, row: Row) -> str:
    try:
        return _fill(part, row)
    except LookupError:
        return ""


def _render(row: Row, match: re.Match[str]) -> str:
    path, form = match[1], match[2] or ""
    if form in ("null", "empty"):
        return _absent(row, path, form)
    try:
        value = member(row, path)
    except StopIteration:
        raise LookupError(path) from None
    return _FORMS.get(form, _plain)(value)


def _absent(row: Row, path: str, form: str) -> str:
    """The empty text, where a member is expected to be null or empty."""
    content = row.get(path, ...)
    if content is None if form == "null" else content == []:
        return ""
    raise LookupError(path)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping | list | tuple):
        items = value.values() if isinstance(value, Mapping) else value
        return english_list([_plain(item) for item in dict.fromkeys(map(str, items)) if item])
    return figure(value) if isinstance(value, int | float) else quote_text(str(value))


def english_list(texts: Sequence[str]) -> str:
    """Texts joined as English lists them: "a, b and c".

    Raises:
        LookupError: there are none.
    """
    if not texts:
        raise LookupError("nothing")
    rest = len(texts) - _LISTED_MAX
    items = [*texts[:_LISTED_MAX], f"{rest} others"] if rest > 0 else list(texts)
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def count_noun(number: int, noun: str) -> str:
    """A count with its noun in the singular or plural: "no incidents", "1 entity"."""
    noun, _, rest = noun.partition(" of ")
    plural = re.sub("(?<=[^aeiou])y$", "ie", noun) + "s"
    scope = f" of {rest}" if rest else ""
    return f"{f'{number:,}' if number else 'no'} {noun if number == 1 else plural}{scope}"


def figure(value: float) -> str:
    """A number with thousands separators, in billions or millions too where that loses nothing.

    What has more than six digits behind the point is rounded to two, or to three that count.
    """
    for name, size in (("billion", 10**9), ("million", 10**6)):
        if abs(value) >= size and value * 1_000 % size == 0:
            short = f"{value / size:,.3f}".rstrip("0").rstrip(".")
            return f"{int(value):,} ({short} {name})"
    if isinstance(value, float) and len(repr(value).partition(".")[2]) > _DIGITS_MAX:
        value = round(value, 2) if abs(value) >= 1 else float(f"{value:.3g}")
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_MAX
    return f"{int(value) if is_whole else value:,}"


def _versions(value: Any) -> str:
    texts = [
        f"{item.get('product') or ''} {_range(version)}".strip()
        for item in value
        for version in item.get("versions", ())
        if version.get("status") == "affected" and version.get("version")
    ]
    return english_list([quote_text(text) for text in dict.fromkeys(texts)])


def _range(version: Mapping[str, Any]) -> str:
    last, beyond = version.get("lessThanOrEqual"), version.get("lessThan")
    end = f" before {beyond}" if beyond else f" up to {last}" if last else ""
    return f"{version['version']}{end}"


def _point(value: Any) -> str:
    if value["type"] != "Point":
        raise LookupError("point")
    longitude, latitude = value["coordinates"][:2]
    return f"{latitude} (latitude), {longitude} (longitude)"


_UNITS = {"[nmi_i]2": "square nautical miles", "km2": "km²", "m2": "m²", "[acr_us]": "acres",
          "har": "hectares", "[kn_i]": "knots", "{share}-1": "per share"}  # fmt: skip


def _unit(value: Any) -> str:
    if value == "1":  # of a bare number
        raise LookupError("unit")
    text = _UNITS.get(str(value)) or quote_text(str(value))
    return f"{text[1:-1]}s" if text.startswith("{") else text


def _article(value: Any) -> str:
    name = in_words(str(value))
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def _place(value: Any) -> str:
    """The name of a place, and its country where the name does not say it."""
    code = value.get("countryCode")
    names = [quote_text(member(value, "name")), *([country_name(code)] if code else ())]
    return names[0] if names[-1] in names[0] else ", ".join(names)


def _unless_unknown(value: Any) -> str:
    if value in ("unknown", 0):
        raise LookupError("unknown")
    return _plain(value)


def in_words(name: str) -> str:
    """A camel-case name in words: `threatActor` becomes "threat actor"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "date": lambda value: quote_text(str(value))[:10],
    "time": lambda value: f"{str(value)[:10]} {str(value)[11:16]} UTC",
    "country": lambda value: english_list([country_name(code) for code in _as_list(value)]),
    "percent": lambda value: f"{figure(round(value * 100, 2))}%",
    "versions": _versions,
    "point": _point,
    "unit": _unit,
    "article": _article,
    "known": _unless_unknown,
    "not": lambda holds: "" if holds else "not ",
    "place": _place,
    "words": lambda value: in_words(str(value)),
}


def _as_list(value: Any) -> Sequence[str]:
    return value if isinstance(value, list | tuple) else [value]


@cache
def _countries() -> Mapping[str, str]:
    rows = (row for row in data.table_rows("places.tsv") if row[0] == "country")
    return {row[1]: row[2].split("|")[0] for row in rows}


def country_name(code: str) -> str:
    """The English name of an ISO 3166 code; the code itself where it has none."""
    return _countries().get(code[:2], quote_text(code))


# -- edges of graphs ---------------------------------------------------------------------------


def edge_text(edge: Row, labels: Mapping[str, str]) -> str:
    """An edge of a graph in words: its ends, its type, and what is told of it beside them."""
    members = {**edge["attributes"], "from": edge["validFrom"], "to": edge["validTo"]}
    notes = [f"{in_words(key)} {_plain(members[key])}" for key in members if members[key]]
    text = f"{labels[edge['sourceId']]} – {in_words(edge['type'])} – {labels[edge['targetId']]}"
    return f"{text} ({', '.join(notes[:_LISTED_MAX])})" if notes else text


def edge_numbers(edges: Sequence[Row]) -> list[float]:
    """The number of each edge, such as an amount; none where they measure different things."""
    pairs = [
        ((name, edge["attributes"].get("currency")), number)
        for edge in edges
        for name, number in edge["attributes"].items()
        if isinstance(number, int | float)
    ]
    is_alike = len({measure for measure, _ in pairs}) == 1 and len(pairs) == len(edges)
    return [number for _, number in pairs] if is_alike else []


def edges_within(edges: Sequence[Row], span: times.TimeSpan | None) -> list[Row]:
    """The edges of a time: those that begin in it, else those that last into it or are undated."""
    begun = [edge for edge in edges if span and span.contains(_first_day(edge["validFrom"]))]
    return begun or [edge for edge in edges if span is None or _lasts_into(edge, span)]


def _lasts_into(edge: Row, span: times.TimeSpan) -> bool:
    """A payment without an end is of one day; what else has begun lasts."""
    start = _first_day(edge["validFrom"])
    end = _first_day(edge["validTo"]) or (start if edge["type"] == "paid" else str(date.max))
    return not start or span.contains(start, end)


def _first_day(text: str | None) -> str:
    """The first day of a year or month, as dates are compared."""
    return f"{text}-01-01"[:10] if text else ""


# -- the ledger --------------------------------------------------------------------------------


def beliefs_of(view: ToolHit) -> list[tuple[str, CitedSentence]]:
    """What the ledger believes of a subject: what each belief is about, and its sentence."""
    publishers = {item["id"]: item["source"].get("publisher") for item in view.row["observations"]}
    beliefs = [
        (name, row["candidates"], row["contested"]) for name, row in view.row["claims"].items()
    ]
    codes = [(item["scheme"], [{**item, "support": ()}], False) for item in view.row["designators"]]
    pairs = []
    for name, candidates, is_contested in (*beliefs, *codes):
        values = [_value(row["value"]) for row in candidates]
        notes = (_support(row["support"], publishers) for row in candidates)
        claims = [text + note for text, note in zip(values, notes, strict=True)]
        head = f"The ledger has as {in_words(name)} of {quote_text(view.title)}: "
        text = f"{head}{' or '.join(claims) or 'nothing'}{', which is contested' * is_contested}"
        pairs.append((" ".join((in_words(name), *values)), CitedSentence(text, (view,))))
    return pairs


def _support(claims: Sequence[Row], publishers: Mapping[str, str | None]) -> str:
    """How sure the claims of a value are, from when they hold, and who published them."""
    sure = max((claim["confidence"] or 0 for claim in claims), default=0)
    first = min((claim["validFrom"] for claim in claims if claim["validFrom"]), default="")
    names = dict.fromkeys(publishers.get(id_) for claim in claims for id_ in claim["evidence"])
    by = english_list([quote_text(name) for name in names if name] or [""])
    notes = [("confidence", sure), ("from", first[:10]), ("by", by)]
    text = ", ".join(f"{word} {detail}" for word, detail in notes if detail)
    return f" ({text})" if text else ""


def _value(value: Any) -> str:
    return ", ".join(map(_value, value.values())) if isinstance(value, Mapping) else _plain(value)
