"""Lists that a question asks for: the inputs of the list, the rows that match, and their order."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import frozen

from svc_core import data
from svc_core.agent import row_facts as facts
from svc_core.agent.agent_ports import ToolHit
from svc_core.agent.question import ParsedQuestion
from svc_core.agent.row_facts import CitedSentence, country_name, figure, quote_text
from svc_core.text.words import split_words, term_of

_SILENT = frozenset({"sources", "id", "entityId", "url", "sourceUrl", "mergedIds", "imageUrl"})
_SEVERITIES = ("info", "low", "medium", "high", "critical")
_DEFAULTS = {
    "cve": "score.baseScore",
    "event": "measurements.magnitude.value",
    "incident": "severity",
    "signal": "strength",
}
"""The member that rows are compared by where the question names none."""
_BEGINNING = 5  # letters that are compared, so that endings do not matter


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
    """A question as a query for the list of one kind of row."""

    question: ParsedQuestion
    kind: str

    @property
    def row_kind(self) -> ListKind:
        """The kind of its rows."""
        return row_kinds()[self.kind]

    @property
    def filters(self) -> dict[str, str]:
        """The inputs that its words mean."""
        pairs = (value[0].partition("=") for value in self.question.values("filter", self.kind))
        return {name: value for name, _, value in pairs if value}

    @property
    def terms(self) -> list[str]:
        """The words that matching rows hold."""
        places = self.question.country_words if self.row_kind.inputs & {"country"} else frozenset()
        return [word for word in self.question.subject_words(self.kind) if word not in places]

    def attempts(self, entities: Sequence[ToolHit]) -> Iterator[dict[str, Any]]:
        """Arguments for the list, to be tried one after another until some rows match."""
        inputs, question = self.row_kind.inputs, self.question
        arguments: dict[str, Any] = self.filters
        if "country" in inputs and question.countries and not self.is_placed:
            is_target = ["targetsCountry="] in question.values("filter", self.kind)
            arguments["targetsCountry" if is_target else "country"] = ",".join(question.countries)
        if "datetime" in inputs and question.span is not None:
            arguments["datetime"] = question.span.interval
        if "entityId" in inputs and entities:
            yield {**arguments, "entityId": ",".join(dict.fromkeys(hit.id for hit in entities))}
        if "vendor" in inputs and question.names:
            yield {**arguments, "vendor": question.names[0]}
        yield {**arguments, **self.query_input()}

    def query_input(self, cues: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The full-text input of the list, where it has one, without these cues."""
        words_ = " ".join(word for word in self.terms if not _stems([word]) & cues)[:300]
        return {"q": words_} if "q" in self.row_kind.inputs and words_ else {}

    # -- rows ----------------------------------------------------------------------------------

    def matches(self, rows: Iterable[ToolHit], entities: Sequence[ToolHit]) -> list[ToolHit]:
        """The rows that match; `entities` are those that the list was narrowed to."""
        titles = [*(hit.title for hit in entities), *(self.question.names if entities else ())]
        terms = _stems(self.terms) - _stems(titles)
        hits = [hit for hit in rows if has_words(hit.row, terms) and self._is_timely(hit.row)]
        if self.is_placed and self.question.countries:
            hits = [hit for hit in hits if self._is_in_country(hit.row)]
        path = self.path(hits)
        for limit in self.question.thresholds if path else ():
            numbers = [(facts.member_or_none(hit.row, path), hit) for hit in hits]
            hits = [hit for n, hit in numbers if isinstance(n, int | float) and limit.admits(n)]
        return hits

    @property
    def is_placed(self) -> bool:
        """Whether rows lie in a country by their code, or else by their title and place."""
        return self.kind in ("event", "incident")

    def _is_in_country(self, row: Mapping[str, Any]) -> bool:
        code = facts.member_or_none(row, "place.countryCode")
        labels = {"title": row["title"], "place": facts.member_or_none(row, "place.name")}
        return code in self.question.countries or (
            code is None
            and any(
                has_words(labels, _stems([country_name(country)]))
                for country in self.question.countries
            )
        )

    def _is_timely(self, row: Mapping[str, Any]) -> bool:
        span = self.question.span
        return span is None or span.contains(facts.member_or_none(row, self.date))

    def path(self, rows: Iterable[ToolHit]) -> str:
        """The member that rows are compared by: of several that a word names, one they have."""
        parts = [
            part for part in self.question.parts if part.role == "number" and part.is_of(self.kind)
        ]
        paths = [part.value.split()[1] for part in parts if part.start == parts[0].start]
        used = (path for path in paths if any(facts.member_or_none(row.row, path) for row in rows))
        return next(used, paths[0] if paths else _DEFAULTS.get(self.kind, ""))

    @property
    def date(self) -> str:
        """The member that a time refers to."""
        dates = self.question.values("date", self.kind)
        return dates[0][0] if dates else self.row_kind.date

    def subject_rows(self, rows: Sequence[ToolHit], cues: frozenset[str]) -> list[ToolHit]:
        """The rows whose names hold every word of the description, without these cues."""
        terms = _stems(self.question.subject_words(self.kind)) - cues
        names = ("title", "type", "category", "place", "rules", "outcomes")
        labels = [{name: hit.row.get(name) for name in ("question", *names)} for hit in rows]
        hits = (hit for hit, row in zip(rows, labels, strict=True) if has_words(row, terms))
        return [hit for hit in hits if self._is_timely(hit.row)] if terms else []

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
        notes = [
            facts.in_words(name if value == "true" else f"{name} {value}")
            for name, value in self.filters.items()
        ]
        if "country" in self.row_kind.inputs:
            notes += map(country_name, self.question.countries)
        notes += [
            f"{self._measure_name(rows)} {limit.side} {figure(limit.value)}"
            for limit in self.question.thresholds
        ]
        notes += [f"“{quote_text(' '.join(self.terms))}”"] if self.terms else []
        notes += [self.question.span.text] if self.question.span else []
        count = facts.count_noun(len(rows), self.row_kind.noun)
        return f"{count} ({'; '.join(notes)})" if notes else count

    def _measure_name(self, rows: Iterable[ToolHit]) -> str:
        """The name of the member that rows are compared by."""
        path = self.path(rows)
        names = (fact.name for fact in facts.facts_of(self.kind) if fact.number == path)
        return next(names, path.rpartition(".")[2])

    def foremost(self, rows: Sequence[ToolHit]) -> tuple[str, str, list[ToolHit]] | None:
        """The extreme that is asked for: its adjective, member and rows; None where none is."""
        if self.question.has("most", "least"):
            return extreme_rows(rows, self.path(rows), is_least=self.question.has("least"))
        if self.question.has("latest", "earliest"):
            is_first = self.question.has("earliest")
            _, path, best = extreme_rows(rows, self.date, is_least=is_first)
            return "first" if is_first else "latest", path, best
        return None


