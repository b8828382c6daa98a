# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""Lists, counts and searches as statements.

Rule 1: a list walks one index, from its bound on, and looks at what else is asked row by row. Of
        several filters the one that few rows have is walked (`drivers`); what is not to be walked
        is written so that no index fits it (`|| ''`, `+ 0`).
Rule 2: where the filter that is walked has several values, each has a walk of its own: one walk
        over all of them would be in no order.
Rule 3: the text depends on what is asked and never on the values, so the server plans it once.
"""

from attrs import define, field

from svc_core.ports import NO_NUMBER, Position
from svc_http.storage.asked import Asked, Span
from svc_http.storage.postgres.table import Table

PROBED_MAX = 200
"""Counting stops here: enough to tell a rare filter from a common one."""


@define
class Query:
    """A statement in the making: its text, with a question mark for each of its values."""

    text: str
    values: list[object] = field(factory=list)

    def add(self, text: str, *values: object) -> None:
        """Go on with the text and its values."""
        self.text += text
        self.values += values


def scan(
    table: Table,
    owner: str,
    asked: Asked,
    *,
    driver: str | None,
    order: str | None,
    after: Position | None,
    count: int,
) -> Query:
    """A list in the order of its collection, or of a number, which then stands in a column more."""
    wanted = asked.where.get(driver or "", ())
    is_facet = driver in table.collection.facets
    line = "f" if is_facet and order is None else "c"
    sort = f"{line}.ord" if order is None else f"c.n_{order}"
    if driver != order and (order is not None or driver not in asked.where):
        sort = f"({sort} + 0)"
    columns = "c.id, c.version, c.ord, c.body" + ("" if order is None else f", {sort} AS number")
    made = Query(f"SELECT {columns} FROM ")
    if len(wanted) > 1:
        key = "ord" if order is None else "number"
        outer = f"SELECT DISTINCT ON (r.{key}, r.id) r.* FROM unnest(?::text[]) AS v (value)"
        made = Query(f"{outer} CROSS JOIN LATERAL ({made.text}", [wanted])
    _walk(made, table, owner, driver, wanted)
    _bound(made, line, asked, after if order is None else None)
    if order is not None and after is not None:
        made.add(f" AND ({sort}, c.id) < (?::bigint, ?)", after.order, after.id)
    _check(made, table, asked, but=driver)
    made.add(f" ORDER BY {sort} DESC, {line}.id DESC LIMIT ?", count)
    if len(wanted) > 1:
        made.add(f") AS r ORDER BY r.{key} DESC, r.id DESC LIMIT ?", count)
    return made


def count(table: Table, owner: str, asked: Asked, limit: int) -> Query:
    """How many rows there are, up to a limit; the server chooses how to find them."""
    made = Query(f"SELECT count(*) FROM (SELECT FROM {table.rows} AS c WHERE c.tenant = ?", [owner])
    _bound(made, "c", asked, None)
    _check(made, table, asked, is_free=True)
    made.add(" LIMIT ?) AS l", limit)
    return made


def search(
    table: Table,
    owner: str,
    terms: list[str],
    asked: Asked,
    *,
    after: Position | None,
    limit: int,
) -> Query:
    """The rows that hold most of the terms first; how many of them stands in a column more."""
    made = Query(
        "SELECT * FROM (SELECT c.id, c.version, c.ord, c.body, (SELECT count(*) FROM"
        " unnest(?::text[]) AS t (term) WHERE t.term = ANY (c.tokens)) AS rank"
        f" FROM {table.rows} AS c WHERE c.tenant = ? AND c.tokens && ?::text[]",
        [terms, owner, terms],
    )
    _bound(made, "c", asked, None)
    _check(made, table, asked, is_free=True)
    made.add(") AS m")
    if after is not None:
        place = (after.rank, after.order, after.id)
        made.add(" WHERE (m.rank, m.ord, m.id) < (?::bigint, ?::bigint, ?)", *place)
    made.add(" ORDER BY m.rank DESC, m.ord DESC, m.id DESC LIMIT ?", limit)
    return made


def across(table: Table, asked: Asked, limit: int) -> Query:
    """Rows of every tenant, the lowest first."""
    made = Query(f"SELECT c.tenant, c.id, c.version, c.ord, c.body FROM {table.rows} AS c WHERE ")
    made.add("TRUE" if table.collection.scope == "tenant" else "c.tenant = ''")
    _bound(made, "c", asked, None)
    _check(made, table, asked)
    made.add(" ORDER BY c.ord, c.tenant, c.id LIMIT ?", limit)
    return made


def drivers(asked: Asked, order: str | None) -> tuple[list[str], list[str]]:
    """The filters whose index is in the order of a list, and the others that may be walked.

    None may where words are asked for: the server chooses between their index and the list's.
    """
    if asked.words:
        return [], []
    ordered = list(asked.where) if order is None else [order]
    spans = [span.name for span in asked.spans if not span.wraps]
    return ordered, [name for name in (*asked.where, *spans) if name not in ordered]


def probe(table: Table, owner: str, asked: Asked, names: list[str]) -> Query:
    """How many rows each of some filters finds, up to a limit: a column for each."""
    made = Query("SELECT ")
    for name in names:
        made.add(f"{', ' if made.values else ''}(SELECT count(*) FROM (SELECT FROM ")
        if name in table.collection.facets:
            made.add(f"{table.facet_rows} AS f WHERE f.tenant = ? AND f.name = '{name}'", owner)
            made.add(" AND f.value = ANY (?::text[])", asked.where[name])
        else:
            made.add(f"{table.rows} AS c WHERE c.tenant = ?", owner)
            if name in asked.where:
                made.add(f" AND c.k_{name} = ANY (?::text[])", asked.where[name])
            _spans(made, [span for span in asked.spans if span.name == name], "")
        made.add(f" LIMIT {PROBED_MAX}) AS l)")
    return made


# -- parts -------------------------------------------------------------------------------------


def _walk(
    made: Query, table: Table, owner: str, driver: str | None, wanted: tuple[str, ...]
) -> None:
    """The tables, and the one value of the filter that is walked."""
    value = "v.value" if len(wanted) > 1 else "?"
    if driver in table.collection.facets:
        made.add(
            f"{table.facet_rows} AS f JOIN {table.rows} AS c ON c.tenant = f.tenant AND c.id = f.id"
            f" WHERE f.tenant = ? AND f.name = '{driver}' AND f.value = {value}",
            owner,
        )
    else:
        made.add(f"{table.rows} AS c WHERE c.tenant = ?", owner)
        if wanted:
            made.add(f" AND c.k_{driver} = {value}")
    if len(wanted) == 1:
        made.values += wanted


def _bound(made: Query, line: str, asked: Asked, after: Position | None) -> None:
    """Both ends of the order: of two upper bounds the tighter, where the walk begins."""
    if asked.start is not None:
        made.add(f" AND {line}.ord >= ?::bigint", asked.start)
    if after is not None and (asked.end is None or after.order <= asked.end):
        made.add(f" AND ({line}.ord, {line}.id) < (?::bigint, ?)", after.order, after.id)
    elif asked.end is not None:
        made.add(f" AND {line}.ord <= ?::bigint", asked.end)


def _check(
    made: Query, table: Table, asked: Asked, *, but: str | None = None, is_free: bool = False
) -> None:
    """What is looked at row by row, but for the filter that is walked.

    Where it `is_free`, the server may also walk what it likes best.
    """
    for name, values in asked.where.items():
        if name == but:
            continue
        if name in table.collection.facets:
            made.add(
                f" AND EXISTS (SELECT FROM {table.facet_rows} AS g WHERE g.tenant = c.tenant"
                f" AND g.id = c.id AND g.name = '{name}' AND g.value = ANY (?::text[]))",
                values,
            )
        else:
            made.add(f" AND c.k_{name}{'' if is_free else ' || '}", *())
            made.add(("" if is_free else "''") + " = ANY (?::text[])", values)
    walked = [span for span in asked.spans if is_free or span.name == but]
    _spans(made, walked, "")
    _spans(made, [span for span in asked.spans if span not in walked], " + 0")
    if asked.words:
        made.add(" AND c.tokens @> ?::text[]", asked.words)


def _spans(made: Query, spans: list[Span], unfit: str) -> None:
    for span in spans:
        number = f"c.n_{span.name}{unfit}"
        if span.wraps:
            made.add(f" AND ({number} >= ?::bigint OR {number} BETWEEN {NO_NUMBER + 1}")
            made.add(" AND ?::bigint)", span.low, span.high)
        else:
            made.add(f" AND {number} BETWEEN ?::bigint AND ?::bigint", span.low, span.high)
