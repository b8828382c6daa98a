"""Plans: how many keys an account may have, and how fast they may call (Spec: Plans).

Rule 1: entitlement is checked at every request, never stored when a key is made.
Rule 2: a plan that admits no new keys serves grandfathered keys only, and only at its own rates.
Rule 3: a plan with a rate of zero gives no key access to anyone, nor does one that is not offered.

The spec states two sets of numbers; both are presets, and a settings file may change any number of
them or add a plan.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

from attrs import frozen

from svc_core import wire
from svc_core.wire.constraints import Ge, Le, Pattern

Amount = Annotated[int, Ge(0), Le(1_000_000_000)]


@frozen
class Plan:
    """One row of the plan table.

    `keys_max` bounds the active keys of one workspace; the rates are requests per fixed UTC
    minute and per UTC day, for each key and again for the account as a whole. `chat_credits` are
    turns of the agent per UTC month and account, `subscriptions` how many public profiles of
    others a workspace follows at once. `profiles`, `projects` and `automations` are how many of
    these a workspace has at most, those of all its people together.
    """

    name: Annotated[str, Pattern("[a-z][a-z0-9-]{0,39}", "a name in small letters, such as team")]
    new_keys: bool
    keys_max: Amount
    per_minute: Amount
    per_day: Amount
    chat_credits: Amount = 0
    subscriptions: Amount = 0
    profiles: Amount = 100
    projects: Amount = 200
    automations: Amount = 50

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
        """The plan called `name`; one that is no longer offered admits nobody."""
        return self.plans.get(name) or Plan(name, False, 0, 0, 0)

    def with_changes(self, tables: Mapping[str, wire.Json]) -> "PlanTable":
        """This table with some members of its plans exchanged, and with the plans that it lacks.

        `tables` has members of `Plan`, as JSON names them, by the name of the plan.

        Raises: ValueError: they do not fit; it names the member and what it must be.
        """
        rows = (self._row(name, members) for name, members in tables.items())
        return PlanTable.of([*self.plans.values(), *rows])

    def _row(self, name: str, members: wire.Json) -> Plan:
        before: Any = wire.to_json(self.plans[name]) if name in self.plans else {"name": name}
        try:
            plan = wire.structure(Plan, before | members if isinstance(members, dict) else members)
        except wire.WireError as error:
            faults = [f"{name}{row.place.replace('/', '.')}: {row.reason}" for row in error.faults]
            raise ValueError("; ".join(faults)) from error
        if plan.name != name:
            raise ValueError(f"{name}.name: must be left out, or {name}")
        if not min(plan.per_day, 1) <= plan.per_minute <= plan.per_day:
            raise ValueError(f"{name}.perMinute: must be 1 to perDay, or 0 as perDay is")
        if plan.new_keys and not (plan.keys_max and plan.per_day):
            raise ValueError(f"{name}.newKeys: must be false where keysMax or perDay is 0")
        return plan


_FREE = Plan("free", new_keys=False, keys_max=0, per_minute=0, per_day=0)
_LITE = Plan("lite", new_keys=False, keys_max=2, per_minute=10, per_day=500, subscriptions=10)
_PRO = Plan("pro", True, 5, 30, 5_000, chat_credits=500, subscriptions=100)
_ELITE = Plan("elite", True, 25, 120, 50_000, 5_000, 1_000, 1_000, 2_000, 500)

DEFAULT_PLANS = PlanTable.of([_FREE, _LITE, _PRO, _ELITE])
"""The numbers of the interface reference."""

LARGEST_PLAN = _ELITE.name
"""Whose numbers hold where a host says nothing of plans."""

KEY_GUIDE_PLANS = DEFAULT_PLANS.with_changes(
    {"pro": {"keysMax": 10}, "elite": {"keysMax": 100, "perMinute": 300}}
)
"""The numbers of the key guide, where it differs from the interface reference."""

PRESETS: Mapping[str, PlanTable] = MappingProxyType(
    {"default": DEFAULT_PLANS, "key-guide": KEY_GUIDE_PLANS}
)
"""The named tables that a settings file may choose from."""
