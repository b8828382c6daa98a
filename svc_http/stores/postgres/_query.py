# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Composes the SQL of lists, counts and searches for PostgreSQL.

Rule 1: a list walks one index, from its bound on, and checks the other filters row by row. Of
        several filters the rarest is walked (`drivers`). A filter that must not be walked is
        written so that no index fits it (`|| ''`, `+ 0`), and a lookup by identifier so that the
        planner cannot turn it into a join (`OFFSET 0`): without statistics, or with those of
        another tenant, the server would scan a whole table for each row of the other.
Rule 2: if the walked filter has several values, each has a walk of its own, because one walk over
        all of them would be in no order.
Rule 3: the text depends on the kinds of filters and never on their values, so it is planned once.
"""

from collections.abc import Mapping

from svc_core.operation.ports import NO_NUMBER, Position
from svc_http.stores.postgres._session import number_parameters
from svc_http.stores.postgres._table import PostgresTable, tokens_of
from svc_http.stores.selection import Criteria

PROBED_MAX = 200
"""Counting stops here: enough to tell a rare filter value from a common one."""


class PostgresQuery:
    """A builder of one statement: its text, with a question mark for each of its values."""

    def __init__(
        self, table: PostgresTable, criteria: Criteria, text: str, *values: object
    ) -> None:
        self._table = table
        self._criteria = criteria
        self.text = text
        self.values = [*values]

    def add(self, text: str, *values: object) -> "PostgresQuery":
        """Append text and its values."""
        self.text += text
        self.values += values
        return self

    def rows(self, owner: str, *, is_unindexed: bool = False) -> "PostgresQuery":
        """Append the table with the rows of a tenant; words are looked up in the text index."""
        words = self._criteria.words
        suffix = " || ''" if words or is_unindexed else ""
        self.add(f"{self._table.rows} AS c WHERE c.tenant{suffix} = ?", owner)
        return self.add(" AND c.tokens @> ?::text[]", tokens_of(owner, words)) if words else self

    def facet_rows(self, owner: str, name: str, *, has_rows: bool = False) -> "PostgresQuery":
        """Append the table with a facet of a tenant, optionally joined with its rows."""
        self.add(f"{self._table.facets} AS f")
        if has_rows:
            row = f"SELECT r.* FROM {self._table.rows} AS r"
            join = "r.tenant = f.tenant AND r.id = f.id"
            self.add(f" CROSS JOIN LATERAL ({row} WHERE {join} OFFSET 0) AS c")
        return self.add(f" WHERE f.name = '{name}' AND f.tenant = ?", owner)

    def bounds(self, line: str = "c", after: Position | None = None) -> "PostgresQuery":
        """Append the bounds of the order; of two upper bounds only the tighter one."""
        start, end = self._criteria.start, self._criteria.end
        if start is not None:
            self.add(f" AND {line}.ord >= ?::bigint", start)
        if after is not None and (end is None or after.order <= end):
            self.add(f" AND ({line}.ord, {line}.id) < (?::bigint, ?)", after.order, after.id)
        elif end is not None:
            self.add(f" AND {line}.ord <= ?::bigint", end)
        return self

    def check(self, *, driver: str | None = None) -> "PostgresQuery":
        """Append the filters that are checked row by row: all but the one that is walked."""
        if self._criteria.is_whole:
            return self
        for name, values in self._criteria.where.items():
            if name in self._table.collection.facets and name != driver:
                join = "g.tenant = c.tenant AND g.id = c.id"
                self.add(f" AND EXISTS (SELECT FROM {self._table.facets} AS g WHERE {join}")
                self.add(f" AND g.name || '' = '{name}' AND g.value = ANY (?::text[])", values)
                self.add(" OFFSET 0)")
            elif name != driver:
                self.add(f" AND c.k_{name} || '' = ANY (?::text[])", values)
        for span in self._criteria.spans:
            self.span(span.name, "" if span.name == driver else " + 0")
        return self

    def span(self, name: str, suffix: str = "") -> None:
        """Append the ranges of a number."""
        number = f"c.n_{name}{suffix}"
        for _, low, high, wraps in (span for span in self._criteria.spans if span.name == name):
            if wraps:
                below = f"{number} BETWEEN {NO_NUMBER + 1} AND ?::bigint"
                self.add(f" AND ({number} >= ?::bigint OR {below})", low, high)
            else:
                self.add(f" AND {number} BETWEEN ?::bigint AND ?::bigint", low, high)


class Lists:
    """The statements of one list of a tenant: page, count, search and probes."""

    def __init__(self, table: PostgresTable, owner: str, criteria: Criteria) -> None:
        self._table = table
        self._owner = owner
        self._criteria = criteria
        self.is_whole = criteria.is_whole
        self.is_open = (criteria.start, criteria.end) == (None, None)

    def scan(
        self, driver: str | None, order: str | None, after: Position | None, count: int
    ) -> PostgresQuery:
        """Rows in the order of the collection, or of a number, which is then a further column."""
        choices, is_facet = self._criteria.where.get(driver or "", ()), self._is_facet(driver)
        line = "f" if is_facet else "c"
        key, sort = ("ord", f"{line}.ord") if order is None else ("number", f"c.n_{order}")
        is_walked = driver == order or (order is None and driver in self._criteria.where)
        if self._criteria.words or not is_walked:
            sort = f"({sort} + 0)"
        columns = "c.id, c.version, c.ord, c.body" + (f", {sort} AS number" if order else "")
        query = self._query("")
        if len(choices) > 1:
            query.add(f"SELECT DISTINCT ON (r.{key}, r.id) r.* FROM unnest(?::text[])", choices)
            query.add(" AS v (value) CROSS JOIN LATERAL (")
        query.add(f"SELECT {columns} FROM ")
        if is_facet and driver is not None:
            query.facet_rows(self._owner, driver, has_rows=True)
        else:
            query.rows(self._owner)
        if choices:
            column = "f.value" if is_facet else f"c.k_{driver}"
            mark = ("v.value",) if len(choices) > 1 else ("?", *choices)
            query.add(f" AND {column} = {mark[0]}", *mark[1:])
        query.bounds(line, after if order is None else None)
        if order is not None and after is not None:
            query.add(f" AND ({sort}, {line}.id) < (?::bigint, ?)", after.order, after.id)
        query.check(driver=driver).add(f" ORDER BY {sort} DESC, {line}.id DESC LIMIT ?", count)
        if len(choices) > 1:
            query.add(f") AS r ORDER BY r.{key} DESC, r.id DESC LIMIT ?", count)
        return query

    def page(self, after: Position | None, count: int) -> tuple[str, list[object]]:
        """`scan` of a list without filters, whose text is cached by the kinds of its bounds."""
        start, end, values = self._criteria.start, self._criteria.end, list[object]((self._owner,))
        if start is not None:
            values.append(start)
        is_after = after is not None and (end is None or after.order <= end)
        if after is not None and is_after:
            values += (after.order, after.id)
        elif end is not None:
            values.append(end)
        values.append(count)
        kind = (start is None, is_after, len(values))
        if kind not in self._table.pages:
            self._table.pages[kind] = number_parameters(self.scan(None, None, after, count).text)
        return self._table.pages[kind], values

    def count(self, driver: str | None, limit: int) -> PostgresQuery:
        """How many rows there are, up to a limit."""
        query = self.scan(driver, None, None, limit)
        if self._criteria.words:  # the text index finds rows in no order, and a count needs none
            query = self._query("SELECT FROM ").rows(self._owner).bounds().check()
            query.add(" LIMIT ?", limit)
        query.text = f"SELECT count(*) FROM ({query.text}) AS l"
        return query

    def window(self, limit: int) -> PostgresQuery:
        """The number of rows between the bounds of the order, up to a limit."""
        query = self._query(f"SELECT count(*) FROM (SELECT FROM {self._table.rows} AS c")
        return query.add(" WHERE c.tenant = ?", self._owner).bounds().add(" LIMIT ?) AS l", limit)

    def search(
        self, terms: Mapping[str, int], after: Position | None, limit: int, *, is_narrow: bool
    ) -> PostgresQuery:
        """Rows by the total weight of their terms, highest first; the weight is a further column.

        Rows are ranked from the text index alone, term by term, and only the best are read. If few
        rows lie between the bounds (`is_narrow`), those are walked instead.
        """
        words = (tokens_of(self._owner, terms), list(terms.values()))
        query = self._query("SELECT c.id, c.version, c.ord, c.body, m.rank FROM (")
        query.add("SELECT r.id, r.ord, sum(t.weight)::bigint AS rank")
        query.add(" FROM unnest(?::text[], ?::bigint[]) AS t (term, weight)", *words)
        if is_narrow:
            query.add(
                " JOIN (SELECT w.id, w.ord, w.tokens FROM (SELECT c.id, c.ord, c.tokens FROM "
            )
            query.rows(self._owner).bounds().check()
            # The planner flattens a subquery, but not one with an OFFSET.
            query.add(" OFFSET 0) AS w WHERE w.tokens && ?::text[]", words[0])
            query.add(") AS r ON t.term = ANY (r.tokens)")
        else:
            query.add(" CROSS JOIN LATERAL (SELECT c.id, c.ord FROM ")
            query.rows(self._owner, is_unindexed=True).add(" AND c.tokens @> ARRAY[t.term]")
            query.bounds().check().add(") AS r")
        query.add(" GROUP BY r.id, r.ord")
        if after is not None:
            place = (after.rank, after.order, after.id)
            query.add(" HAVING (sum(t.weight), r.ord, r.id) < (?::bigint, ?::bigint, ?)", *place)
        query.add(" ORDER BY rank DESC, r.ord DESC, r.id DESC LIMIT ?", limit)
        query.add(
            f") AS m JOIN {self._table.rows} AS c ON c.tenant = ? AND c.id = m.id", self._owner
        )
        return query.add(" ORDER BY m.rank DESC, m.ord DESC, m.id DESC")

    def across(self, after: tuple[int, str, str] | None, limit: int) -> PostgresQuery:
        """Rows of all tenants, the lowest first; those of a shared collection are the system's."""
        is_owned, end = self._table.collection.scope == "tenant", self._criteria.end
        condition, order = ("TRUE", "(c.ord - 0)") if is_owned else ("c.tenant = ''", "c.ord")
        query = self._query(
            f"SELECT c.tenant, c.id, c.version, c.ord, c.body FROM {self._table.rows}"
        )
        query.add(f" AS c WHERE {condition}")
        if after is not None:
            query.add(f" AND ({order}, c.tenant, c.id) > (?::bigint, ?, ?)", *after)
        if end is not None:
            query.add(f" AND {order} <= ?::bigint", end)
        return query.check().add(f" ORDER BY {order}, c.tenant, c.id LIMIT ?", limit)

    def drivers(self, order: str | None) -> tuple[list[str], list[str]]:
        """The filters whose index is in list order, and the others that could be walked; none of
        either if the criteria have words."""
        if self._criteria.words:
            return [], []
        names = list(self._criteria.where) if order is None else [order]
        spans = [span.name for span in self._criteria.spans if not span.wraps]
        return names, [name for name in (*self._criteria.where, *spans) if name not in names]

    def probe(self, names: list[str]) -> PostgresQuery:
        """The number of rows that each filter matches, up to a limit: a column for each."""
        query = self._query("SELECT ")
        for name in names:
            query.add(f"{', ' if query.values else ''}(SELECT count(*) FROM (SELECT FROM ")
            is_named = name in self._criteria.where  # a number has one walk
            values = self._criteria.where[name] if is_named else ("",)
            # One walk per value: for IN the server would choose another index.
            query.add("unnest(?::text[]) AS v (value), LATERAL (SELECT FROM ", values)
            key = "c.ord" if is_named else f"c.n_{name}"
            if self._is_facet(name):
                key = "f.ord"
                query.facet_rows(self._owner, name).add(" AND f.value = v.value")
            else:
                query.rows(self._owner).add(f" AND c.k_{name} = v.value" if is_named else "")
            query.span(name)
            # Ordered, because only then does the planner read an index without going to its end.
            query.add(f" ORDER BY {key} DESC, {key[0]}.id DESC LIMIT {PROBED_MAX}) AS r")
            query.add(f" LIMIT {PROBED_MAX}) AS l)")
        return query

    def _is_facet(self, name: str | None) -> bool:
        return name in self._table.collection.facets

    def _query(self, text: str, *values: object) -> PostgresQuery:
        return PostgresQuery(self._table, self._criteria, text, *values)
