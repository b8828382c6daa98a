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
from svc_core.access.authorize import Facts, Grant, OperationAccess, authorize, locked
from svc_core.access.counters import MemoryCounters
from svc_core.access.keys import Bearer, parse_bearer
from svc_core.access.plans import PlanTable
from svc_core.access.principal import Principal
from svc_core.accounts import Admission
from svc_core.ports import SYSTEM, Storage, Transaction
from svc_core.problem import Problem
from svc_http.exchange import Exchange

TTL_SECONDS = 1.0
"""How long a key may be believed without asking: a change in another process counts after it."""

PRINCIPALS_MAX = 10_000
"""Keys held at once: about 20 MB, more than one process can serve within a second."""


@frozen
class _Held:
    principal: Principal
    admission: Admission
    until: float


class Principals:
    """The keys in use, by digest, the longest unused forgotten first."""

    def __init__(self, storage: Storage, plans: PlanTable, monotonic: Callable[[], float]) -> None:
        self._storage = storage
        self._plans = plans
        self._monotonic = monotonic
        self._counters = MemoryCounters()
        self._held: OrderedDict[str, _Held] = OrderedDict()

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

        admission = await self._storage.read(SYSTEM, unit)
        if admission is None:
            self._held.pop(digest_hex, None)
            return None
        return self._hold(digest_hex, admission)

    def _hold(self, digest_hex: str, admission: Admission) -> Principal:
        held = self._held.get(digest_hex)
        if held is not None and held.admission == admission:
            principal = held.principal
        else:
            principal = Principal.of(admission.key, admission.plan, self._counters)
        until = self._monotonic() + TTL_SECONDS
        self._held[digest_hex] = _Held(principal, admission, until)
        self._held.move_to_end(digest_hex)
        if len(self._held) > PRINCIPALS_MAX:
            self._held.popitem(last=False)
        return principal

    def forget_all(self) -> None:
        """Look every key up anew: called when a key or a plan has changed."""
        self._held.clear()


class Gate:
    """Lets requests in or refuses them, the same way for every operation."""

    def __init__(self, principals: Principals, trusted: Trusted) -> None:
        self._principals = principals
        self._trusted = trusted
        self._book = lockout.LockoutBook()

    async def admit(self, access: OperationAccess, exchange: Exchange, now: datetime) -> Grant:
        """Leave to run the operation; the exchange learns whose it is and its limits.

        Raises:
            Problem: whatever `authorize` refuses with.
        """
        bearer = parse_bearer(exchange.header("authorization"))
        client = self._client(exchange)
        principal = None
        if isinstance(bearer, Bearer):
            principal = self._principals.fresh(bearer.digest_hex)
            if principal is None and not self._is_locked(client, now):
                principal = await self._principals.load(bearer.digest_hex)
        if principal is not None:
            exchange.tenant = principal.actor.tenant
            exchange.key_prefix = principal.key.prefix
        facts = Facts(bearer, principal, client, self._book.failures(client.text))
        try:
            grant = authorize(access, facts, now)
        except Problem as refusal:
            # Only this refusal counts: every other one is about a key that exists.
            if refusal.type is problem.INVALID_API_KEY and not self._book.record(client.text, now):
                raise locked(self._book.failures(client.text), now) from refusal
            raise
        if grant.verdict is not None:
            exchange.limit_headers = grant.headers
        return grant

    def _is_locked(self, client: ClientAddress, now: datetime) -> bool:
        return lockout.is_locked(self._book.failures(client.text), now)

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
