"""Lists that a question asks for: their inputs, which rows are meant, and their order."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from attrs import frozen

from svc_core import data
from svc_core.agent import facts
from svc_core.agent.facts import Said, country_name, figure, quoted
from svc_core.agent.ports import Found
from svc_core.agent.question import Asked
from svc_core.text.words import cut, words

_SILENT = frozenset({"sources", "id", "entityId", "url", "sourceUrl", "mergedIds", "imageUrl"})
_SEVERITIES = ("info", "low", "medium", "high", "critical")
_DEFAULTS = {
    "cve": "score.baseScore",
    "event": "measurements.magnitude.value",
    "incident": "severity",
    "signal": "strength",
}
"""What rows are compared by where the question does not say."""
_BEGINNING = 5  # letters that words of another ending have in common


@frozen
class Kind:
    """A kind of row: its list, what rows are called, the facts that show one in a line.

    `date` is the member that a time is of; `inputs` are those of its list that narrow it.
    """

    tool: str
    noun: str
    line: str
    date: str
    inputs: frozenset[str]


@cache
def kinds() -> Mapping[str, Kind]:
    """The kinds of rows that are listed."""
    told = (row[1].split(" ") for row in data.rows("questions.tsv") if row[0] == "rows")
    return {
        name: Kind(tool, noun.replace("+", " "), line, date, frozenset(inputs.split(",")))
        for name, tool, noun, line, date, inputs in told
    }


@frozen
class Listed:
    """A list of a kind of row, as a question narrows it."""

    asked: Asked
    kind: str

    @property
    def rows(self) -> Kind:
        """What its rows are."""
        return kinds()[self.kind]

    @property
    def filters(self) -> dict[str, str]:
        """The inputs that its words mean."""
        told = (value[0].partition("=") for value in self.asked.values("filter", self.kind))
        return {name: value for name, _, value in told if value}

    @property
    def about(self) -> list[str]:
        """The words that rows have to hold."""
        placed = self.asked.placed if self.rows.inputs & {"country"} else frozenset()
        return [word for word in self.asked.rest(self.kind) if word not in placed]

    def ways(self, named: Sequence[Found]) -> Iterator[dict[str, Any]]:
        """The arguments to ask with, one after the other until some rows are meant."""
        inputs, asked = self.rows.inputs, self.asked
        given: dict[str, Any] = self.filters
        if "country" in inputs and asked.countries and not self.is_placed:
            is_target = ["targetsCountry="] in asked.values("filter", self.kind)
            given["targetsCountry" if is_target else "country"] = ",".join(asked.countries)
        if "datetime" in inputs and asked.span is not None:
            given["datetime"] = asked.span.interval
        if "entityId" in inputs and named:
            yield {**given, "entityId": ",".join(dict.fromkeys(one.id for one in named))}
        if "vendor" in inputs and asked.names:
            yield {**given, "vendor": asked.names[0]}
        yield {**given, **self.sought()}

    def sought(self, cues: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The words that rows are sought by, where their list can be; not these cues."""
        words_ = " ".join(word for word in self.about if not _cut([word]) & cues)[:300]
        return {"q": words_} if "q" in self.rows.inputs and words_ else {}

    # -- rows ----------------------------------------------------------------------------------

    def kept(self, rows: Iterable[Found], named: Sequence[Found]) -> list[Found]:
        """The rows that are meant; whoever is `named` the list was narrowed to."""
        titles = [*(one.title for one in named), *(self.asked.names if named else ())]
        wanted = _cut(self.about) - _cut(titles)
        meant = [one for one in rows if holds(one.row, wanted) and self._is_timely(one.row)]
        if self.is_placed and self.asked.countries:
            meant = [one for one in meant if self._is_there(one.row)]
        path = self.path(meant)
        for bound in self.asked.bounds if path else ():
            held = [(facts.number(one.row, path), one) for one in meant]
            meant = [
                one for value, one in held if isinstance(value, int | float) and bound.holds(value)
            ]
        return meant

    @property
    def is_placed(self) -> bool:
        """Whether rows lie in a country by their code, or else by what they are called."""
        return self.kind in ("event", "incident")

    def _is_there(self, row: Mapping[str, Any]) -> bool:
        code = facts.number(row, "place.countryCode")
        named = {"title": row["title"], "place": facts.number(row, "place.name")}
        return code in self.asked.countries or (
            code is None
            and any(holds(named, _cut([country_name(one)])) for one in self.asked.countries)
        )

    def _is_timely(self, row: Mapping[str, Any]) -> bool:
        return self.asked.span is None or self.asked.span.holds(facts.number(row, self.date))

    def path(self, rows: Iterable[Found]) -> str:
        """The member that rows are compared by: of several of one word that which they have."""
        parts = [one for one in self.asked.parts if one.role == "number" and one.is_of(self.kind)]
        told = [one.value.split()[1] for one in parts if one.start == parts[0].start]
        held = (path for path in told if any(facts.number(row.row, path) for row in rows))
        return next(held, told[0] if told else _DEFAULTS.get(self.kind, ""))

    @property
    def date(self) -> str:
        """The member that a time is of."""
        told = self.asked.values("date", self.kind)
        return told[0][0] if told else self.rows.date

    def described(self, rows: Sequence[Found], cues: frozenset[str]) -> list[Found]:
        """The rows whose names hold every word of what is described beside these cues."""
        wanted = _cut(self.asked.rest(self.kind)) - cues
        names = ("title", "type", "category", "place", "rules", "outcomes")
        named = [{name: one.row.get(name) for name in ("question", *names)} for one in rows]
        held = (one for one, row in zip(rows, named, strict=True) if holds(row, wanted))
        return [one for one in held if self._is_timely(one.row)] if wanted else []

    def dated(self, rows: Iterable[Found]) -> list[Found]:
        """The latest first, and last those without a date."""
        return sorted(
            rows, key=lambda row: str(facts.number(row.row, self.date) or ""), reverse=True
        )

    # -- telling -------------------------------------------------------------------------------

    def lines(self, rows: Iterable[Found]) -> list[Said]:
        """One line for each row."""
        line = facts.facts(self.rows.line)
        return [one for row in rows for one in facts.sentences(line, row)[:1]]

    def named(self, rows: Sequence[Found]) -> str:
        """How many rows of what the list has, and by what it is narrowed."""
        told = [
            facts.spaced(name if value == "true" else f"{name} {value}")
            for name, value in self.filters.items()
        ]
        told += map(country_name, self.asked.countries if "country" in self.rows.inputs else ())
        told += [
            f"{self._measured(rows)} {bound.side} {figure(bound.value)}"
            for bound in self.asked.bounds
        ]
        told += [f"“{quoted(' '.join(self.about))}”"] if self.about else []
        told += [self.asked.span.text] if self.asked.span else []
        counted = facts.several(len(rows), self.rows.noun)
        return f"{counted} ({'; '.join(told)})" if told else counted

    def _measured(self, rows: Iterable[Found]) -> str:
        """What the member is called that rows are compared by."""
        path = self.path(rows)
        named = (fact.name for fact in facts.facts(self.kind) if fact.number == path)
        return next(named, path.rpartition(".")[2])

    def foremost(self, rows: Sequence[Found]) -> tuple[str, str, list[Found]] | None:
        """What is said of those that none goes before, their member, and they; None if unasked."""
        if self.asked.has("most", "least"):
            return most(rows, self.path(rows), is_least=self.asked.has("least"))
        if self.asked.has("latest", "earliest"):
            is_first = self.asked.has("earliest")
            _, path, best = most(rows, self.date, is_least=is_first)
            return "first" if is_first else "latest", path, best
        return None


