"""The facts for `access.authorize`: who calls, from where, and how often already.

The usual request is judged without waiting: its key is known, its counters are in memory. Only
a key that was not seen for a second is looked up in storage.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime

from attrs import frozen

from svc_core import accounts, problem
from svc_core.access import address, lockout
from svc_core.access.address import ClientAddress, Forwarded, Trusted
from svc_core.access.authorize import Facts, Grant, OperationAccess, authorize
from svc_core.access.counters import MemoryCounters
from svc_core.access.keys import Bearer, parse_bearer
from svc_core.access.plans import PlanTable
from svc_core.access.principal import Principal
from svc_core.accounts import Admission
from svc_core.ports import SYSTEM, Storage, Transaction
from svc_core.problem import Problem
from svc_http.requests.exchange import Exchange
from svc_http.runtime.uses import Uses

TTL_SECONDS = 1.0
"""How long a key may be believed without asking: a change in another process counts after it."""

PRINCIPALS_MAX = 10_000
"""Keys held at once: about 20 MB, more than one process can serve within a second."""


@frozen(eq=False)
class _Held:
    """A key as it was looked up, good `until` a moment of the monotonic clock."""

    principal: Principal
    admission: Admission
    until: float


class Principals:
    """The keys in use, by digest, the least recently used dropped first."""

    def __init__(self, storage: Storage, plans: PlanTable, monotonic: Callable[[], float]) -> None:
        self._storage = storage
        self._plans = plans
        self._monotonic = monotonic
        self._counters = MemoryCounters()
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._forgotten = 0

    def fresh(self, digest_hex: str) -> Principal | None:
        """The principal of a key that was looked up within the last second."""
        held = self._held.get(digest_hex)
        if held is None or held.until < self._monotonic():
            return None
        return held.principal

    async def load(self, digest_hex: str) -> Principal | None:
        """The principal as storage has it now; None for an unknown key."""

        async def unit(tx: Transaction) -> Admission | None:
            return await accounts.find_key(tx, digest_hex, self._plans)

        forgotten = self._forgotten
        admission = await self._storage.read(SYSTEM, unit)
        if admission is None:
            self._held.pop(digest_hex, None)
            return None
        held = self._held.get(digest_hex)
        if held is not None and held.admission == admission:
            principal = held.principal
        else:
            principal = Principal.of(admission.key, admission.plan, self._counters)
        # A change that came while this was read may have been before it: then it is good for
        # this request, that overlapped the change, and for no other.
        if forgotten == self._forgotten:
            until = self._monotonic() + TTL_SECONDS
            self._held[digest_hex] = _Held(principal, admission, until)
            self._held.move_to_end(digest_hex)
            if len(self._held) > PRINCIPALS_MAX:
                self._held.popitem(last=False)
        return principal

    def forget_all(self) -> None:
        """Look every key up anew: called when a key or a plan has changed."""
        self._held.clear()
        self._forgotten += 1


class Gate:
    """Lets requests in or refuses them, the same way for every operation."""

    def __init__(self, principals: Principals, trusted: Trusted) -> None:
        self._principals = principals
        self._trusted = trusted
        self._lockouts = lockout.Lockouts()
        self.uses = Uses()

    def facts(self, exchange: Exchange) -> Facts:
        """What memory knows of a request; `looked_up` completes it where that is not enough."""
        bearer = parse_bearer(exchange.header("authorization"))
        client = self._client(exchange)
        fresh = self._principals.fresh(bearer.digest_hex) if isinstance(bearer, Bearer) else None
        return Facts(bearer, fresh, client, self._lockouts.failures(client.text))

    async def looked_up(self, facts: Facts, now: datetime) -> Facts:
        """The facts with the key as storage has it, where a key was sent that memory does not know
        and the address is not locked."""
        bearer = facts.bearer
        if facts.principal is not None or not isinstance(bearer, Bearer):
            return facts
        if lockout.is_locked(facts.failures, now):
            return facts
        principal = await self._principals.load(bearer.digest_hex)
        # Read after the look-up, so that of a burst no more are told than the lock allows.
        failures = self._lockouts.failures(facts.address.text)
        return facts._replace(principal=principal, failures=failures)

    def admit(
        self, access: OperationAccess, exchange: Exchange, facts: Facts, now: datetime
    ) -> Grant:
        """Permission to run the operation; the exchange learns whose it is and its limits.

        Raises:
            Problem: whatever `authorize` refuses with.
        """
        principal = facts.principal
        if principal is not None:
            exchange.tenant = principal.actor.tenant
            exchange.key_prefix = principal.key.prefix
        try:
            grant = authorize(access, facts, now)
        except Problem as refusal:
            # Only this refusal counts: every other one is about a key that exists.
            if refusal.type is problem.INVALID_API_KEY:
                self._lockouts.record(facts.address.text, now)
            raise
        if principal is not None:
            self.uses.note(principal.key.id, now)
        exchange.limit_headers = grant.headers
        return grant

    def _client(self, exchange: Exchange) -> ClientAddress:
        fields = exchange.fields
        peer = exchange.scope.get("client")
        host = peer[0] if peer else None
        if (
            b"cf-connecting-ip" not in fields
            and b"x-forwarded-for" not in fields
            and b"x-real-ip" not in fields
        ):
            return address.resolve(host, address.NOT_FORWARDED, self._trusted)
        forwarded = Forwarded(
            exchange.lines(b"cf-connecting-ip"),
            exchange.lines(b"x-forwarded-for"),
            exchange.lines(b"x-real-ip"),
        )
        return address.resolve(host, forwarded, self._trusted)
