"""Lists that a question asks for: the inputs of the list, the rows that match, and their order."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import frozen

from svc_core import data
from svc_core.agent import row_facts as facts
from svc_core.agent.agent_ports import ToolHit
from svc_core.agent.named_rows import Subject
from svc_core.agent.question import PLACED, ParsedQuestion
from svc_core.agent.row_facts import CitedSentence, country_name, figure, quote_text
from svc_core.agent.text_query import asks_for
from svc_core.text.frequencies import background
from svc_core.text.words import split_words, term_of

_SILENT = frozenset({"sources", "id", "entityId", "url", "sourceUrl", "mergedIds", "imageUrl"})
_SEVERITIES = ("info", "low", "medium", "high", "critical")
_DEFAULTS = {"cve": "score.baseScore", "event": "measurements.magnitude.value",
             "incident": "severity", "signal": "strength"}  # fmt: skip
"""The member that rows are compared by where the question names none."""
UNHELD_MAX = 0.34
"""Share of the weight of a question's words that a row need not account for."""
_STEM = 5  # letters that are compared, so that endings do not matter


Extreme = tuple[str, list[str], list[ToolHit]]
"""The adjective of an extreme, the members that are compared, and the rows that are it."""


@frozen
class ListKind:
    """A kind of row: the tool that lists it, its noun, and the fact that shows a row in one line.

    `date` is the member that a time refers to; `inputs` are those of the list that narrow it.
    """

    tool: str
    noun: str
    line: str
    date: str
    inputs: frozenset[str]


@cache
def row_kinds() -> Mapping[str, ListKind]:
    """The kinds of rows that can be listed, by name."""
    fields = (row[1].split(" ") for row in data.table_rows("questions.tsv") if row[0] == "rows")
    return {
        name: ListKind(tool, noun.replace("+", " "), line, date, frozenset(inputs.split(",")))
        for name, tool, noun, line, date, inputs in fields
    }


