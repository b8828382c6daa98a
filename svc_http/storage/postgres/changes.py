"""The change feed: one gapless count per scope, in the order of commits.

Rule 1: whoever writes holds the lock of its tenant until its commit (`writing`), so the next
        position is the highest plus one, and positions become visible in their order.
Rule 2: `seq` merges the two scopes of a reader: of two commits of which one was acknowledged
        before the other began, it is lower in the first. It never leaves the house.
Rule 3: an entry is text in JSON without other characters than ASCII, because a text of PostgreSQL
        cannot hold U+0000.
"""

import json
from typing import Any

from attrs import evolve

from svc_core import compact
from svc_core.ports import Change, ChangeSlice, FeedPosition
from svc_http.storage import scopes
from svc_http.storage.moments import from_stored, to_stored
from svc_http.storage.postgres.session import Part, Session

EVERYBODY = "*"
"""The scope of global entries; the scope of a tenant begins with a slash."""

_json = compact.encoder(ascii_only=True)

_HEAD = "SELECT coalesce(max(position), 0) FROM changes AS h WHERE h.scope = "
_APPEND = (
    "INSERT INTO changes (scope, position, resource_type, entry)"
    f" SELECT n.scope, ({_HEAD} n.scope) + n.place, n.resource_type, n.entry"
    " FROM unnest(?::text[], ?::int[], ?::text[], ?::text[])"
    " AS n (scope, place, resource_type, entry)"
)
_HEADS = f"SELECT ({_HEAD} $1) AS everybody, ({_HEAD} $2) AS own"
_COLUMNS = "seq, scope, position, resource_type, entry"
_AFTER = (
    f"(SELECT {_COLUMNS} FROM changes WHERE scope = $1 AND position > $3{{type}}"
    " ORDER BY position LIMIT $5)"
    f" UNION ALL (SELECT {_COLUMNS} FROM changes WHERE scope = $2 AND position > $4{{type}}"
    " ORDER BY position LIMIT $5)"
)
_READ = (
    f"SELECT h.everybody, h.own, e.* FROM ({_HEADS}) AS h LEFT JOIN"
    f" (SELECT {_COLUMNS} FROM {{entries}} ORDER BY seq LIMIT $5) AS e ON TRUE ORDER BY e.seq"
)
_READ_ALL = _READ.format(entries=f"({_AFTER.format(type='')}) AS a")
# One walk per type: an IN would read every entry of the types before it sorts.
_READ_TYPES = _READ.format(
    entries="unnest($6::text[]) AS t (name) CROSS JOIN LATERAL"
    f" ({_AFTER.format(type=' AND resource_type = t.name')}) AS a"
)
_EPOCH = "SELECT value FROM meta WHERE name = 'epoch'"


class PostgresChanges:
    """The feed of one tenant: global entries and its own."""

    def __init__(self, session: Session, tenant: str) -> None:
        self._session = session
        self._tenant = tenant
        self._own = f"/{tenant}"
        self._waiting: list[tuple[str, int, str, str]] = []
        self._counts = {EVERYBODY: 0, self._own: 0}
        session.waiting.append(self)

    async def append(self, change: Change) -> None:
        """Add an entry; see the port."""
        self._session.write()
        scopes.publishing(change, self._tenant)
        scope = EVERYBODY if change.everybody else self._own
        self._counts[scope] += 1
        self._waiting.append(
            (scope, self._counts[scope], change.resource_type, _json(_entry(change)))
        )

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        """At most `limit` entries after the position; see the port."""
        asked = (EVERYBODY, self._own, after.everybody, after.own, limit + 1)
        if types is None:
            found = await self._session.asked(_READ_ALL, *asked)
        else:
            found = await self._session.asked(_READ_TYPES, *asked, list(dict.fromkeys(types)))
        entries = [row for row in found if row["seq"] is not None]
        changes = tuple(_change(row) for row in entries[:limit])
        if len(entries) > limit:
            return ChangeSlice(changes, _advanced(after, entries[:limit]), more=True)
        position = FeedPosition(
            max(found[0]["everybody"], after.everybody), max(found[0]["own"], after.own)
        )
        return ChangeSlice(changes, position, more=False)

    async def head(self) -> FeedPosition:
        """The position after the newest entry that this transaction can see."""
        (found,) = await self._session.asked(_HEADS, EVERYBODY, self._own)
        return FeedPosition(*found)

    async def epoch(self) -> bytes:
        """The eight bytes that name this feed's life."""
        (found,) = await self._session.rows(_EPOCH)
        epoch: bytes = found["value"]
        return epoch

    def parts(self) -> list[Part]:
        """The statement that writes what waits."""
        if not self._waiting:
            return []
        columns = tuple(list(column) for column in zip(*self._waiting, strict=True))
        self.forget()
        return [Part(_APPEND, columns)]

    def forget(self) -> None:
        """Drop what waits."""
        self._waiting.clear()
        self._counts = dict.fromkeys(self._counts, 0)


def _advanced(after: FeedPosition, entries: list[Any]) -> FeedPosition:
    position = after
    for row in entries:
        if row["scope"] == EVERYBODY:
            position = evolve(position, everybody=row["position"])
        else:
            position = evolve(position, own=row["position"])
    return position


def _entry(change: Change) -> tuple[object, ...]:
    return (
        change.id,
        change.change_type,
        change.resource_id,
        change.version,
        to_stored(change.occurred_at),
        change.path,
    )


def _change(row: Any) -> Change:
    id_, change_type, resource_id, version, occurred_at, path = json.loads(row["entry"])
    return Change(
        id=id_,
        change_type=change_type,
        resource_type=row["resource_type"],
        resource_id=resource_id,
        version=version,
        occurred_at=from_stored(occurred_at),
        path=path,
        everybody=row["scope"] == EVERYBODY,
    )