def distinct(rows: Iterable[ToolHit]) -> list[ToolHit]:
    """One row for each incident: several sources may report the same."""
    by_incident = {str(row.row.get("incidentId") or row.id): row for row in reversed([*rows])}
    return [*by_incident.values()][::-1]


def extreme_rows(
    rows: Sequence[ToolHit], path: str, *, is_least: bool
) -> tuple[str, str, list[ToolHit]]:
    """The rows whose member is the highest, or the lowest."""
    pairs = [(key, row) for row in rows if (key := _key(row.row, path)) is not None]
    first = (min if is_least else max)((key for key, _ in pairs), default=None)
    return "lowest" if is_least else "highest", path, [row for key, row in pairs if key == first]


def _key(row: Mapping[str, Any], path: str) -> Any:
    value = facts.member_or_none(row, path) if path else None
    return _SEVERITIES.index(value) if value in _SEVERITIES else value


def _stems(texts: Iterable[str]) -> set[str]:
    return {term_of(word) for text in texts for word in split_words(text)}


def has_words(row: Mapping[str, Any], terms: Collection[str]) -> bool:
    """Whether a row holds all words, compared by their first five letters."""
    stems = {word[:_BEGINNING] for word in _texts(row)}
    return all(word[:_BEGINNING] in stems for word in terms)


def _texts(value: Any) -> set[str]:
    """The words of all texts of a row, as they are compared."""
    if isinstance(value, str):
        return _stems([value[:2_000]])
    if isinstance(value, Mapping):
        return set().union(*(_texts(part) for name, part in value.items() if name not in _SILENT))
    return set().union(*map(_texts, value)) if isinstance(value, list | tuple) else set()
