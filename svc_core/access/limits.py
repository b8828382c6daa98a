"""Rate limits: fixed UTC windows over pools of requests (Spec: Limits).

Rule 1: a pool counts one subject (a key, or a whole account) over one window (minute or day).
Rule 2: a request is counted in all its pools or in none: a refused request consumes nothing.
Rule 3: a window never moves back. The window in force is the later of the one seen and the one
    of the clock, so a clock that is set back hands out no second quota.
Rule 4: everything constant is made once per principal; a request only counts and formats.

Times are whole Unix seconds, read once per request: the same reading decides, fills the header
fields and gives `Retry-After`.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from attrs import field, frozen

from svc_core.operation.ports import Counted, Pool

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
    """Pools that are counted together: their names and the spelling of their own fields.

    The spellings take `kind` (`Limit`, `Remaining`) and `span` (`Minute`, `Day`).
    """

    prefix: str
    key_spelling: str
    account_spelling: str

    def pools(self, key: tuple[str, Rate], account: tuple[str, Rate]) -> tuple[Pool, ...]:
        """The four pools, key before account and minute before day."""
        return tuple(
            Pool(f"{self.prefix}{who}-{span}", subject, limit, seconds)
            for who, (subject, rate) in (("key", key), ("account", account))
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


def of_account(tenant: str) -> tuple[Pool, ...]:
    """The agent's pools of an account, for a turn that no key asked for."""
    return AGENT.pools(("", AGENT_KEY_RATE), (tenant, AGENT_ACCOUNT_RATE))[2:]


def opens_at(pools: Sequence[Pool], counted: Counted, second: int) -> int | None:
    """The Unix second at which the pools open that refused; None where none did."""
    seen = {MINUTE_SECONDS: counted.minute, DAY_SECONDS: counted.day}
    ends = [
        (max(seen[pool.seconds], second // pool.seconds) + 1) * pool.seconds
        for pool, used in zip(pools, counted.used, strict=True)
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
_RESET_MINUTE, _RESET_DAY, _POLICY, _STATE, _RETRY_AFTER = map(_lower, _FIXED_NAMES)

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

_SPELLING = {_lower(name): name for name in HEADER_NAMES}


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
        return *zip(names, values, strict=True), (_POLICY, ", ".join(policy).encode())

    @state.default
    def _state(self) -> bytes:
        return ", ".join(f'"{pool.name}";r=%b;t=%b' for pool in self.pools).encode()


class Decision(NamedTuple):
    """What the pools said to one request at `second`.

    `remaining` goes by `meter.all_pools`; the resets are the Unix seconds at which the windows
    end. `exhausted` are the positions of the pools that refused; when it is empty the request
    was counted, in all of them. A named tuple, because one is made for every request.
    """

    meter: Meter
    second: int
    remaining: tuple[int, ...]
    reset_minute: int
    reset_day: int
    exhausted: tuple[int, ...] = ()

    @property
    def retry_after_seconds(self) -> int:
        """Seconds until every pool that refused opens again; 0 for an admitted request."""
        resets = (self.reset_minute, self.reset_day)  # pools alternate between minute and day
        return max([resets[i % 2] - self.second for i in self.exhausted], default=0)

    @property
    def exhausted_pools(self) -> tuple[Pool, ...]:
        """The pools that refused."""
        return tuple(self.meter.all_pools[i] for i in self.exhausted)


def judge(
    meter: Meter, used: Sequence[int], second: int, *, minute: int = 0, day: int = 0
) -> Decision:
    """The decision on a request at `second`, for a store that counts elsewhere.

    `used` is what was counted before it, by `meter.all_pools`; `minute` and `day` are the
    numbers of the latest windows the store has seen. The store then counts the request in all
    of the pools unless the decision names exhausted ones.
    """
    left = [pool.limit - count for pool, count in zip(meter.all_pools, used, strict=True)]
    exhausted = tuple([position for position, rest in enumerate(left) if rest <= 0])
    taken = 0 if exhausted else 1
    return Decision(
        meter,
        second,
        # A plan may have been lowered below what was used already: never a negative number.
        tuple([max(rest - taken, 0) for rest in left]),
        (max(minute, second // MINUTE_SECONDS) + 1) * MINUTE_SECONDS,
        (max(day, second // DAY_SECONDS) + 1) * DAY_SECONDS,
        exhausted,
    )


# -- header fields -----------------------------------------------------------------------------

_SMALL = 1_024
_DIGITS = tuple(b"%d" % number for number in range(_SMALL))
"""The text of small numbers, which most of the values are: formatting costs eight times more."""


def headers(decision: Decision) -> list[Header]:
    """The rate-limit fields of an answer, names in lower case as ASGI wants them.

    The spec's `X-RateLimit-*` (agent pools have their own spelling), the draft standard's
    `RateLimit-Policy` and `RateLimit`, and `Retry-After` when the request was refused. No name
    stands twice.
    """
    meter, second, remaining, reset_minute, reset_day, exhausted = decision
    clock = _clock(second, reset_minute, reset_day)
    fields = _family_fields(meter, remaining[:4], clock)
    if meter.beside is not None:
        fields = _joined(fields, _family_fields(meter.beside, remaining[4:], clock))
    if exhausted:
        fields.append((_RETRY_AFTER, b"%d" % decision.retry_after_seconds))
    fields += clock.reset_headers
    return fields


def named(fields: list[Header]) -> dict[str, str]:
    """The same fields as text, in the spelling of the documents: what a `Problem` carries."""
    return {_SPELLING[name]: value.decode() for name, value in fields}


class _Clock(NamedTuple):
    to_minute: bytes
    to_day: bytes
    reset_headers: tuple[Header, Header]


# All requests of one second share it; sixteen because clocks of windows may differ for a while.
@lru_cache(maxsize=16)
def _clock(second: int, reset_minute: int, reset_day: int) -> _Clock:
    resets = ((_RESET_MINUTE, b"%d" % reset_minute), (_RESET_DAY, b"%d" % reset_day))
    return _Clock(b"%d" % (reset_minute - second), b"%d" % (reset_day - second), resets)


def _family_fields(meter: Meter, remaining: tuple[int, ...], clock: _Clock) -> list[Header]:
    # Written out for the four pools: it runs for every answer, and loops cost twice as much.
    i, j, k, m = remaining
    a = _DIGITS[i] if i < _SMALL else b"%d" % i
    b = _DIGITS[j] if j < _SMALL else b"%d" % j
    c = _DIGITS[k] if k < _SMALL else b"%d" % k
    d = _DIGITS[m] if m < _SMALL else b"%d" % m
    minute, day, _ = clock
    name_a, name_b, name_c, name_d = meter.remaining_names
    state = meter.state % (a, minute, b, day, c, minute, d, day)
    return [
        *meter.constant_headers,
        (name_a, a),
        (name_b, b),
        (name_c, c),
        (name_d, d),
        (_STATE, state),
    ]


def _joined(first: list[Header], second: list[Header]) -> list[Header]:
    """Both lists; fields of one name become one comma-separated list (RFC 9110 5.3)."""
    fields: dict[bytes, bytes] = {}
    for name, value in (*first, *second):
        fields[name] = b"%b, %b" % (fields[name], value) if name in fields else value
    return list(fields.items())
