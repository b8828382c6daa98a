"""The context of a call: who calls, when, which operation, and what the host offers.

Rules that need no rows take a `CallContext`. Use cases receive one of its two subclasses: a
`Context` with one unit of work, or a `WorkContext` that begins as many units as it needs.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar, Unpack

from attrs import Factory, field, frozen

from svc_core.base import seals
from svc_core.base.unset import Maybe, Unset
from svc_core.contract import cursor, problem
from svc_core.contract.problem import Problem
from svc_core.operation.host import Host
from svc_core.operation.ports import BASE_V2, Ids, Position, RowBounds, StoredRow

T = TypeVar("T")


@frozen
class Actor:
    """The caller. `tenant` is the workspace, the user of a personal key, or "" without a key.

    `roles` are the roles of a person in the workspace, or `operator`; a key has none. A person who
    manages what the system keeps of a workspace has the system as `tenant`, and `workspace_id`
    names the workspace that is meant. `session_id` is the session that such a person came in.
    """

    tenant: str
    workspace_id: str | None = None
    user_id: str | None = None
    key_id: str | None = None
    scopes: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset()
    session_id: str | None = None


@frozen
class CallContext:
    """Everything about one call except its request. `now` is read once per request.

    `format` is the negotiated representation. `aliases` says whether answers still have their
    deprecated members. `target` is the row that a mutation is about, `if_match` the precondition of
    an operation without such a row, and `ahead` what was read on a snapshot before the unit began.
    `origin` is the origin that the caller used: the host's own, or its secondary one without v2.
    """

    now: datetime
    ids: Ids
    actor: Actor
    operation: str
    keyring: seals.Keyring
    format: str = "json"
    aliases: bool = True
    target: StoredRow[Any] | None = None
    if_match: str | None = None
    host: Host = field(factory=Host)
    ahead: Any = None
    origin: str = field(default=Factory(lambda self: self.host.origin, takes_self=True))

    def visible_url(self, url: str | None) -> str | None:
        """The URL of one of our resources, rewritten for the origin that the caller used.

        A key is meant for one origin, so no link may lead its holder to another one. None where the
        caller's origin does not serve the resource; a URL of somebody else is returned unchanged.
        """
        own = f"{self.host.origin}/"
        if url is None or self.origin == self.host.origin or not url.startswith(own):
            return url
        path = url.removeprefix(self.host.origin)
        return None if path.startswith(f"{BASE_V2}/") else self.origin + path

    def borrow(self, port: type[T]) -> T:
        """The provider that the host registered for this Protocol.

        Raises:
            Problem: SERVICE_UNAVAILABLE where it registered none.
        """
        provider = self.host.providers.get(port)
        if provider is None:
            summary = (port.__doc__ or port.__name__).partition(".")[0]
            raise Problem(problem.SERVICE_UNAVAILABLE, f"This host does not have it: {summary}.")
        return provider  # type: ignore[no-any-return]

    @property
    def row(self) -> StoredRow[Any]:
        """The row that the running mutation changes; its operation must declare a target."""
        if self.target is None:
            raise AssertionError("the operation declares its target")
        return self.target

    # -- cursors -----------------------------------------------------------------------------------

    def list_binding(
        self,
        where: Mapping[str, tuple[str, ...]],
        order: str | None = None,
        *,
        form: int = 1,
        **bounds: Unpack[RowBounds],
    ) -> bytes:
        """The digest that binds cursors to one list: tenant, operation, filters and order.

        `form` is that of the collection: a cursor of a former order is of another list.
        """
        filters = sorted((name, tuple(sorted(values))) for name, values in where.items())
        ranges, words = bounds.get("ranges") or {}, bounds.get("words") or ()
        selection = (tuple(sorted(ranges.items())), bounds.get("box"), tuple(sorted(words)))
        limits = (bounds.get("start"), bounds.get("end"), selection)
        order = f"{order or 'desc'} {form}" if form > 1 else order
        return _binding(self.actor.tenant, self.operation, tuple(filters), limits, order)

    def open_cursor(self, token: Maybe[str], binding: bytes) -> Position | None:
        """The position that a cursor seals; None when there is no cursor.

        Raises:
            Problem: INVALID_CURSOR, one code for every reason, so that it is no oracle.
        """
        if isinstance(token, Unset):
            return None
        order, id_, *_ = self.unseal_cursor(token, binding)
        return Position(order, id_)

    def unseal_cursor(self, token: str, binding: bytes) -> list[Any]:
        """The members sealed in a cursor.

        Raises:
            Problem: INVALID_CURSOR, one code for every reason, so that it is no oracle.
        """
        try:
            return list(cursor.unseal(self.keyring, token, binding))
        except cursor.CursorError as error:
            raise Problem(
                problem.INVALID_CURSOR, "The cursor is not one that this listing gave out."
            ) from error

    def seal_cursor(
        self, position: Position | None, binding: bytes, extra: Sequence[int] = ()
    ) -> str | None:
        """The cursor for a position, with `extra` numbers that its list needs; None for the end."""
        if position is None:
            return None
        members = [position.order, position.id, *extra]
        return cursor.seal(self.keyring, members, binding, self.ids.random(12))


@lru_cache(maxsize=1024)  # lists being walked at once; a digest costs more than to remember it
def _binding(
    tenant: str,
    operation: str,
    filters: tuple[tuple[str, tuple[str, ...]], ...],
    limits: tuple[object, ...],
    order: str | None,
) -> bytes:
    bounds = dict(zip(("start", "end", "narrowed"), limits, strict=True))
    return cursor.binding(tenant, operation, {**dict(filters), **bounds}, order or "desc")
