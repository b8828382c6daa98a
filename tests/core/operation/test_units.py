"""What a host gives use cases, where it says nothing else."""

from typing import Any

from svc_core.base import drive


def test_a_host_that_keeps_no_workspaces_names_none(house: Any) -> None:
    assert drive.run(house.hands.tenants()) == ()
