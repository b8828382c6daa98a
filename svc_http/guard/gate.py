"""Admits requests: finds out who calls, from where and how often, and asks `access.authorize`.

An ordinary request is judged without waiting: its key and its counters are in memory. A key is
looked up in storage only where it was not seen for a second, or since keys or plans were written.
Where processes share their counters, `shared_gate.SharedGate` reads those as well.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from itertools import count

from attrs import frozen

from svc_core.access import address, lockout
from svc_core.access import operations as accounts
from svc_core.access.address import AddressRules, ClientAddress, ForwardingHeaders
from svc_core.access.authorization import Facts, Grant, OperationAccess, Principal, authorize
from svc_core.access.keys import Bearer, parse_bearer
from svc_core.access.lockout import MemoryLockouts
from svc_core.access.model import KEYS, USERS, WORKSPACES
from svc_core.access.operations import Admission
from svc_core.access.plans import PlanTable
from svc_core.access.quotas import MemoryCounters
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.ports import SYSTEM, Failures, Storage, Transaction
from svc_http.exchange.fair_shares import BOUNDS, Shares
from svc_http.exchange.http_exchange import VOUCH, Exchange, busy
from svc_http.guard.use_log import Uses

# The order of the gate
# ---------------------
# The decision itself is a pure function of facts (`access.authorize`, where the order of the checks
# stands: key, lockout, state of the key, plan, scope, address, workspace, rate). The gate gathers
# the facts, and how far it has to go for them depends on what memory holds:
#
#   no key shown                 `facts` is complete; `admit` judges at once
#   key seen within TTL_SECONDS  `facts` has the principal; `admit` judges at once
#   key seen before that         `let_in` looks it up, ahead of the queue of unknown keys
#   key never seen               `let_in` waits for one of a few look-ups, then looks it up
#   address locked               no look-up; `authorize` refuses with 429
#   malformed key                no look-up; `authorize` refuses with 401
#
# Three rules make that safe.
#
# Unknown keys must not crowd out known ones. Random keys cost an attacker nothing and each costs
# a read of storage. So look-ups of unknown keys are few at a time, and whoever waits for one has a
# place (`exchange.fair_shares`), where a crowd from one address evicts its own. A caller whose key
# has worked before never waits there. The request gives its working slot back while it waits.
#
# An address is locked after a number of unknown keys, and a burst must not get past the lock. So
# the failures are read again after the look-up, without waiting between that and the judgement:
# of a thousand parallel guesses, only as many learn that their key is unknown as the lock allows.
# Only INVALID_API_KEY counts as a failure: a revoked or expired key is no guess.
#
# A revoked key stops at once in the process that revoked it, and elsewhere within a second. Every
# commit that writes keys, workspaces or users raises the generation, which makes all cached
# principals stale. The generation is read before the look-up begins, so that a change which
# overlaps the look-up leaves an entry that is stale from the start. News from other processes can
# be lost; then TTL_SECONDS ends the belief.
#
# What is weak: a generation covers all keys, so that a service which writes keys all the time
# looks up every key all the time. That is one read of an index each, and keys are written rarely.

TTL_SECONDS = 1.0
"""How long a cached key is used without a look-up, and a lost change can go unnoticed."""

STRANGER_SECONDS = 5.0
"""How long a request waits for the look-up of an unknown key: as long as for the store itself."""

PRINCIPALS_MAX = 10_000
"""Keys in memory: about 20 MB, more than one process can serve within a second."""


@frozen(eq=False)
class _Entry:
    """A cached key: valid `until` a time of the monotonic clock, and within its generation."""

    principal: Principal
    admission: Admission
    until: float
    generation: int


_FORWARDING = (b"cf-connecting-ip", b"x-forwarded-for", b"x-real-ip")
"""The header fields of proxies, in the order of the members of `Forwarded`."""

_SOURCES = frozenset({KEYS.name, WORKSPACES.name, USERS.name})
"""The collections that a principal is made from."""


class Principals:
    """Caches the API keys in use by digest, and drops the least recently used first."""

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
        """The principal of a key that was looked up within the last second and not written since;
        None where it must be looked up."""
        entry = self._entries.get(digest_hex)
        if entry is None or entry.generation != self._generation:
            return None
        return None if entry.until < self._monotonic() else entry.principal

    async def load(self, digest_hex: str) -> Principal | None:
        """The principal as storage has it now; None for an unknown key."""

        async def unit(tx: Transaction) -> Admission | None:
            return await accounts.find_key(tx, digest_hex, self._plans)

        # A commit during this read may have come before or after it. The old generation makes the
        # entry good for this request, which overlaps the commit, and for no other.
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

    def tenant(self, digest_hex: str) -> str | None:
        """The workspace of a key that existed when it was last looked up, however long ago."""
        row = self._entries.get(digest_hex)
        return None if row is None else row.principal.actor.tenant

    def _on_commit(self, names: frozenset[str]) -> None:
        """Make every cached key stale; called on the thread that committed."""
        if not names.isdisjoint(_SOURCES):
            self._generation = next(self._generations)


class Gate:
    """Decides whether a request may run, in the same way for every operation."""

    waits = False
    """Whether every request with a key has to be let in by `let_in`."""

    def __init__(
        self,
        principals: Principals,
        addresses: AddressRules,
        lockouts: MemoryLockouts | None = None,
    ) -> None:
        self._principals = principals
        self._addresses = addresses
        self._lockouts = MemoryLockouts() if lockouts is None else lockouts
        self._lookups = asyncio.Semaphore(BOUNDS["lookups"].places)
        self._strangers: Shares[asyncio.Timeout] = Shares(BOUNDS["strangers"])
        self.uses = Uses()

    def facts(self, exchange: Exchange) -> Facts:
        """The facts about a request that are in memory.

        They are enough for `admit` where they have a principal, or where no key was sent.
        """
        client = self._client(exchange)
        failures = self._lockouts.known(self._addresses.block(client.text))
        authorization = exchange.fields.get(b"authorization")
        if authorization is None:
            return Facts(address=client, failures=failures)
        bearer = parse_bearer(authorization.decode("latin-1"))
        fresh = self._principals.fresh(bearer.digest_hex) if isinstance(bearer, Bearer) else None
        if fresh is not None:  # for the log, which names the tenant of a refusal, too
            exchange.tenant, exchange.key_prefix = fresh.actor.tenant, fresh.key.prefix
        return Facts(bearer, fresh, client, failures)

    async def let_in(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """As `admit`, after looking up the key where it is not in memory.

        Raises:
            Problem: whatever `authorize` refuses with; OVERLOADED where an unknown key is
                not looked up in time.
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
                failures = self._failures(facts.address)  # it may be locked by now
                return await self._let_in(access, exchange, facts._replace(failures=failures), now)
            finally:
                self._lookups.release()

    def is_unchanged(self, facts: Facts) -> bool:
        """Whether the key is known not to have changed since these facts were gathered."""
        bearer = facts.bearer
        if not isinstance(bearer, Bearer):
            return False
        return facts.principal is not None and facts.principal is self._principals.fresh(
            bearer.digest_hex
        )

    def _is_known(self, facts: Facts) -> bool:
        """Whether the caller sends a key that existed when it was last looked up."""
        return facts.principal is not None or self._tenant(facts.bearer) is not None

    def _tenant(self, bearer: object) -> str | None:
        return self._principals.tenant(bearer.digest_hex) if isinstance(bearer, Bearer) else None

    async def _let_in(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        facts = await self._complete(exchange, facts, now)
        # Read after the look-up, so that a burst of guesses cannot pass the lock (see above).
        failures = self._failures(facts.address)
        return self.admit(access, exchange, facts._replace(failures=failures), now)

    async def _complete(self, exchange: Exchange, facts: Facts, now: datetime) -> Facts:
        """The facts completed by the key from storage; unchanged where the address is locked."""
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
        """Permission to run the operation; its limits are written to the exchange.

        Raises:
            Problem: whatever `authorize` refuses with.
        """
        try:
            grant = authorize(access, facts, now)
        except Problem as refusal:
            # Only an unknown key counts towards the lockout: other refusals are of existing keys.
            if refusal.type is problem.INVALID_API_KEY:
                self._lockouts.note(self._addresses.block(facts.address.text), now)
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

    def _failures(self, client: ClientAddress) -> Failures:
        return self._lockouts.known(self._addresses.block(client.text))

    def tenant(self, exchange: Exchange) -> str | None:
        """The workspace of the key that a request has; None where no such key is known."""
        authorization = exchange.fields.get(b"authorization")
        if authorization is None:
            return None
        return self._tenant(parse_bearer(authorization.decode("latin-1")))

    def block(self, exchange: Exchange) -> str:
        """The address block that a request comes from."""
        return self._addresses.block(self._client(exchange).text)

    def _client(self, exchange: Exchange) -> ClientAddress:
        peer = exchange.scope.get("client")
        proxy_fields = None
        if not exchange.fields.keys().isdisjoint(_FORWARDING):
            proxy_fields = ForwardingHeaders(*map(exchange.lines, _FORWARDING))
        return address.resolve(peer[0] if peer else None, proxy_fields, self._addresses)
