# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""The SQL of lists, counts and searches that SQLite says in its own way."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from svc_core.operation.ports import Position
from svc_http.stores.relational.list_statements import (
    WHOLE,
    IndexWalk,
    ListStatements,
    StatementDraft,
)
from svc_http.stores.sqlite._rows import owner_token

SORTED_MAX: Final = 500
"""The limit of counting where a list is sorted by a number, or filtered by numbers alone. Sorting
so many rows takes about 4 ms; a lower limit would walk over more of a large list instead."""


class SqliteLists(ListStatements):
    """The statements of one list, each of which names the index that it walks.

    INDEXED BY makes a statement fail at once if the planner cannot use that index.
    """

    sorted_max = SORTED_MAX
    facet_join = "CROSS JOIN {rows} AS c ON c.row = f.row"
    # The plus (`+c.k_`) keeps the planner from walking this index and sorting.
    key_check = "+c.k_{name} {any_of}"
    facet_check = (
        "EXISTS (SELECT 1 FROM {facets} AS g WHERE g.tenant = c.tenant AND g.name = '{name}'"
        " AND g.value {any_of} AND g.ord = c.ord AND g.id = c.id)"
    )

    def placeholders(self, text: str) -> str:
        """The text as it is: question marks are what SQLite takes."""
        return text

    def ranked_by(self, order: str) -> tuple[str, ...]:
        """The keys that have an index together with a number."""
        rankings = self.collection.rankings
        return tuple(key for key, numbers in rankings.items() if order in numbers)

    def any_of(self, choices: tuple[str, ...]) -> tuple[str, tuple[object, ...]]:
        """The comparison with any of these values, each of which is a parameter."""
        return f"IN ({', '.join('?' * len(choices))})", choices

    def index_hint(self, name: str, order: str | None) -> str:
        """The index of a filter, a number or (nameless) the order."""
        if name == "" and self.collection.layout.is_filtered:
            return ""
        pair = f"_{order}" if order in self.collection.rankings.get(name, ()) else ""
        return f" INDEXED BY i_{self.rows}{name and '_'}{name}{pair}"

    def hidden(self, number: str) -> str:
        """The number itself: the index is named."""
        return number

    def add_word_rows(self, query: StatementDraft) -> None:
        """Append the rows that hold all words of the criteria, from the text index."""
        texts = f"t_{self.collection.name}"
        query.add(f"{texts} AS t CROSS JOIN {self.rows} AS c ON c.row = t.rowid")
        query.add(f" WHERE {texts} MATCH ?", self._match_words()).add(
            " AND c.tenant = ?", self.owner
        )

    def add_probe(self, query: StatementDraft, walk: IndexWalk, limit: int) -> None:  # noqa: ARG002
        """Append the rows of a walk, whatever their order."""
        if walk.is_number:
            for place, choice in enumerate(walk.choices):
                query.add(" UNION ALL SELECT 1 FROM " if place else "SELECT 1 FROM ")
                self.add_rows(query, walk._replace(choices=(choice,)))
        elif walk == WHOLE:
            self.add_window(query.add("SELECT 1 FROM "))
        else:
            mark, values = self.any_of(tuple(choice for (choice,) in walk.choices))
            self.add_rows(query.add("SELECT 1 FROM "), walk, mark=mark, has_rows=False)
            query.values += values

    def joint_page(
        self, walk: IndexWalk, order: str | None, after: Position | None, limit: int
    ) -> StatementDraft:
        """The rows of all values of a filter at once, all of which are read and sorted; a row that
        has several of the values comes as often."""
        page = self.walk_page(walk, order, after, limit, mark="IN choice")
        choices = json.dumps([choice for (choice,) in walk.choices])
        query = StatementDraft("WITH choice AS (SELECT value FROM json_each(?)) ", choices)
        return query.add(page.text, *page.values)

    def count(self, walk: IndexWalk, limit: int) -> StatementDraft:
        """How many rows the first choice of a walk has, up to a limit."""
        if self.criteria._replace(words=()).is_all and self.criteria.words:
            counted = "SELECT count(*) FROM (SELECT 1 FROM {0} WHERE {0} MATCH ? LIMIT ?)"
            texts = f"t_{self.collection.name}"
            return StatementDraft(counted.format(texts), self._match_words(), limit)
        query = self._matches(StatementDraft("SELECT count(*) FROM (SELECT 1 FROM "), walk)
        return query.add(" LIMIT ?)", limit)

    def row_numbers(self, walk: IndexWalk, limit: int) -> StatementDraft:
        """The numbers of the rows of the first choice of a walk, in no order."""
        return self._matches(StatementDraft("SELECT c.row FROM "), walk).add(" LIMIT ?", limit)

    def _matches(self, query: StatementDraft, walk: IndexWalk) -> StatementDraft:
        self.add_rows(query, walk)
        self.add_bounds(query, walk)
        return self.add_checks(query, walk)

    def row_run(self, limit: int) -> StatementDraft:
        """The lowest and the highest row number between the bounds of the order, and their count.

        Rows are numbered in the order of insertion, so those of a period lie close together, and
        the text index can be limited to a range of row numbers.
        """
        query = StatementDraft("SELECT min(row), max(row), count(*) FROM (SELECT row FROM ")
        return self.add_window(query).add(" LIMIT ?)", limit)

    def search(
        self,
        terms: Mapping[str, int],
        run: tuple[int, int] | None,
        after: Position | None,
        limit: int,
    ) -> StatementDraft:
        """Rank within the text index, then read rows; without other filters only the best are read.

        `run` is a range of row numbers that has all rows between the bounds.
        """
        texts = f"t_{self.collection.name}"
        words = {match_query(self.owner, (term,)): weight for term, weight in terms.items()}
        query = StatementDraft(
            "WITH m AS MATERIALIZED (SELECT t.rowid AS row, sum(word.value) AS rank"
        )
        query.add(f" FROM json_each(?) AS word CROSS JOIN {texts} AS t", json.dumps(words))
        query.add(f" WHERE t.{texts} MATCH word.key")
        if run is not None:
            query.add(" AND t.rowid BETWEEN ? AND ?", *run)
        query.add(" GROUP BY t.rowid) SELECT c.id, c.version, c.ord, c.body, m.rank FROM m")
        query.add(f" CROSS JOIN {self.rows} AS c ON c.row = m.row WHERE c.tenant = ?", self.owner)
        if self.criteria.words:
            matching = f"SELECT rowid FROM {texts} WHERE {texts} MATCH ?"
            query.add(f" AND c.row IN ({matching})", self._match_words())
        self.add_bounds(query)
        if after is not None:
            place = (after.rank, after.order, after.id)
            query.add(" AND (m.rank, c.ord, c.id) < (?, ?, ?)", *place)
        self.add_checks(query)
        if self.criteria.is_all:
            query.add(" AND m.rank >= ifnull((SELECT rank FROM m")
            if after is not None:
                query.add(" WHERE rank < ?", after.rank)
            query.add(" ORDER BY rank DESC LIMIT 1 OFFSET ?), 0)", limit - 1)
        return query.add(" ORDER BY m.rank DESC, c.ord DESC, c.id DESC LIMIT ?", limit)

    def _match_words(self) -> str:
        return match_query(self.owner, self.criteria.words, "AND")


def match_query(owner: str, terms: Iterable[str], operator: str = "OR") -> str:
    """The FTS5 query for rows of `owner` with any (or all) of `terms`, each one quoted token."""
    tokens = f" {operator} ".join(_quote(term) for term in dict.fromkeys(terms))
    return f"owner : {_quote(owner_token(owner))} AND tokens : ({tokens})"


def _quote(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'
