"""Which items are about the subject, and how much.

Rule 1: an item is judged by where the subject stands in it (headline, beginning, body), not only by
whether its words occur: a single passing word never selects.
Rule 2: the judgement needs the candidates alone; no store, no other tenant.
Rule 3: an item that is selected answers one whole clause of the query, or a keyword by itself.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import log

from attrs import frozen

from svc_core.analysis.asking import is_given_name
from svc_core.analysis.concepts import concepts, country_concept, is_known
from svc_core.analysis.entities import is_city
from svc_core.analysis.evidence import Evidence, Reading, read
from svc_core.analysis.query import Query
from svc_core.analysis.units import Group, Unit, generic_terms

SINGLE_MIN = 0.6  # one subject: in the headline, at the start of the lead, or again and again
CLAUSE_MIN = 0.5  # several subjects: mean place of all of them
PARTIAL_MIN = 0.65  # the same where a word is absent
KEYWORD_MIN = 0.9  # a keyword selects by itself from the headline only
_ADVERTISEMENT = re.compile(
    r"\s*(?:sponsor(?:ed)?|advertisement|advertorial|anzeige|[\w-]+-angebot|publicité|publireportaje)\s*[:|-]",
    re.IGNORECASE,
)
_MANY, _FEW_SHARE, _MANY_SHARE = 6, 4, 3  # one in four words may be absent, of many a third

_TITLE, _LEAD, _LEAD_TAIL, _BODY, _TOPIC = 1.0, 0.75, 0.55, 0.35, 0.65
_LEAD_TERMS = 12
_INFLECTED_MIN = 6
_PAIR = 2
_CODE_LENGTH = 2  # ISO 3166-1 alpha-2
_SURNAME_MIN = 3  # letters
_SURNAME_SHARE, _KNOWN_SHARE = 0.6, 0.34  # of the items with it that have the whole name
_ENDINGS = frozenset(("n", "s", "e", "en", "es", "er", "em", "in", "a", "o", "i"))
_REPEAT, _REPEATS_MAX = 0.12, 3
_BM25_K1, _BM25_B, _BM25_TITLE = 1.2, 0.75, 3.0


@frozen
class Scored:
    """A selected item: its reading and a score, 0..1."""

    reading: Reading
    score: float

    @property
    def evidence(self) -> Evidence:
        """The item itself."""
        return self.reading.evidence


def readings(evidence: Iterable[Evidence]) -> list[Reading]:
    """The readings of some items, by id; of those with one id the first in canonical order."""
    unique: dict[str, Evidence] = {}
    for item in sorted(evidence, key=lambda one: (one.id, one.title, one.text)):
        unique.setdefault(item.id, item)
    return [read(item) for item in unique.values()]


def choose(query: Query, held: Sequence[Reading]) -> list[Scored]:
    """The items that are about the query, best first; ties by newest, then id.

    Advertisements are never chosen. Linear in the number of items.
    """
    held = [reading for reading in held if not _ADVERTISEMENT.match(reading.evidence.title)]
    views = [_View(reading) for reading in held]
    units = (*query.units, *query.excluded)
    forms = _forms(units, views)
    places = [{unit: _place(unit, forms[unit], view) for unit in units} for view in views]
    bonus = _bm25(query.units, forms, views)
    found = [
        Scored(view.reading, round(0.8 * score + 0.2 * extra, 6))
        for view, place, extra in zip(views, places, bonus, strict=True)
        if (score := _judge(query, place, view)) > 0.0
    ]
    return sorted(found, key=_order)


def _order(scored: Scored) -> tuple[float, float, str]:
    return (-scored.score, -scored.evidence.at.timestamp(), scored.evidence.id)


class _View:
    """Sets over a reading, made once for all the units."""

    __slots__ = ("body", "countries", "home", "lead", "lead_start", "reading", "title")

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.title = frozenset((*reading.title_terms, *reading.title_concepts))
        self.lead = frozenset((*reading.lead_terms, *reading.lead_concepts))
        self.body = frozenset((*reading.body_terms, *reading.body_concepts))
        start = reading.lead_terms[:_LEAD_TERMS]
        self.lead_start = frozenset((*start, *concepts(start)))
        self.countries = frozenset(
            name
            for name in (*reading.title_concepts, *reading.body_concepts)
            if name.startswith("qqc")
        )
        self.home = _home(reading.evidence)


def _home(evidence: Evidence) -> frozenset[str]:
    """The country that a source writes from, by its language's region and its domain's ending."""
    region = (evidence.language or "").replace("_", "-").partition("-")[2].casefold()
    ending = evidence.source_domain.rpartition(".")[2].casefold()
    codes = {region, "gb" if ending == "uk" else ending}
    return frozenset(country_concept(code) for code in codes if len(code) == _CODE_LENGTH)


@frozen
class _Form:
    """How a unit may stand in the candidates: single terms and concepts, and runs of terms."""

    singles: frozenset[str]
    runs: tuple[tuple[str, ...], ...]


def _forms(units: Sequence[Unit], views: Sequence[_View]) -> Mapping[Unit, _Form]:
    vocabulary = {term for view in views for term in (*view.title, *view.body)}
    return {unit: _form(unit, vocabulary, _surname(unit, views)) for unit in units}


def _surname(unit: Unit, views: Sequence[_View]) -> set[str]:
    """The last word of a name where it mostly stands for that name in these items."""
    run = unit.runs[0]
    last = run[-1]
    plain = unit.concepts or not unit.is_name or len(run) < 2 or len(last) < _SURNAME_MIN
    if plain or last in generic_terms() or is_known((last,)):
        return set()
    bearing = [view.reading for view in views if last in view.title or last in view.body]
    whole = sum(
        _runs(run, reading.title_terms) + _runs(run, reading.body_terms) > 0 for reading in bearing
    )
    least = _KNOWN_SHARE if is_given_name(unit.label.split()[0]) else _SURNAME_SHARE
    return {last} if whole > 1 and whole >= least * len(bearing) else set()


def _form(unit: Unit, vocabulary: set[str], surname: set[str]) -> _Form:
    singles = {run[0] for run in unit.runs if len(run) == 1}
    inflected = {
        word
        for single in singles
        if len(single) >= _INFLECTED_MIN and single.isalpha()
        for word in vocabulary
        if word.startswith(single) and word[len(single) :] in _ENDINGS
    }
    return _Form(
        frozenset(singles | inflected | surname | unit.concepts),
        tuple(run for run in unit.runs if len(run) > 1),
    )


# --- where a unit stands ------------------------------------------------------------------------


def _place(unit: Unit, form: _Form, view: _View) -> float:
    """0 where the unit is absent, 1 in the headline, between by place and repetition."""
    reading = view.reading
    if _stands(form, view.title, reading.title_terms) or _parted(unit, view):
        return _TITLE
    value = _TOPIC if unit.topics & set(reading.evidence.topics) else 0.0
    if _stands(form, view.lead_start, reading.lead_terms[:_LEAD_TERMS]):
        value = max(value, _LEAD)
    elif _stands(form, view.lead, reading.lead_terms):
        value = max(value, _LEAD_TAIL)
    elif _stands(form, view.body, reading.body_terms):
        value = max(value, _BODY)
    else:
        return value
    more = min(_mentions(form, reading) - 1, _REPEATS_MAX)
    return min(value + _REPEAT * more, 0.95)


def _stands(form: _Form, terms: frozenset[str], sequence: Sequence[str]) -> bool:
    return not form.singles.isdisjoint(terms) or any(
        run[0] in terms and _runs(run, sequence) for run in form.runs
    )


def _parted(unit: Unit, view: _View) -> bool:
    """Whether a headline has both words of a pair of names, though apart ("Lyon Zorblatt fire")."""
    run = unit.runs[0]
    telling = not any(term in generic_terms() or is_known((term,)) for term in run)
    return unit.is_name and len(run) == _PAIR and telling and view.title.issuperset(run)


def _runs(run: tuple[str, ...], sequence: Sequence[str]) -> int:
    size = len(run)
    return sum(tuple(sequence[at : at + size]) == run for at in range(len(sequence) - size + 1))


def _mentions(form: _Form, reading: Reading) -> int:
    words = sum(term in form.singles for term in reading.body_terms)
    named = sum(term in form.singles for term in reading.body_concepts)
    return max(words, named, 1)


# --- the judgement ------------------------------------------------------------------------------


def _judge(query: Query, place: Mapping[Unit, float], view: _View) -> float:
    """The score of an item that is about the query, else 0."""
    if any(place[unit] >= _LEAD for unit in query.excluded):
        return 0.0
    clauses = [_clause(clause, place, view) for clause in query.clauses]
    keywords = [_chunk(chunk, place) for chunk in query.keywords]
    best = max((value for value in keywords if value >= KEYWORD_MIN), default=0.0)
    return max([*clauses, best])


def _clause(groups: Sequence[Group], place: Mapping[Unit, float], view: _View) -> float:
    """How well an item answers a clause: the weighted mean place of its units, or 0.

    A clause of many words, or with its name in the headline, may be answered with a few of them
    absent, never a name.
    """
    told = _asked([_best(group, place) for group in groups])
    absent = [unit for unit in told if place[unit] <= 0 and not _is_host(unit, told, place)]
    heads = [unit for unit in told if not unit.is_generic]
    sure = all(place[unit] >= _TITLE and not unit.is_name for unit in heads)
    missing = [unit for unit in absent if not unit.is_place and not (sure and unit.is_generic)]
    headed = any(unit.is_name and not unit.is_place and place[unit] >= _TITLE for unit in told)
    few = _MANY_SHARE if headed or len(told) >= _MANY else _FEW_SHARE
    if len(missing) * few > len(told) or any(unit.is_name for unit in missing):
        return 0.0
    unsaid = [unit for unit in absent if unit.is_place]
    if any(not _is_implied(unit, len(groups), view) for unit in unsaid):
        return 0.0
    told = [u for u in told if u not in unsaid and not _is_host(u, told, place)]
    total = sum(unit.weight for unit in told)
    score = sum(unit.weight * place[unit] for unit in told) / total
    best = max(place[unit] for unit in told)
    if len(told) == 1:
        return score if score >= SINGLE_MIN else 0.0
    least = PARTIAL_MIN if missing else CLAUSE_MIN
    return score if score >= least and best >= _LEAD else 0.0


def _asked(chunks: Sequence[Sequence[Unit]]) -> list[Unit]:
    """The units that an item has to answer: a lone common word only where little else is asked."""
    telling = [chunk for chunk in chunks if any(not u.is_generic or u.concepts for u in chunk)]
    subjects = [unit for chunk in telling for unit in chunk if not unit.is_place]
    return [unit for chunk in (telling if len(subjects) >= 2 else chunks) for unit in chunk]


def _is_host(unit: Unit, told: Sequence[Unit], place: Mapping[Unit, float]) -> bool:
    """Whether a city only tells which games are asked for, and the item need not name it."""
    games = any("qqsolympics" in other.concepts and place[other] >= _LEAD for other in told)
    return games and place[unit] <= 0 and not unit.concepts and is_city(unit.label)


def _is_implied(unit: Unit, groups: int, view: _View) -> bool:
    """Whether a place may go unsaid: no country is named, and it is wide, one of many or home."""
    wide = any(name.startswith("qqr") for name in unit.concepts)
    home = not unit.concepts.isdisjoint(view.home)
    return not view.countries and (wide or home or groups > 2)


def _best(group: Group, place: Mapping[Unit, float]) -> list[Unit]:
    """The telling units of the alternative that the item answers best."""
    return max((_telling(chunk) for chunk in group.chunks), key=lambda units: _mean(units, place))


def _mean(units: Sequence[Unit], place: Mapping[Unit, float]) -> float:
    return sum(unit.weight * place[unit] for unit in units) / sum(unit.weight for unit in units)


def _telling(chunk: Sequence[Unit]) -> list[Unit]:
    """The units of a chunk that matter: generic ones only where names alone would be left."""
    telling = [unit for unit in chunk if not unit.is_generic] or list(chunk)
    if all(unit.is_name for unit in telling):
        telling += [unit for unit in chunk if unit.is_generic and unit.concepts]
    return telling


def _chunk(chunk: Sequence[Unit], place: Mapping[Unit, float]) -> float:
    """The mean place of a keyword's units; 0 when one that matters is absent."""
    telling = _telling(chunk)
    return _mean(telling, place) if all(place[unit] > 0 for unit in telling) else 0.0


