"""Rate limits: the pools of a key and its account, and their header fields (Spec: Limits).

Rule 1: a pool counts one subject (a key, or a whole account) over one window (minute or day).
Rule 2: everything constant is computed once per principal: the pools and their constant headers.

`quotas` counts the use of the pools.
"""

from collections.abc import Sequence
from typing import NamedTuple

from attrs import field, frozen

from svc_core.access.keys import ApiKey
from svc_core.access.plans import Plan
from svc_core.operation.ports import Pool, PoolUsage

MINUTE_SECONDS = 60
DAY_SECONDS = 86_400

Header = tuple[bytes, bytes]


class Rate(NamedTuple):
    """Requests admitted per fixed UTC minute and per fixed UTC day."""

    per_minute: int
    per_day: int


AGENT_KEY_RATE = Rate(5, 100)
AGENT_ACCOUNT_RATE = Rate(10, 250)


@frozen
class Family:
    """A family of pools that are counted together, with the names of its header fields.

    The spellings take `kind` (`Limit`, `Remaining`) and `span` (`Minute`, `Day`).
    """

    prefix: str
    key_spelling: str
    account_spelling: str

    def pools(self, key: tuple[str, Rate], account: tuple[str, Rate]) -> tuple[Pool, ...]:
        """The four pools, key before account and minute before day."""
        return tuple(
            Pool(f"{self.prefix}{holder}-{span}", subject, limit, seconds)
            for holder, (subject, rate) in (("key", key), ("account", account))
            for span, limit, seconds in (
                ("minute", rate.per_minute, MINUTE_SECONDS),
                ("day", rate.per_day, DAY_SECONDS),
            )
        )

    def field_names(self, kind: str) -> tuple[str, ...]:
        """The names of the fields that tell `kind` for each pool, in the order of the pools."""
        return tuple(
            spelling.format(kind=kind, span=span)
            for spelling in (self.key_spelling, self.account_spelling)
            for span in ("Minute", "Day")
        )


GENERAL = Family("", "X-RateLimit-{kind}-{span}", "X-RateLimit-{kind}-User-{span}")
AGENT = Family(
    "agent-",
    "X-Svc-Agent-RateLimit-{kind}-{span}",
    "X-Svc-Agent-RateLimit-Account-{kind}-{span}",
)


def account_agent_pools(tenant: str) -> tuple[Pool, ...]:
    """The agent pools of an account, for a turn without a key, such as a scheduled run."""
    return AGENT.pools(("", AGENT_KEY_RATE), (tenant, AGENT_ACCOUNT_RATE))[2:]


def window_end(latest: int, second: int, span: int) -> int:
    """The Unix second at which the window in force ends, of `span` seconds: the `latest` one seen,
    where that is the next because another clock is a little ahead, else that of now. At most `span`
    from now: whose clock is right begins it anew by then."""
    now = second // span
    return min((now + (latest == now + 1) + 1) * span, second + span)


def opens_at(pools: Sequence[Pool], usage: PoolUsage, second: int) -> int | None:
    """The Unix second at which all exhausted pools open again; None where none is exhausted."""
    windows = {MINUTE_SECONDS: usage.minute, DAY_SECONDS: usage.day}
    ends = [
        window_end(windows[pool.seconds], second, pool.seconds)
        for pool, used in zip(pools, usage.used, strict=True)
        if used >= pool.limit
    ]
    return max(ends, default=None)


def _lower(name: str) -> bytes:
    return name.lower().encode()


_FIXED_NAMES = (
    "X-RateLimit-Reset-Minute",
    "X-RateLimit-Reset-Day",
    "RateLimit-Policy",
    "RateLimit",
    "Retry-After",
)
RESET_MINUTE, RESET_DAY, POLICY, STATE, RETRY_AFTER = map(_lower, _FIXED_NAMES)

HEADER_NAMES: tuple[str, ...] = (
    *(
        name
        for family in (GENERAL, AGENT)
        for kind in ("Limit", "Remaining")
        for name in family.field_names(kind)
    ),
    *_FIXED_NAMES,
)
"""Every field that tells of rate limits, in the spelling of the documents."""

SPELLING = {_lower(name): name for name in HEADER_NAMES}
"""The same by the names that ASGI has them under."""


@frozen(eq=False)
class Meter:
    """The four pools of one principal in one family, and all of their header text that stays.

    `beside` is a second meter whose pools the same requests are counted in: an agent request
    uses the agent pools and the general ones.
    """

    family: Family
    pools: tuple[Pool, ...]
    beside: "Meter | None" = None
    limits: tuple[int, ...] = field(init=False)
    remaining_names: tuple[bytes, ...] = field(init=False)
    constant_headers: tuple[Header, ...] = field(init=False)
    state: bytes = field(init=False)

    @classmethod
    def of(
        cls,
        family: Family,
        key: tuple[str, Rate],
        account: tuple[str, Rate],
        beside: "Meter | None" = None,
    ) -> "Meter":
        """The meter of a key and its account, each given as subject and rate."""
        return cls(family, family.pools(key, account), beside)

    @property
    def all_pools(self) -> tuple[Pool, ...]:
        """Its pools, then those of the meter beside it: the order of a decision's numbers."""
        return self.pools if self.beside is None else self.pools + self.beside.pools

    @limits.default
    def _limits(self) -> tuple[int, ...]:
        return tuple(pool.limit for pool in self.pools)

    @remaining_names.default
    def _remaining_names(self) -> tuple[bytes, ...]:
        return tuple(map(_lower, self.family.field_names("Remaining")))

    @constant_headers.default
    def _constant_headers(self) -> tuple[Header, ...]:
        names = map(_lower, self.family.field_names("Limit"))
        values = (b"%d" % limit for limit in self.limits)
        policy = (f'"{pool.name}";q={pool.limit};w={pool.seconds}' for pool in self.pools)
        return *zip(names, values, strict=True), (POLICY, ", ".join(policy).encode())

    @state.default
    def _state(self) -> bytes:
        return ", ".join(f'"{pool.name}";r=%b;t=%b' for pool in self.pools).encode()


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
