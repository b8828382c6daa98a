"""The facts for `access.authorize`: who calls, from where, and how often already.

The usual request is judged without waiting: its key is known, its counters are in memory. Only
a key that was not seen for a second, or since keys or plans were written, is looked up in storage;
those that this process has never seen wait in a line of their own, where addresses share.
Where processes share their counters, `tallied.SharedGate` asks those as well.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from itertools import count

from attrs import frozen

from svc_core.access import address, lockout
from svc_core.access import operations as accounts
from svc_core.access.address import ClientAddress, Forwarded, Trusted
from svc_core.access.authorize import Facts, Grant, OperationAccess, Principal, authorize
from svc_core.access.keys import Bearer, parse_bearer
from svc_core.access.lockout import MemoryLockouts
from svc_core.access.model import KEYS, USERS, WORKSPACES
from svc_core.access.operations import Admission
from svc_core.access.plans import PlanTable
from svc_core.access.quotas import MemoryCounters
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import SYSTEM, Storage, Transaction
from svc_http.exchange.exchange import VOUCH, Exchange, busy
from svc_http.exchange.load import WaitingRoom
from svc_http.guard.key_uses import Uses

TTL_SECONDS = 1.0
"""How long a key may be believed without asking: a change of which the news was lost counts after
it."""

LOOKUPS_MAX = 16
"""Unknown keys that are looked up at once. Whoever is known passes them by, and waits in the store
for no more than these; half of what shares a snapshot (`storage.sqlite.threads`)."""

STRANGERS_MAX = 1_000
"""Requests that wait for such a look-up: a second's work on a slow store."""

STRANGER_SECONDS = 5.0
"""How long they wait: as long as for the store itself."""

PRINCIPALS_MAX = 10_000
"""Keys held at once: about 20 MB, more than one process can serve within a second."""


@frozen(eq=False)
class _Entry:
    """A key as it was looked up, good `until` a moment of the monotonic clock, and while nothing
    that it was made from was written."""

    principal: Principal
    admission: Admission
    until: float
    generation: int


_FORWARDING = (b"cf-connecting-ip", b"x-forwarded-for", b"x-real-ip")
"""In the order of `Forwarded`."""

_SOURCES = frozenset({KEYS.name, WORKSPACES.name, USERS.name})
"""What a principal is made from."""


class Principals:
    """The keys in use, by digest, the least recently used dropped first."""

    def __init__(
        self,
        storage: Storage,
        plans: PlanTable,
        monotonic: Callable[[], float],
        counters: MemoryCounters | None = None,
    ) -> None:
        self._storage = storage
        self._plans = plans
        self._monotonic = monotonic
        self._counters = MemoryCounters() if counters is None else counters
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._generations = count(1)
        self._generation = 0
        storage.watch(self._on_commit)

    def fresh(self, digest_hex: str) -> Principal | None:
        """The principal of a key that was looked up within the last second, and not changed since
        as far as is known."""
        entry = self._entries.get(digest_hex)
        if entry is None or entry.generation != self._generation:
            return None
        return None if entry.until < self._monotonic() else entry.principal

    async def load(self, digest_hex: str) -> Principal | None:
        """The principal as storage has it now; None for an unknown key."""

        async def unit(tx: Transaction) -> Admission | None:
            return await accounts.find_key(tx, digest_hex, self._plans)

        # A change that comes while this is read may have been before it: then it is good for this
        # request, that overlapped the change, and for no other.
        generation = self._generation
        admission = await self._storage.read(SYSTEM, unit)
        if admission is None:
            self._entries.pop(digest_hex, None)
            return None
        entry = self._entries.get(digest_hex)
        if entry is not None and entry.admission == admission:
            principal = entry.principal
        else:
            principal = Principal.of(admission.key, admission.plan, self._counters)
        until = self._monotonic() + TTL_SECONDS
        self._entries[digest_hex] = _Entry(principal, admission, until, generation)
        self._entries.move_to_end(digest_hex)
        if len(self._entries) > PRINCIPALS_MAX:
            self._entries.popitem(last=False)
        return principal

    def knows(self, digest_hex: str) -> bool:
        """Whether the key was there when it was last looked up, however long ago."""
        return digest_hex in self._entries

    def _on_commit(self, names: frozenset[str]) -> None:
        """Have every key looked up anew; called on the thread that committed."""
        if not names.isdisjoint(_SOURCES):
            self._generation = next(self._generations)