# --- BM25 ---------------------------------------------------------------------------------------


def _bm25(
    units: Sequence[Unit], forms: Mapping[Unit, _Form], views: Sequence[_View]
) -> list[float]:
    """BM25 of each item over the units, headline counted three times, scaled to 0..1."""
    counts = [[_frequency(forms[unit], view.reading) for unit in units] for view in views]
    lengths = [len(view.reading.body_terms) + len(view.reading.title_terms) + 1 for view in views]
    mean = sum(lengths) / max(len(lengths), 1)
    held = [sum(row[at] > 0 for row in counts) for at in range(len(units))]
    rarity = [log(1 + (len(views) - df + 0.5) / (df + 0.5)) for df in held]
    raw = [
        sum(
            unit.weight
            * rarity[at]
            * row[at]
            * (_BM25_K1 + 1)
            / (row[at] + _BM25_K1 * (1 - _BM25_B + _BM25_B * length / mean))
            for at, unit in enumerate(units)
        )
        for row, length in zip(counts, lengths, strict=True)
    ]
    most = max(raw, default=0.0)
    return [value / most if most > 0 else 0.0 for value in raw]


def _frequency(form: _Form, reading: Reading) -> float:
    title = sum(term in form.singles for term in (*reading.title_terms, *reading.title_concepts))
    body = sum(term in form.singles for term in (*reading.body_terms, *reading.body_concepts))
    runs_title = sum(_runs(run, reading.title_terms) for run in form.runs)
    runs_body = sum(_runs(run, reading.body_terms) for run in form.runs)
    return _BM25_TITLE * (title + runs_title) + body + runs_body
