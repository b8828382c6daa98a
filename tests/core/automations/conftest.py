"""A desk at which two members of one workspace, and a stranger, work."""

import json
from typing import Any

import pytest

ANN, BEN = "usr_" + "a" * 24, "usr_" + "b" * 24


class Desk:
    """Asks operations as one person after another."""

    def __init__(self, house: Any) -> None:
        self.house = house
        house.user = ANN
        self.ann, self.ben = ANN, BEN

    def ask(self, operation: str, id_: str = "", body: Any = None, **parts: Any) -> Any:
        """The data of the answer."""
        return json.loads(self.reply(operation, id_, body, **parts).body)["data"]

    def reply(self, operation: str, id_: str = "", body: Any = None, **parts: Any) -> Any:
        noun = "projectId" if "Project" in operation else "automationId"
        path = {**({noun: id_} if id_ else {}), **parts.pop("path", {})}
        return self.house.send(operation, path=path, body=body, **parts)

    def refusal_of(self, operation: str, id_: str = "", body: Any = None, **parts: Any) -> Any:
        with pytest.raises(Exception) as failure:  # noqa: PT011 - what it is, the test says
            self.reply(operation, id_, body, **parts)
        return failure.value

    def code(self, *arguments: Any, **parts: Any) -> str:
        """The code of the refusal."""
        return str(self.refusal_of(*arguments, **parts).type.code)

    def project(self, **members: Any) -> Any:
        return self.ask("createProject", body={"name": "Ports", **members})

    def automation(self, **members: Any) -> Any:
        body = {"name": "Look", "instructions": "What happened?", **members}
        return self.ask("createAutomation", body=body)

    def changes(self) -> list[tuple[str, str]]:
        rows = self.house.changes()
        return [(row["resourceType"], row["changeType"]) for row in rows]


@pytest.fixture
def desk(house: Any) -> Desk:
    return Desk(house)
