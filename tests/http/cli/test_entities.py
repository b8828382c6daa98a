"""`svc entities merge`, `part` and `distinct`: what the operator settles."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_core.intel.linking.references import id_of

Svc = Callable[..., Any]


@pytest.fixture
def people(svc: Svc, cwd: Path) -> tuple[str, ...]:
    """The ids of three people of a collection that was read."""
    names = ("ada", "grace", "linus")
    lines = [
        json.dumps({"id": name, "schema": "Person", "properties": {"name": [name.title()]}})
        for name in names
    ]
    (cwd / "people.ftm.json").write_text("\n".join(lines))
    assert svc("sources", "add", "people.ftm.json", "--json").code == 0
    return tuple(id_of(f"ftm:{name}") for name in names)


def test_two_entities_are_one_until_they_are_parted(svc: Svc, people: tuple[str, ...]) -> None:
    ada, grace, linus = people
    merged = svc("entities", "merge", ada, grace, "--json")
    assert merged.code == 0
    assert merged.json == {
        "id": grace,
        "name": "Grace",
        "otherId": ada,
        "otherName": "Ada",
        "status": "merged",
        "changed": True,
    }
    assert svc("entities", "merge", ada, grace, "--json").json["changed"] is False
    assert svc("sources", "pull", "--all", "--force", "--json").code == 0
    ran = svc("entities", "distinct", ada, grace)
    assert ran.code == 1
    assert f"svc entities part {ada}" in ran.err
    assert svc("entities", "part", ada, "--json").json["status"] == "parted"
    assert svc("entities", "distinct", ada, grace, "--json").json["changed"] is True
    assert svc("entities", "merge", linus, ada, "--json").code == 0
    ran = svc("entities", "merge", linus, grace)
    assert ran.code == 1
    assert "distinct" in ran.err
