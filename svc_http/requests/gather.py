"""The facts for `access.authorize`: who calls, from where, and how often already.

The usual request is judged without waiting: its key is known, its counters are in memory. Only
a key that was not seen for a second is looked up in storage.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256

from attrs import evolve, frozen

from svc_core import accounts, problem
from svc_core.access import address, lockout
from svc_core.access.address import ClientAddress, Forwarded, Trusted
from svc_core.access.authorize import Facts, Grant, OperationAccess, authorize, locked
from svc_core.access.counters import MemoryCounters
from svc_core.access.keys import Bearer, Malformed, parse_bearer
from svc_core.access.plans import PlanTable
from svc_core.access.principal import Principal
from svc_core.accounts import Admission
from svc_core.ports import SYSTEM, Storage, Transaction
from svc_core.problem import Problem
from svc_http.requests.exchange import Exchange
from svc_http.requests.rates import Rates
from svc_http.requests.respond import Again
from svc_http.runtime.uses import Uses

TTL_SECONDS = 1.0
"""How long a key may be believed without asking: a change in another process counts after it."""

PRINCIPALS_MAX = 10_000
"""Keys held at once: about 20 MB, more than one process can serve within a second."""

_SCHEME = b"Bearer "

_STANDING = frozenset(
    {
        problem.API_KEY_REVOKED,
        problem.PLAN_INELIGIBLE,
        problem.INSUFFICIENT_SCOPE,
        problem.WORKSPACE_KEY_REQUIRED,
    }
)
"""Refusals of a key for what it is: they hold for as long as it is the same."""

_KEYLESS = frozenset({problem.MISSING_API_KEY, problem.PAYMENT_REQUIRED})
"""Refusals of whoever sends no key: they hold for as long as the operation is the same."""


@frozen(eq=False)
class _Held:
    """A key as it was looked up, good `until` a moment of the monotonic clock.

    `grant` is what its requests get. `open` has the operations that the whole of `authorize` let
    it run, or refused for its rates alone; `shut` has those that it refused for what the key is,
    with the refusal. Of what `authorize` judges, status, plan, scopes and binding cannot change
    without another principal; see `Gate.admit_known` for the rest.
    """

    principal: Principal
    admission: Admission
    until: float
    grant: Grant
    open: dict[OperationAccess, Rates]
    shut: dict[OperationAccess, Again]


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
        held = self.held(digest_hex)
        return None if held is None else held.principal

    def held(self, digest_hex: str) -> _Held | None:
        """The same with what was found out about it."""
        held = self._held.get(digest_hex)
        if held is None or held.until < self._monotonic():
            return None
        return held

    def held_as(self, digest_hex: str, principal: Principal) -> _Held | None:
        """What is held of a key, to note in it what was found out about this principal."""
        held = self._held.get(digest_hex)
        return held if held is not None and held.principal is principal else None

    async def load(self, digest_hex: str) -> Principal | None:
        """The principal as storage has it now; None for an unknown key."""

        async def unit(tx: Transaction) -> Admission | None:
            return await accounts.find_key(tx, digest_hex, self._plans)

        forgotten = self._forgotten
        admission = await self._storage.read(SYSTEM, unit)
        if admission is None:
            self._held.pop(digest_hex, None)
            return None
        if forgotten != self._forgotten:
            # A change came while this was read, which may have been before it: it is good for
            # this request, that overlapped the change, and for no other.
            return Principal.of(admission.key, admission.plan, self._counters)
        return self._hold(digest_hex, admission)

    def _hold(self, digest_hex: str, admission: Admission) -> Principal:
        held = self._held.get(digest_hex)
        until = self._monotonic() + TTL_SECONDS
        if held is not None and held.admission == admission:
            held = evolve(held, until=until)
        else:
            principal = Principal.of(admission.key, admission.plan, self._counters)
            grant = Grant(principal.actor, principal.key)
            held = _Held(principal, admission, until, grant, {}, {})
        self._held[digest_hex] = held
        self._held.move_to_end(digest_hex)
        if len(self._held) > PRINCIPALS_MAX:
            self._held.popitem(last=False)
        return held.principal

    def forget_all(self) -> None:
        """Look every key up anew: called when a key or a plan has changed."""
        self._held.clear()
        self._forgotten += 1


class Gate:
    """Lets requests in or refuses them, the same way for every operation."""

    def __init__(self, principals: Principals, trusted: Trusted) -> None:
        self._principals = principals
        self._trusted = trusted
        self._book = lockout.LockoutBook()
        self._keyless: dict[OperationAccess, Again] = {}
        self.uses = Uses()

    def admit_known(
        self, access: OperationAccess, exchange: Exchange, now: datetime
    ) -> Grant | Again | None:
        """What `admit` gives or raises, without waiting, where the same was asked before.

        A refusal is returned, because raising it costs as much as all the rest. None, and nothing
        has been counted, in every other case; then `admit` decides. So this can let nobody in whom
        `admit` would refuse, and refuses nobody whom it would let in:

        - The key: the credential is not parsed. Its digest finds a held key only if it is that
          key, byte for byte, for nobody can make another text with the same SHA-256. The time of
          the look-up tells at most something of a digest, from which no key can be made.
        - Status, plan, scopes, binding: judged when the operation was noted, on a principal that
          is another one as soon as any of them changes. Trust in it ends after `TTL_SECONDS`, or
          at once with `forget_all`.
        - Expiry, lockout of the address, rates: judged here, at every request.
        - A refusal by rates is given again only within its second and while no counter moved.
        - A key with a list of addresses is never noted.
        - No key at all: refused for what the operation demands, which never changes.
        """
        sent = exchange.fields.get(b"authorization")
        if sent is None:
            return self._keyless.get(access)
        held = self._known(sent, exchange, now)
        if held is None:
            return None
        again = held.shut.get(access)
        if again is None:
            rates = held.open.get(access)
            if rates is None:
                return None
            exchange.limit_headers, again = rates.count(now)
        key = held.principal.key
        exchange.tenant = held.grant.actor.tenant
        exchange.key_prefix = key.prefix
        if again is not None:
            return again
        self.uses.note(key.id, now)
        return held.grant

    def _known(self, sent: bytes, exchange: Exchange, now: datetime) -> _Held | None:
        """What is held of the key that was sent, unless it or its address needs a closer look."""
        if sent[:7] != _SCHEME:
            return None
        held = self._principals.held(sha256(sent[7:]).hexdigest())
        if held is None:
            return None
        expires_at = held.principal.key.expires_at
        if expires_at is not None and expires_at <= now:
            return None
        if self._book and self._book.failures(self._client(exchange).text):
            return None
        return held

    async def admit(self, access: OperationAccess, exchange: Exchange, now: datetime) -> Grant:
        """Permission to run the operation; the exchange learns whose it is and its limits.

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
            if refusal.type in _STANDING:
                self._note_shut(access, bearer, principal, refusal)
            elif refusal.type is problem.RATE_LIMITED:
                self._note_open(access, bearer, principal)
            elif refusal.type in _KEYLESS:
                self._keyless[access] = _again(refusal)
            raise
        if principal is not None:
            self.uses.note(principal.key.id, now)
        if grant.verdict is not None:
            exchange.limit_headers = grant.headers
            self._note_open(access, bearer, principal)
        return grant

    def _note_open(
        self,
        access: OperationAccess,
        bearer: Bearer | Malformed | None,
        principal: Principal | None,
    ) -> None:
        held = self._notable(bearer, principal)
        if held is not None and access.pool == "account":
            held.open.setdefault(access, Rates(held.principal.general))

    def _note_shut(
        self,
        access: OperationAccess,
        bearer: Bearer | Malformed | None,
        principal: Principal | None,
        refusal: Problem,
    ) -> None:
        held = self._notable(bearer, principal)
        if held is not None:
            held.shut[access] = _again(refusal)

    def _notable(
        self, bearer: Bearer | Malformed | None, principal: Principal | None
    ) -> _Held | None:
        """What is held of a principal that was judged just now, unless it is to be judged anew."""
        if not isinstance(bearer, Bearer) or principal is None or principal.addresses:
            return None
        return self._principals.held_as(bearer.digest_hex, principal)

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


def _again(raised: Problem) -> Again:
    """The same refusal, to be given again; one that nobody raises, so that it holds no frames."""
    return Again(Problem(raised.type, raised.detail, raised.headers))
