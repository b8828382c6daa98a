"""A service with a ledger, asked in process, over both stores."""

import json
from typing import Any

import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.access.creation import KeyWish
from svc_core.operation.context import Context
from tests.backends import NAMES, store_of

BASE = "/api/v2/ledger"
EPOCH = b"an epoch"


class Town:
    """Two workspaces, the first with two people, and words to ask the ledger with.

    `second` is another key of the first of them.
    """

    def __init__(self, house: Any) -> None:
        self.house = house
        self.tenant, (self.ann, self.bob, self.second) = self.workspace("Ann", "Bob", "Ann")
        _, (self.stranger,) = self.workspace("Eve")

    def workspace(self, *names: str, scopes: Any = ("ledger:read", "ledger:write")) -> Any:
        """A workspace and the secrets of its keys, each that of the person who is named."""

        async def make(ctx: Context) -> tuple[str, list[str]]:
            table = plans.DEFAULT_PLANS
            space = await accounts.create_workspace(ctx, name="W", plan="elite", plans=table)
            people: dict[str, str] = {}
            secrets = []
            for number, name in enumerate(names):
                if name not in people:
                    people[name] = (await accounts.create_user(ctx, name=name, plans=table)).id
                    await accounts.add_member(ctx, space.id, people[name], "admin")
                wish = KeyWish(
                    name=f"{name} {number}",
                    scopes=scopes,
                    workspace_id=space.id,
                    user_id=people[name],
                )
                secrets.append((await accounts.create_key(ctx, wish, plans=table)).secret)
            return space.id, secrets

        return self.house.system(make)

    def ask(self, method: str, path: str, key: str | None = None, **rest: Any) -> Any:
        return self.house.ask(method, BASE + path, key or self.ann, **rest)

    def get(self, path: str, key: str | None = None, **rest: Any) -> Any:
        answer = self.ask("GET", path, key, **rest)
        assert answer.status_code == 200, answer.text
        return answer

    def data(self, path: str, key: str | None = None) -> Any:
        return self.get(path, key).json()["data"]

    def append(self, body: Any, key: str | None = None, path: str = "/records") -> Any:
        answer = self.ask("POST", path, key, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["data"]

    def refusal(self, body: Any, key: str | None = None, **rest: Any) -> tuple[int, str, str]:
        answer = self.ask("POST", "/records", key, json=body, **rest)
        return answer.status_code, answer.json()["code"], answer.json()["detail"]

    def subject(self, key: str | None = None, **members: Any) -> str:
        body = {"type": "organization", "label": "Pier 7 AG", **members}
        return str(self.append(body, key, "/subjects")["id"])

    def claim(self, subject: str, value: Any, key: str | None = None, **members: Any) -> str:
        body = {"kind": "claim", "subject": subject, "predicate": "headquarters", "value": value}
        return str(self.append({**body, **members}, key)["id"])

    def observation(self, subject: str, key: str | None = None) -> str:
        source = {
            "url": "https://news.example/a/1",
            "publisher": "Pier Gazette",
            "retrievedAt": "2026-01-04T19:00:00Z",
            "contentSha256": "3660315a9af3df255d8f19ab077e4797822b41488a0e2a04bc6af71213c23274",
        }
        body = {
            "kind": "observation",
            "subject": subject,
            "observedAt": "2026-01-04T18:30:00Z",
            "text": "The registry lists Zug.",
            "source": source,
        }
        return str(self.append(body, key)["id"])

    def verdict(self, subject: str, target: str, state: str, key: str, **members: Any) -> str:
        body = {"kind": "claim", "op": "verify", "subject": subject, "target": target}
        return str(self.append({**body, "state": state, **members}, key)["id"])

    def headquarters(self, subject: str, query: str = "") -> Any:
        return self.data(f"/subjects/{subject}{query}")["claims"].get("headquarters")

    def export(self, query: str = "") -> bytes:
        lines, path = b"", f"/records?limit=1000{query}"
        while path:
            answer = self.get(path)
            lines += answer.content
            link = answer.headers.get("link")
            path = link and link[1 : link.index(">")].partition(BASE)[2]
        return lines


@pytest.fixture(params=NAMES)
def make_town(request: Any, make_house: Any) -> Any:
    """Makes a town over each store; settings by name."""
    storage = store_of(request.param, catalog.COLLECTIONS, epoch=EPOCH)
    houses: list[Any] = []

    def make(**settings: Any) -> Town:
        parts = {"operations": catalog.OPERATIONS, "storage": storage}
        houses.append(make_house(parts=parts, **settings))
        return Town(houses[-1])

    yield make
    houses[0].run(storage.close())


@pytest.fixture
def town(make_town: Any) -> Any:
    """A town over each store."""
    return make_town()


def problem_of(answer: Any) -> tuple[int, str]:
    """The status and code of a refusal."""
    return answer.status_code, json.loads(answer.content)["code"]
