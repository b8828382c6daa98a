# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Composes the SQL of lists, counts and searches.

Rule 1: a list walks one index, from its bound on, and checks the other filters row by row. Of
        several filters the rarest is walked (`walks`), because a planner without statistics per
        tenant would choose another. A filter that must not be walked is hidden from the planner.
Rule 2: if the walked filter has several values, each has a walk of its own, because one walk over
        all of them would be in no order. A box across the 180th meridian has two.
Rule 3: the text depends on the kinds of filters and never on their values, so it is planned once.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Final, NamedTuple

from svc_core.operation.ports import NO_NUMBER, Collection, Position
from svc_core.operation.ports.selection import Criteria, NumberSpan
from svc_http.stores.statement_files import named_statements

_SQL: Final = named_statements(__package__, "lists.sql")

PROBED_MAX: Final = 200
"""Counting stops here: enough to tell a rare filter value from a common one."""


class StatementDraft:
    """A statement in the making: its text, with a question mark for each of its values."""

    __slots__ = ("text", "values")

    def __init__(self, text: str, *values: object) -> None:
        self.text = text
        self.values = [*values]

    def add(self, text: str, *values: object) -> "StatementDraft":
        """Append text and its values."""
        self.text += text
        self.values += values
        return self


class IndexWalk(NamedTuple):
    """The index that a statement walks, once for each of the values or ranges of its filter.

    Without a name it is the index of the whole list, in its order, or the text index.
    """

    name: str = ""
    choices: tuple[tuple[Any, ...], ...] = ((),)
    is_number: bool = False


WHOLE: Final = IndexWalk()


