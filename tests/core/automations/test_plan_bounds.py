"""A plan bounds what a workspace keeps: one row more is refused, by whomever it is written."""

from typing import Any

import pytest

from svc_core.access.model import WORKSPACES, Workspace
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.operation.host import Host

BODIES = {
    "createProfile": {"name": "Ports", "topic": "Cranes", "frequency": "manual"},
    "createProject": {"name": "Ports"},
    "createAutomation": {"name": "Look", "instructions": "What happened?"},
}


def test_the_plans_have_the_numbers_of_the_documents() -> None:
    rows = [DEFAULT_PLANS.plan(name) for name in ("pro", "elite")]
    bounds = [(plan.profiles, plan.projects, plan.automations) for plan in rows]
    assert bounds == [(100, 200, 50), (1_000, 2_000, 500)]


@pytest.mark.parametrize("operation", BODIES)
def test_a_workspace_has_as_many_rows_as_its_plan_says(desk: Any, operation: str) -> None:
    house, name = desk.house, operation.removeprefix("create").lower() + "s"
    plans = DEFAULT_PLANS.with_changes({"pro": {name: 2}})
    house.host = Host(providers={PlanTable: plans})

    workspace = Workspace("wsp_a", "Desk", "pro", house.clock.now())
    house.run(lambda ctx: ctx.save(WORKSPACES, "wsp_a", workspace))

    def add(tenant: str = "wsp_a") -> Any:
        key = house.ids.new("req")
        return house.send(operation, tenant=tenant, body=BODIES[operation], idempotency_key=key)

    add()
    house.user = desk.ben
    add()
    for person in (desk.ann, desk.ben):
        house.user = person
        key = house.ids.new("req")
        refusal = house.refusal(operation, body=BODIES[operation], idempotency_key=key)
        assert refusal.type.code == "RESOURCE_CONFLICT"
        assert f"plan of this workspace has at most 2 {name}" in refusal.detail
        assert refusal.resolution
    for _ in range(3):
        add("wsp_b")
    house.host = Host(providers={PlanTable: plans.with_changes({"pro": {name: 3}})})
    add()