@frozen
class ListQuery:
    """A question as a query for the list of one kind of row; `subjects` are rows that it names."""

    question: ParsedQuestion
    kind: str
    subjects: Sequence[Subject] = ()

    @property
    def row_kind(self) -> ListKind:
        """The kind of its rows."""
        return row_kinds()[self.kind]

    @property
    def filters(self) -> dict[str, str]:
        """The inputs that its words mean."""
        pairs = (value[0].partition("=") for value in self.question.values("filter", self.kind))
        skip = "status" if asks_for("when", self.question.words) else ""  # "when does it close"
        return {name: value for name, _, value in pairs if value and name != skip}

    @property
    def terms(self) -> list[str]:
        """The words that matching rows hold."""
        question = self.question
        is_located = bool(self.row_kind.inputs & {"country"})
        skips = question.place_words if is_located else frozenset()
        return [question.words[index] for index in question.free(self.kind) if index not in skips]

    def attempts(self) -> Iterator[tuple[dict[str, Any], frozenset[int], float]]:
        """Arguments for the list, one after another until some rows match, and what they hold.

        The third item is the share of the question's weight that a row need not hold.
        """
        inputs, question = self.row_kind.inputs, self.question
        arguments: dict[str, Any] = self.filters
        if "country" in inputs and question.countries and self.kind not in PLACED:
            is_target = ["targetsCountry="] in question.values("filter", self.kind)
            arguments["targetsCountry" if is_target else "country"] = ",".join(question.countries)
        if "datetime" in inputs and question.span is not None:
            is_open = self.kind in PLACED and question.span.last
            arguments["datetime"] = f"../{is_open}" if is_open else question.span.interval
        hits = (hit for subject in self.subjects for hit in subject.hits)
        ids = [hit.id for hit in hits if hit.row["row"].get("type")]
        if "entityId" in inputs and ids:
            named = frozenset[int]().union(*(subject.words for subject in self.subjects))
            yield {**arguments, "entityId": ",".join(dict.fromkeys(ids))}, named, UNHELD_MAX
        if "vendor" in inputs and self.terms:
            used = frozenset(question.free(self.kind))
            yield {**arguments, "vendor": " ".join(self.terms)}, used, UNHELD_MAX
        words = " ".join(word for word in self.terms if not word.isdigit())[:300]
        has_query = bool("q" in inputs and words)
        yield {**arguments, **({"q": words} if has_query else {})}, frozenset(), UNHELD_MAX
        members, free = facts.cue_words(self.kind), question.free(self.kind)
        cues = frozenset(at for at in free if question.phrase[at] in members)
        if has_query and (cues or (self.filters and asks_for("who", question.words))):
            yield arguments, cues, 0.0  # words that the names of rows do not hold

    # -- rows ----------------------------------------------------------------------------------

    def matches(
        self, rows: Iterable[ToolHit], used: frozenset[int], unheld_max: float
    ) -> list[ToolHit]:
        """The rows that match; the list was narrowed by the words at `used`."""
        question = self.question
        skips = used | (question.place_words if self.row_kind.inputs & {"country"} else frozenset())
        terms = question.terms_of(i for i in question.free(self.kind) if i not in skips)
        hits = [hit for hit in rows if self.is_met(hit.row)]
        lacks = [{*missing_words(hit.row, terms)} for hit in hits]
        held = terms.keys() - set.intersection(*lacks) if lacks else set()
        shares = ((self._share(lack), self._share(lack & held, held)) for lack in lacks)
        hits = [hit for hit, share in zip(hits, shares, strict=True) if max(share) <= unheld_max]
        return [hit for hit in hits if self.is_within(hit, self.paths(hits))]

    def is_within(self, row: ToolHit, paths: Sequence[str] = ()) -> bool:
        """Whether a number of a row is within all bounds that are asked for."""
        if not (limits := self.question.thresholds):
            return True
        numbers = (facts.member_or_none(row.row, path) for path in paths or self.paths([row]))
        numbers = (number for number in numbers if isinstance(number, int | float))
        return any(all(limit.admits(number) for limit in limits) for number in numbers)

    def measures(self, paths: Sequence[str]) -> tuple[facts.Fact, ...]:
        """The facts that state the members by which rows are compared, each member once."""
        by_path = {fact.number: fact for fact in reversed(facts.facts_of(self.kind))}
        return tuple(by_path[path] for path in paths if path in by_path)

    def is_met(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is of the time, the country and the filters that are asked for."""
        is_open = self.kind in PLACED or "country" not in self.row_kind.inputs
        places = self.question.countries if is_open else ()
        roles = ("currency", "currencies"), ("language", "languages")
        for role, name in roles if self.kind == "country" else ():
            codes = {meaning[0] for meaning in self.question.values(role)}
            if codes and codes.isdisjoint(row.get(name) or ()):
                return False
        named = (pair for pair in self.filters.items() if isinstance(row.get(pair[0]), str))
        near = set(row.get("borders") or ())  # the countries that one names are its neighbours
        is_near = is_in_country(row, places) if self.kind != "country" else near & set(places)
        is_equal = all(str(row[name]) == value for name, value in named)
        return (not places or bool(is_near)) and is_equal and self._is_timely(row)

    def _share(self, terms: Collection[str], whole: Collection[str] | None = None) -> float:
        """The share of terms in the weight of the question, or of other terms of it."""
        weights, question = background(), self.question
        total = question.weight(question.content) if whole is None else sum(map(weights.idf, whole))
        return sum(map(weights.idf, terms)) / (total or 1.0)

    def _is_timely(self, row: Mapping[str, Any]) -> bool:
        span = self.question.span
        ends = [item.get("asOf") for item in row.get("measurements") or ()]
        last = [row.get("endedAt"), row.get("lastHappenedAt")]
        ends = [*last, *ends] if self.kind in PLACED else []
        end = max(filter(None, ends), default=None)
        return span is None or span.contains(facts.member_or_none(row, self.date), end)

    def paths(self, rows: Iterable[ToolHit]) -> list[str]:
        """The members that rows are compared by: of several that a word names, one they have.

        All that are measurements, of which each provider has others.
        """
        parts = [part for part in self.question.with_role("number") if part.is_of(self.kind)]
        paths = [part.value.split()[1] for part in parts if part.start == parts[0].start]
        paths = paths or [*filter(None, [_DEFAULTS.get(self.kind)])]
        used = [
            p for p in paths if any(facts.member_or_none(row.row, p) is not None for row in rows)
        ]
        alike = [path for path in used if path.startswith("measurements.")]
        return alike or used[:1] or paths[:1]

    @property
    def date(self) -> str:
        """The member that a time refers to."""
        parts = [part for part in self.question.with_role("date") if part.is_of(self.kind)]
        filters = self.question.words_of("filter")
        plain = [part for part in parts if part.start not in filters] or parts
        return plain[0].value.split()[1] if plain else self.row_kind.date

    def begins_within(self, row: ToolHit) -> bool:
        """Whether it began in the time that is asked for, and does not only reach into it."""
        span, start = self.question.span, facts.member_or_none(row.row, "startedAt")
        return span is None or (bool(start) and span.contains(start))

    def by_date(self, rows: Iterable[ToolHit]) -> list[ToolHit]:
        """The rows, the latest first, and last those without a date."""
        return sorted(
            rows, key=lambda row: str(facts.member_or_none(row.row, self.date) or ""), reverse=True
        )

    # -- telling -------------------------------------------------------------------------------

    def lines(self, rows: Iterable[ToolHit]) -> list[CitedSentence]:
        """One line for each row."""
        line = facts.facts_of(self.row_kind.line)
        return [sentence for row in rows for sentence in facts.row_sentences(line, row)[:1]]

    def summary(self, rows: Sequence[ToolHit]) -> str:
        """How many rows of what the list has, and what narrows it."""
        count = facts.count_noun(len(rows), self.row_kind.noun)
        return f"{count} ({'; '.join(notes)})" if (notes := self.notes(rows)) else count

    def notes(self, rows: Sequence[ToolHit] = ()) -> list[str]:
        """What narrows the list, in words."""
        pairs = self.filters.items()
        names = (name if value == "true" else f"{name} {value}" for name, value in pairs)
        notes = [*map(facts.in_words, names), *map(country_name, self.question.countries)]
        limits = dict.fromkeys(
            f"{limit.side} {figure(limit.value)}" for limit in self.question.thresholds
        )
        paths = self.paths(rows)
        members = [*(fact.name for fact in self.measures(paths)), *paths, ""]
        notes += [f"{members[0].rpartition('.')[2]} {limit}" for limit in limits]
        held = self.question.words_of("currency", "language") if self.kind == "country" else ()
        words = " ".join([self.question.text_of(held), *self.terms]).strip()
        notes += [f"“{quote_text(words)}”"] if words else []
        return [*notes, *([self.question.span.text] if self.question.span else [])]

    def foremost(self, rows: Sequence[ToolHit]) -> Extreme | None:
        """The extreme that is asked for: its adjective, members and rows; None where none is."""
        if self.question.is_extreme:
            paths = self.paths(rows)
            word, best = extreme_rows(rows, paths, is_least=self.question.has("least"))
            return word, paths, best
        if self.question.has("latest", "earliest"):
            is_first = self.question.has("earliest")
            _, best = extreme_rows(rows, [self.date], is_least=is_first)
            return "first" if is_first else "latest", [self.date], best
        return None

    def groups(self, rows: Sequence[ToolHit]) -> list[tuple[str, list[ToolHit]]]:
        """The rows by the member that is counted ("the vendors with most ..."), most first."""
        paths = [meaning[0] for meaning in self.question.values("group", self.kind)]
        if not (paths and self.question.has("most", "count")):
            return []
        groups: dict[str, list[ToolHit]] = {}
        for row in rows:
            if value := facts.member_or_none(row.row, paths[0]):
                groups.setdefault(str(value), []).append(row)
        return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def is_in_country(row: Mapping[str, Any], countries: Collection[str]) -> bool:
    """Whether a row has the code of one of these countries, or holds its name."""
    paths = ("place.countryCode", "area.countryCode", "countryCode", "country.code")
    codes = {*(facts.member_or_none(row, path) for path in paths), *(row.get("countryCodes") or ())}
    names = (_stems([country_name(country)]) for country in countries)
    return not codes.isdisjoint(countries) or any(
        not missing_words(row, {stem: frozenset({stem}) for stem in stems}) for stems in names
    )


def distinct(rows: Iterable[ToolHit]) -> list[ToolHit]:
    """One row for each incident: several sources may report the same."""
    by_incident = {str(row.row.get("incidentId") or row.id): row for row in reversed([*rows])}
    return [*by_incident.values()][::-1]


def same_incidents(rows: Iterable[ToolHit], some: Collection[ToolHit]) -> list[ToolHit]:
    """The rows of the incidents that some of them report."""
    incidents = {row.row.get("incidentId") or row.id for row in some}
    return [row for row in rows if (row.row.get("incidentId") or row.id) in incidents]


def extreme_rows(
    rows: Sequence[ToolHit], paths: Sequence[str], *, is_least: bool = False
) -> tuple[str, list[ToolHit]]:
    """The rows of which a member is the highest, or the lowest, and what it is called."""
    pairs = [(key, row) for row in rows for path in paths if (key := _key(row.row, path))[1]]
    first = (min if is_least else max)((key for key, _ in pairs), default=None)
    best = {row.id: row for key, row in pairs if key == first}
    return "lowest" if is_least else "highest", [*best.values()]


def _key(row: Mapping[str, Any], path: str) -> tuple[Any, bool]:
    value = facts.member_or_none(row, path)
    return _SEVERITIES.index(value) if value in _SEVERITIES else value, value is not None


def _stems(texts: Iterable[str]) -> set[str]:
    return {term_of(word) for text in texts for word in split_words(text)}


def missing_words(row: Mapping[str, Any], terms: Mapping[str, frozenset[str]]) -> list[str]:
    """The terms of which a row holds no meaning, compared by five letters, codes whole."""
    stems = {_stem(word) for word in _texts(row)} if terms else set()
    return [term for term, words in terms.items() if stems.isdisjoint(map(_stem, words))]


def _stem(word: str) -> str:
    return word[:_STEM] if word.isalpha() else word


def _texts(value: Any) -> set[str]:
    """The words of all texts of a row, as they are compared."""
    if isinstance(value, str):
        return _stems([value[:2_000]])
    if isinstance(value, Mapping):
        return set().union(*(_texts(part) for name, part in value.items() if name not in _SILENT))
    return set().union(*map(_texts, value)) if isinstance(value, list | tuple) else set()