class Gate:
    """Lets requests in or refuses them, the same way for every operation."""

    waits = False
    """Whether every request with a key has to be let in by `let_in`."""

    is_down = False
    """Whether what processes share cannot be reached."""

    def __init__(
        self,
        principals: Principals,
        proxies: Trusted,
        lockouts: MemoryLockouts | None = None,
    ) -> None:
        self._principals = principals
        self._proxies = proxies
        self._lockouts = MemoryLockouts() if lockouts is None else lockouts
        self._lookups = asyncio.Semaphore(LOOKUPS_MAX)
        self._strangers = WaitingRoom(STRANGERS_MAX)
        self.uses = Uses()

    def facts(self, exchange: Exchange) -> Facts:
        """What memory knows of a request: enough for `admit` where it has a principal, or no
        key was sent."""
        client = self._client(exchange)
        failures = self._lockouts.known(client.text)
        authorization = exchange.fields.get(b"authorization")
        if authorization is None:
            return Facts(address=client, failures=failures)
        bearer = parse_bearer(authorization.decode("latin-1"))
        fresh = self._principals.fresh(bearer.digest_hex) if isinstance(bearer, Bearer) else None
        if fresh is not None:  # the log says whose it is of a refusal too
            exchange.tenant, exchange.key_prefix = fresh.actor.tenant, fresh.key.prefix
        return Facts(bearer, fresh, client, failures)

    async def let_in(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """As `admit`, for facts that memory alone may not complete.

        Raises:
            Problem: whatever `authorize` refuses with; OVERLOADED for a stranger whose turn does
                not come.
        """
        if self._is_known(facts):
            return await self._let_in(access, exchange, facts, now)
        with exchange.resting():
            try:
                async with self._strangers.place(STRANGER_SECONDS, *exchange.shares):
                    await self._lookups.acquire()
            except TimeoutError as late:
                raise busy(problem.OVERLOADED) from late
            try:
                failures = self._lockouts.known(facts.address.text)  # it may be locked by now
                return await self._let_in(access, exchange, facts._replace(failures=failures), now)
            finally:
                self._lookups.release()

    def is_unchanged(self, facts: Facts) -> bool:
        """Whether the key that was shown is known to be what it was, within a second."""
        bearer = facts.bearer
        if not isinstance(bearer, Bearer):
            return False
        return facts.principal is not None and facts.principal is self._principals.fresh(
            bearer.digest_hex
        )

    def _is_known(self, facts: Facts) -> bool:
        """Whether the caller shows a key that was there when it was last looked up."""
        bearer = facts.bearer
        if facts.principal is not None:
            return True
        return isinstance(bearer, Bearer) and self._principals.knows(bearer.digest_hex)

    async def _let_in(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        facts = await self._looked_up(exchange, facts, now)
        # Read after the look-up, so that of a burst no more are told than the lock allows.
        failures = self._lockouts.known(facts.address.text)
        return self.admit(access, exchange, facts._replace(failures=failures), now)

    async def _looked_up(self, exchange: Exchange, facts: Facts, now: datetime) -> Facts:
        """The facts with the key as storage has it, where a key was sent that memory does not know
        and the address is not locked."""
        bearer = facts.bearer
        if facts.principal is not None or not isinstance(bearer, Bearer):
            return facts
        if lockout.is_locked(facts.failures, now):
            return facts
        principal = await self._principals.load(bearer.digest_hex)
        if principal is not None:
            exchange.tenant, exchange.key_prefix = principal.actor.tenant, principal.key.prefix
        return facts._replace(principal=principal)

    def admit(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """Permission to run the operation; the exchange learns whose it is and its limits.

        Raises:
            Problem: whatever `authorize` refuses with.
        """
        try:
            grant = authorize(access, facts, now)
        except Problem as refusal:
            # Only this refusal counts: every other one is about a key that exists.
            if refusal.type is problem.INVALID_API_KEY:
                self._lockouts.note(facts.address.text, now)
            raise
        return self._note_grant(exchange, facts, grant, now)

    def _note_grant(self, exchange: Exchange, facts: Facts, grant: Grant, now: datetime) -> Grant:
        exchange.limit_headers = grant.headers
        if facts.principal is not None:
            state = exchange.scope.get("state")
            if state and VOUCH in state:
                state[VOUCH]()
            self.uses.note(facts.principal.key.id, now)
        return grant

    def block(self, exchange: Exchange) -> str:
        """The block of addresses that a request comes from."""
        return address.block(self._client(exchange).text)

    def _client(self, exchange: Exchange) -> ClientAddress:
        peer = exchange.scope.get("client")
        proxy_fields = None
        if not exchange.fields.keys().isdisjoint(_FORWARDING):
            proxy_fields = Forwarded(*map(exchange.lines, _FORWARDING))
        return address.resolve(peer[0] if peer else None, proxy_fields, self._proxies)
