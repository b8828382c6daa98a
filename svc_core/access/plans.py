"""Plans: who may hold keys, how many, and how fast they may call (Spec: Plans).

Rule 1: entitlement is asked at every validation, never remembered from the day a key was made.
Rule 2: a plan that admits no new keys serves grandfathered keys only, and only at its own rates.
Rule 3: a plan with a rate of zero gives no key access to anyone.

The spec states two sets of numbers; both are presets, and a settings file may replace any row.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs
from attrs import field, frozen
from attrs.validators import ge


@frozen
class Plan:
    """One row of the plan table.

    `keys_max` bounds the active keys of one workspace; the rates are requests per fixed UTC
    minute and per UTC day, for each key and again for the account as a whole. `chat_credits` are
    turns of the agent per UTC month and account.
    """

    name: str
    new_keys: bool
    keys_max: int = field(validator=ge(0))
    per_minute: int = field(validator=ge(0))
    per_day: int = field(validator=ge(0))
    chat_credits: int = field(default=0, validator=ge(0))

    def admits(self, *, grandfathered: bool) -> bool:
        """Whether a key may call under this plan now."""
        return self.per_minute > 0 and self.per_day > 0 and (self.new_keys or grandfathered)


@frozen
class PlanTable:
    """The plans that a service offers, by name."""

    plans: Mapping[str, Plan]

    @classmethod
    def of(cls, plans: Iterable[Plan]) -> "PlanTable":
        """A table of these plans; a later row replaces an earlier one of the same name."""
        return cls(MappingProxyType({plan.name: plan for plan in plans}))

    def plan(self, name: str) -> Plan:
        """The plan called `name`.

        Raises: LookupError, naming the plans there are.
        """
        try:
            return self.plans[name]
        except KeyError:
            known = ", ".join(self.plans)
            raise LookupError(f"there is no plan {name!r}; the plans are {known}") from None

    def replacing(self, *plans: Plan) -> "PlanTable":
        """This table with the given rows put in or exchanged."""
        return PlanTable.of([*self.plans.values(), *plans])

    def giving(self, credits: Iterable[tuple[str, int]]) -> "PlanTable":
        """This table with other chat credits for the plans that are named."""
        return self.replacing(
            *(attrs.evolve(self.plan(name), chat_credits=count) for name, count in credits)
        )


_FREE = Plan("free", new_keys=False, keys_max=0, per_minute=0, per_day=0)
_LITE = Plan("lite", new_keys=False, keys_max=2, per_minute=10, per_day=500)

DEFAULT_PLANS = PlanTable.of(
    [
        _FREE,
        _LITE,
        Plan("pro", new_keys=True, keys_max=5, per_minute=30, per_day=5_000, chat_credits=500),
        Plan(
            "elite", new_keys=True, keys_max=25, per_minute=120, per_day=50_000, chat_credits=5_000
        ),
    ]
)
"""The numbers of the interface reference."""

KEY_GUIDE_PLANS = DEFAULT_PLANS.replacing(
    Plan("pro", new_keys=True, keys_max=10, per_minute=30, per_day=5_000, chat_credits=500),
    Plan("elite", new_keys=True, keys_max=100, per_minute=300, per_day=50_000, chat_credits=5_000),
)
"""The numbers of the key guide, where it differs from the interface reference."""

PRESETS: Mapping[str, PlanTable] = MappingProxyType(
    {"default": DEFAULT_PLANS, "key-guide": KEY_GUIDE_PLANS}
)
"""The named tables that a settings file may choose from."""
