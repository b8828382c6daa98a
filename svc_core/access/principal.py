"""A principal: one key as the gate needs it, made once and held between requests.

A host keeps principals by key digest and drops one when its key, or the plan of its account,
changes; that is how a revoked or regenerated key stops at once. Making it costs some 30 us,
asking it about 2 us.
"""

from attrs import field, frozen

from svc_core.access.counters import Gauge, MemoryCounters
from svc_core.access.keys import ApiKey
from svc_core.access.limits import (
    AGENT,
    AGENT_ACCOUNT_RATE,
    AGENT_KEY_RATE,
    GENERAL,
    Meter,
    Rate,
)
from svc_core.access.plans import Plan
from svc_core.operation.declaration import Actor, Counting


@frozen(eq=False)
class Principal:
    """A known key, the plan of its account now, and the counters of both.

    `general` counts every request of the key, `agent` those of the agent streams (in the agent
    pools and in the general ones).
    """

    key: ApiKey
    plan: Plan
    general: Gauge
    agent: Gauge
    actor: Actor = field(init=False)
    addresses: frozenset[str] = field(init=False)

    @classmethod
    def of(cls, key: ApiKey, plan: Plan, counters: MemoryCounters) -> "Principal":
        """The principal of `key` under `plan`, sharing counts with its account."""
        general = general_meter(key, plan)
        gauge = counters.gauge(agent_meter(key, general))
        return cls(key, plan, counters.gauge(general), gauge)

    def gauge(self, pool: Counting) -> Gauge | None:
        """The counters that an operation with this pool is counted by, if any."""
        if pool in {"none", "address"}:  # what an address is counted by is no key's
            return None
        return self.general if pool == "account" else self.agent

    @actor.default
    def _actor(self) -> Actor:
        key = self.key
        return Actor(
            tenant=key.tenant,
            workspace_id=key.workspace_id,
            user_id=key.user_id,
            key_id=key.id,
            scopes=frozenset(key.scopes),
        )

    @addresses.default
    def _addresses(self) -> frozenset[str]:
        return frozenset(self.key.addresses)


def general_meter(key: ApiKey, plan: Plan) -> Meter:
    """The pools of every request: the key at the stricter of its own rate and the plan's, the
    account at the plan's, however many keys it has."""
    rate = Rate(plan.per_minute, plan.per_day)
    own = Rate(_stricter(key.per_minute, plan.per_minute), _stricter(key.per_day, plan.per_day))
    return Meter.of(GENERAL, (key.id, own), (key.tenant, rate))


def agent_meter(key: ApiKey, general: Meter) -> Meter:
    """The pools of the agent streams, counted together with the general ones."""
    return Meter.of(
        AGENT, (key.id, AGENT_KEY_RATE), (key.tenant, AGENT_ACCOUNT_RATE), beside=general
    )


def _stricter(own: int | None, plan: int) -> int:
    return plan if own is None else min(own, plan)