class ListStatements(ABC):
    """The statements of one list of a tenant: page, count, search and probes."""

    sorted_max: ClassVar[int] = PROBED_MAX
    """The limit of counting where no filter's index is in the order of the list."""
    across_key: ClassVar[str] = "c.ord"
    """The sort key of all tenants' rows."""
    facet_join: ClassVar[str]
    """Joins a row `c` of the table `{rows}` to its facet `f`."""
    key_check: ClassVar[str]
    """The condition that the key `{name}` of a row `c` is `{any_of}` the values."""
    facet_check: ClassVar[str]
    """The condition that a facet `{name}` of a row `c` is `{any_of}` the values."""

    _pages: ClassVar[dict[object, str]] = {}
    """The texts of pages without filters, by their table, order and the kinds of their bounds."""

    def __init__(self, collection: Collection[Any], owner: str, criteria: Criteria) -> None:
        self.collection = collection
        self.owner = owner
        self.criteria = criteria
        self.rows = f"c_{collection.name}"
        self.facets = f"f_{collection.name}"

    # -- what is walked ------------------------------------------------------------------------

    def walks(
        self, order: str | None, *, is_count: bool = False
    ) -> tuple[list[IndexWalk], list[IndexWalk]]:
        """The walks of filters whose index is in list order, and the others that there are.

        A count has no order. Words are always looked up in the text index.
        """
        criteria, beside = self.criteria, self.collection.layout.beside
        if criteria.words:
            return [], []
        filters = [
            IndexWalk(name, tuple([(choice,) for choice in choices]))
            for name, choices in criteria.where.items()
            if name not in beside
        ]
        spans = [
            IndexWalk(span.name, span.parts, is_number=True)
            for span in criteria.spans
            if span.name not in beside
        ]
        if order is None:
            return ([*filters, *spans], []) if is_count else (filters, spans)
        ranked = self.ranked_by(order)
        in_order = [walk for walk in filters if walk.name in ranked]
        in_order += [walk for walk in spans if walk.name == order]
        others = [walk for walk in (*filters, *spans) if walk not in in_order]
        is_bounded = (criteria.start, criteria.end) != (None, None)
        if is_bounded and not self.collection.layout.is_filtered:
            others.append(WHOLE)
        return in_order, others

    def ranked_by(self, order: str) -> tuple[str, ...]:  # noqa: ARG002 - for stores that have some
        """The keys that have an index together with a number."""
        return ()

    def probe(self, walks: list[IndexWalk], limit: int) -> StatementDraft:
        """The number of rows of each walk, up to a limit: a column for each."""
        query = StatementDraft("SELECT ")
        for walk in walks:
            query.add(f"{', ' if query.values else ''}(SELECT count(*) FROM (")
            self.add_probe(query, walk, limit)
            query.add(" LIMIT ?) AS l)", limit)
        return query

    # -- statements ----------------------------------------------------------------------------

    def whole_page(
        self, order: str | None, after: Position | None, limit: int
    ) -> tuple[str, list[object]]:
        """The page of a list without filters, by a number without bounds; its text is cached."""
        start, end, values = self.criteria.start, self.criteria.end, list[object]((self.owner,))
        if start is not None:
            values.append(start)
        is_after = after is not None and (end is None or after.order <= end)
        if after is not None and is_after:
            values += (after.order, after.id)
        elif end is not None:
            values.append(end)
        values.append(limit)
        is_filtered = self.collection.layout.is_filtered
        kind = (type(self), self.rows, is_filtered, order, start is None, is_after, len(values))
        if kind not in self._pages:
            query = self.walk_page(whole_walk(order), order, after, limit)
            self._pages[kind] = self.placeholders(query.text)
        return self._pages[kind], values

    def walk_page(
        self,
        walk: IndexWalk,
        order: str | None,
        after: Position | None,
        limit: int,
        *,
        mark: str = "",
    ) -> StatementDraft:
        """The rows of the first choice of a walk, or of the one that `mark` compares with, in the
        order of the list; the number that is the sort key is a further column."""
        if order is not None and after is not None and walk.name == order and not mark:
            walk, after = _tighter(walk, after)
        line, key = self._line(walk), self._sort_key(walk, order)
        number = "" if order is None else f", {key} AS number"
        query = StatementDraft(f"SELECT c.id, c.version, c.ord, c.body{number} FROM ")
        self.add_rows(query, walk, order, mark)
        self.add_bounds(query, walk, None if order else after)
        if order is not None and after is not None:
            query.add(f" AND ({key}, {line}.id) < (?, ?)", after.order, after.id)
        self.add_checks(query, walk)
        return query.add(f" ORDER BY {key} DESC, {line}.id DESC LIMIT ?", limit)

    def across(self, after: tuple[int, str, str] | None, limit: int) -> StatementDraft:
        """Rows of all tenants, the lowest first; those of a shared collection are the system's."""
        is_owned = self.collection.scope == "tenant"
        condition, key = ("TRUE", self.across_key) if is_owned else ("c.tenant = ''", "c.ord")
        query = StatementDraft(
            f"SELECT c.tenant, c.id, c.version, c.ord, c.body FROM {self.rows} AS c"
        )
        query.add(f" WHERE {condition}")
        if after is not None:
            query.add(f" AND ({key}, c.tenant, c.id) > (?, ?, ?)", *after)
        if self.criteria.end is not None:
            query.add(f" AND {key} <= ?", self.criteria.end)
        self.add_checks(query)
        return query.add(f" ORDER BY {key}, c.tenant, c.id LIMIT ?", limit)

    def heads(self, after: str, limit: int) -> StatementDraft:
        """The lowest row of each tenant after one: two steps of an index for each of them."""
        return StatementDraft(_SQL["heads"].format(rows=self.rows), after, limit)

    # -- parts of statements -------------------------------------------------------------------

    def add_rows(
        self,
        query: StatementDraft,
        walk: IndexWalk,
        order: str | None = None,
        mark: str = "",
        *,
        has_rows: bool = True,
    ) -> None:
        """Append the table that is walked, and the condition of the walk; a facet has a table of
        its own, which is joined to that of the rows if `has_rows`."""
        choice: tuple[Any, ...] = () if mark else walk.choices[0]
        if self.criteria.words:
            self.add_word_rows(query)
        elif walk.name in self.collection.facets:
            join = self.facet_join.format(rows=self.rows) if has_rows else ""
            query.add(f"{self.facets} AS f {join}")
            query.add(f" WHERE f.tenant = ? AND f.name = '{walk.name}'", self.owner)
            query.add(f" AND f.value {mark or '= ?'}", *choice)
        else:
            hint = self.index_hint(walk.name, order)
            query.add(f"{self.rows} AS c{hint} WHERE c.tenant = ?", self.owner)
            if walk.is_number:
                comparison = mark or ("", ">= ?", "BETWEEN ? AND ?")[len(choice)]
                query.add(f" AND c.n_{walk.name} {comparison}" if comparison else "", *choice)
            elif walk.name:
                query.add(f" AND c.k_{walk.name} {mark or '= ?'}", *choice)

    def add_window(self, query: StatementDraft) -> StatementDraft:
        """Append the rows between the bounds of the order."""
        query.add(f"{self.rows} AS c{self.index_hint('', None)} WHERE c.tenant = ?", self.owner)
        return self.add_bounds(query)

    def add_bounds(
        self, query: StatementDraft, walk: IndexWalk = WHOLE, after: Position | None = None
    ) -> StatementDraft:
        """Append the bounds of the order; of two upper bounds only the tighter one."""
        line, start, end = self._line(walk), self.criteria.start, self.criteria.end
        key = self.hidden("c.ord") if walk.is_number else f"{line}.ord"
        if start is not None:
            query.add(f" AND {key} >= ?", start)
        if after is not None and (end is None or after.order <= end):
            query.add(f" AND ({key}, {line}.id) < (?, ?)", after.order, after.id)
        elif end is not None:
            query.add(f" AND {key} <= ?", end)
        return query

    def add_checks(self, query: StatementDraft, walk: IndexWalk = WHOLE) -> StatementDraft:
        """Append the filters that are checked row by row: all but the one that is walked."""
        if self.criteria.is_whole:
            return query
        for name, choices in self.criteria.where.items():
            if name != walk.name:
                check = self.facet_check if name in self.collection.facets else self.key_check
                any_of, values = self.any_of(choices)
                names = {"name": name, "facets": self.facets, "any_of": any_of}
                query.add(f" AND {check.format(**names)}", *values)
        for span in self.criteria.spans:
            if not (walk.is_number and span.is_walked_by(walk.name, walk.choices[0])):
                number = self.hidden(f"c.n_{span.name}")
                query.add(f" AND {_condition(number, span)}", span.low, span.high)
        return query

    def _line(self, walk: IndexWalk) -> str:
        return "f" if walk.name in self.collection.facets else "c"

    def _sort_key(self, walk: IndexWalk, order: str | None) -> str:
        key = f"{self._line(walk)}.ord" if order is None else f"c.n_{order}"
        is_walked = not walk.is_number if order is None else walk.name == order
        return key if is_walked and not self.criteria.words else self.hidden(key)

    # -- what the dialects say differently -----------------------------------------------------

    @abstractmethod
    def placeholders(self, text: str) -> str:
        """The text with the placeholders of the database in place of its question marks."""

    @abstractmethod
    def any_of(self, choices: tuple[str, ...]) -> tuple[str, tuple[object, ...]]:
        """The comparison with any of these values, and its parameters."""

    @abstractmethod
    def index_hint(self, name: str, order: str | None) -> str:
        """What holds the planner to the index of a filter, a number or (nameless) the order."""

    @abstractmethod
    def hidden(self, number: str) -> str:
        """A column of numbers, written so that the planner walks no index of it."""

    @abstractmethod
    def add_word_rows(self, query: StatementDraft) -> None:
        """Append the rows that hold all words of the criteria, from the text index."""

    @abstractmethod
    def add_probe(self, query: StatementDraft, walk: IndexWalk, limit: int) -> None:
        """Append a statement that has a row for each row of a walk."""


def whole_walk(order: str | None) -> IndexWalk:
    """The walk of all rows in the order of a list."""
    return WHOLE if order is None else IndexWalk(order, is_number=True)


def _tighter(walk: IndexWalk, after: Position) -> tuple[IndexWalk, Position | None]:
    """The walk of a number and the place in it with only the tighter of their upper bounds.

    SQLite might begin the walk at the other one.
    """
    (choice, *_) = walk.choices
    if choice and after.order > choice[1]:
        return walk, None
    return walk._replace(choices=(choice[:1],)), after


def _condition(number: str, span: NumberSpan) -> str:
    if span.wraps:
        return f"({number} >= ? OR {number} BETWEEN {NO_NUMBER + 1} AND ?)"
    return f"{number} BETWEEN ? AND ?"