def distinct(rows: Iterable[Found]) -> list[Found]:
    """One row of each incident: several sources may tell of the same."""
    return [*{str(row.row.get("incidentId") or row.id): row for row in reversed([*rows])}.values()][
        ::-1
    ]


def most(rows: Sequence[Found], path: str, *, is_least: bool) -> tuple[str, str, list[Found]]:
    """The rows whose member is the highest, or the lowest."""
    held = [(key, row) for row in rows if (key := _key(row.row, path)) is not None]
    first = (min if is_least else max)((key for key, _ in held), default=None)
    return "lowest" if is_least else "highest", path, [row for key, row in held if key == first]


def _key(row: Mapping[str, Any], path: str) -> Any:
    value = facts.number(row, path) if path else None
    return _SEVERITIES.index(value) if value in _SEVERITIES else value


def _cut(texts: Iterable[str]) -> set[str]:
    return {cut(word) for text in texts for word in words(text)}


def holds(row: Mapping[str, Any], wanted: Collection[str]) -> bool:
    """Whether a row has all words; one of another ending is the same."""
    held = {word[:_BEGINNING] for word in _texts(row)}
    return all(word[:_BEGINNING] in held for word in wanted)


def _texts(value: Any) -> set[str]:
    """The words of all texts of a row, as they are compared."""
    if isinstance(value, str):
        return _cut([value[:2_000]])
    if isinstance(value, Mapping):
        return set().union(*(_texts(each) for name, each in value.items() if name not in _SILENT))
    return set().union(*map(_texts, value)) if isinstance(value, list | tuple) else set()
