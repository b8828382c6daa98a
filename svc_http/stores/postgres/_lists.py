# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""The SQL of lists, counts and searches that PostgreSQL says in its own way.

Rule 1: a filter that must not be walked is written so that no index fits it (`|| ''`, `+ 0`), and a
        lookup by identifier so that the planner cannot turn it into a join (`OFFSET 0`): without
        statistics, or with those of another tenant, the server would scan a whole table for each
        row of the other.
Rule 2: the values of a filter are walked side by side, each up to the limit (`LATERAL`).
"""

from collections.abc import Mapping

from svc_core.operation.ports import Position
from svc_http.stores.postgres._session import number_parameters
from svc_http.stores.postgres._table import tokens_of
from svc_http.stores.relational.list_statements import (
    WHOLE,
    IndexWalk,
    ListStatements,
    StatementDraft,
)


class PostgresLists(ListStatements):
    """The statements of one list."""

    # An expression, which is in no tenant's list: none may walk the rows of all.
    across_key = "(c.ord - 0)"
    facet_join = (
        "CROSS JOIN LATERAL (SELECT r.* FROM {rows} AS r"
        " WHERE r.tenant = f.tenant AND r.id = f.id OFFSET 0) AS c"
    )
    key_check = "c.k_{name} || '' {any_of}"
    facet_check = (
        "EXISTS (SELECT FROM {facets} AS g WHERE g.tenant = c.tenant AND g.id = c.id"
        " AND g.name || '' = '{name}' AND g.value {any_of} OFFSET 0)"
    )

    def placeholders(self, text: str) -> str:
        """The text with $1, $2 and so on."""
        return number_parameters(text)

    def any_of(self, choices: tuple[str, ...]) -> tuple[str, tuple[object, ...]]:
        """The comparison with any of these values, which are one parameter."""
        return "= ANY (?::text[])", (list(choices),)

    def index_hint(self, name: str, order: str | None) -> str:  # noqa: ARG002 - of the other store
        """Nothing: the server takes no hints."""
        return ""

    def hidden(self, number: str) -> str:
        """An expression that no index has."""
        return f"({number} + 0)"

    def add_word_rows(self, query: StatementDraft) -> None:
        """Append the rows that hold all words of the criteria, from the text index."""
        self._add_unindexed(query)
        query.add(" AND c.tokens @> ?::text[]", tokens_of(self.owner, self.criteria.words))

    def add_probe(self, query: StatementDraft, walk: IndexWalk, limit: int) -> None:
        """Append the rows of a walk, each choice of it up to the limit."""
        query.add("SELECT FROM ")
        mark = self._add_choices(query, walk)
        query.add("(SELECT FROM ")
        if walk == WHOLE:
            self.add_window(query)
        else:
            self.add_rows(query, walk, mark=mark, has_rows=False)
        # Ordered, because only then does the planner read an index without going to its end.
        key = f"c.n_{walk.name}" if walk.is_number else f"{self._line(walk)}.ord"
        query.add(f" ORDER BY {key} DESC, {key[0]}.id DESC LIMIT ?) AS r", limit)

    def page(
        self, walk: IndexWalk, order: str | None, after: Position | None, limit: int
    ) -> StatementDraft:
        """The rows of all choices of a walk in the order of the list."""
        if len(walk.choices) == 1:
            return self.walk_page(walk, order, after, limit)
        key = "ord" if order is None else "number"
        query = StatementDraft(f"SELECT DISTINCT ON (r.{key}, r.id) r.* FROM ")
        mark = self._add_choices(query, walk)
        page = self.walk_page(walk, order, after, limit, mark=mark)
        query.add(f"({page.text}) AS r", *page.values)
        return query.add(f" ORDER BY r.{key} DESC, r.id DESC LIMIT ?", limit)

    def count(self, walk: IndexWalk, limit: int) -> StatementDraft:
        """How many rows there are, up to a limit."""
        query = self.page(walk, None, None, limit)
        if self.criteria.words:  # the text index finds rows in no order, and a count needs none
            self.add_word_rows(query := StatementDraft("SELECT FROM "))
            self.add_checks(self.add_bounds(query)).add(" LIMIT ?", limit)
        query.text = f"SELECT count(*) FROM ({query.text}) AS l"
        return query

    def search(
        self, terms: Mapping[str, int], after: Position | None, limit: int, *, is_narrow: bool
    ) -> StatementDraft:
        """Rows by the total weight of their terms, highest first; the weight is a further column.

        Rows are ranked from the text index alone, term by term, and only the best are read. If few
        rows lie between the bounds (`is_narrow`), those are walked instead.
        """
        words = (tokens_of(self.owner, terms), list(terms.values()))
        query = StatementDraft("SELECT c.id, c.version, c.ord, c.body, m.rank FROM (")
        query.add("SELECT r.id, r.ord, sum(t.weight)::bigint AS rank")
        query.add(" FROM unnest(?::text[], ?::bigint[]) AS t (term, weight)", *words)
        if is_narrow:
            query.add(
                " JOIN (SELECT w.id, w.ord, w.tokens FROM (SELECT c.id, c.ord, c.tokens FROM "
            )
            self.add_rows(query, WHOLE)
            # The planner flattens a subquery, but not one with an OFFSET.
            self.add_checks(self.add_bounds(query)).add(" OFFSET 0) AS w")
            query.add(" WHERE w.tokens && ?::text[]) AS r ON t.term = ANY (r.tokens)", words[0])
        else:
            query.add(" CROSS JOIN LATERAL (SELECT c.id, c.ord FROM ")
            if self.criteria.words:
                self.add_word_rows(query)
            else:
                self._add_unindexed(query)
            query.add(" AND c.tokens @> ARRAY[t.term]")
            self.add_checks(self.add_bounds(query)).add(") AS r")
        query.add(" GROUP BY r.id, r.ord")
        if after is not None:
            place = (after.rank, after.order, after.id)
            query.add(" HAVING (sum(t.weight), r.ord, r.id) < (?::bigint, ?::bigint, ?)", *place)
        query.add(" ORDER BY rank DESC, r.ord DESC, r.id DESC LIMIT ?", limit)
        query.add(f") AS m JOIN {self.rows} AS c ON c.tenant = ? AND c.id = m.id", self.owner)
        return query.add(" ORDER BY m.rank DESC, m.ord DESC, m.id DESC")

    def _add_unindexed(self, query: StatementDraft) -> None:
        query.add(f"{self.rows} AS c WHERE c.tenant || '' = ?", self.owner)

    def _add_choices(self, query: StatementDraft, walk: IndexWalk) -> str:
        """Append the choices of a walk as rows of `v`; the comparison with one of them."""
        columns = [list(column) for column in zip(*walk.choices, strict=True)]
        if not columns:
            query.add("LATERAL ")
            return ""
        if walk.is_number:
            query.add("unnest(?::bigint[], ?::bigint[]) AS v (low, high), LATERAL ", *columns)
            return "BETWEEN v.low AND v.high"
        query.add("unnest(?::text[]) AS v (choice), LATERAL ", *columns)
        return "= v.choice"
