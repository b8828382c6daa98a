"""A service whose workspaces hold rows of every kind, and people of every role who look at them."""

import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import attrs
import httpx2

from svc_core import catalog
from svc_core.access.roles import may_run
from svc_core.operation.context import Context
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs_of
from svc_http.dashboard import security
from svc_http.dashboard.form_fields import fields_of
from svc_http.dashboard.forms import with_row
from svc_http.dashboard.page_addresses import is_for_operators, page_address, page_ids
from tests.http.contract.conftest import World, unlimited_contract
from tests.http.contract.conftest import _storage as storage_of
from tests.in_process import ask
from tests.pages.document import Document
from tests.people import SignedUp, sign_in_again, sign_up

ORIGIN = "https://api.example.org"
ROLES = ("owner", "admin", "member", "operator", "stranger")
"""Of workspace `a`; the operator is a member of it, the stranger owns `b`."""

COLLECTIONS = {"src": "sources", "pay": "payments"}
"""Of kinds of rows that no key sees and no test makes, the collection that has them."""

PRIVATE = frozenset({"projects", "automations", "threads"})
"""Groups whose rows are their owner's alone."""

STALE = timedelta(minutes=9)
"""After that a person signs in anew, before acts ask for it."""

PROJECT = {"name": "Ports"}
AUTOMATION = {"name": "Ports", "instructions": "Which ports are closed?"}

Pairs = Iterable[tuple[str, str]]


class Office:
    """A world, its people, and their browsers; `ids` remembers rows that no key sees."""

    def __init__(self) -> None:
        storage = storage_of("memory")
        self.world = World(
            unlimited_contract(), storage, catalog.OPERATIONS, rate_limits=False
        ).settle()
        self.home, self.abroad = self.world.tenants["a"], self.world.tenants["b"]
        self.people: dict[str, SignedUp] = {}
        for role in ROLES:
            home = self.abroad if role == "stranger" else self.home
            duty = {"operator": "member", "stranger": "owner"}.get(role, role)
            handle = f"{role}-1"  # `operator` itself is reserved
            self.people[role] = self._sign_up(handle, {home: duty}, is_operator=role == "operator")
        self.key_ids = {key: self.world.add_key(f"one of {key}", key) for key in ("a", "b")}
        self.private = {role: self._private_rows(role) for role in ROLES[:-1]}
        self.private["stranger"] = {"threadId": self._thread("stranger", self.abroad)}

    def _sign_up(self, handle: str, homes: Mapping[str, Any], **members: Any) -> SignedUp:
        async def make(ctx: Context) -> SignedUp:
            return await sign_up(ctx, handle, homes, **members)

        signed: SignedUp = self.world.system(make)
        return signed

    def _private_rows(self, role: str) -> dict[str, str]:
        """Rows that only this person sees, by the names of inputs."""
        ids = {}
        for group, name, body in (
            ("projects", "projectId", PROJECT),
            ("automations", "automationId", AUTOMATION),
        ):
            answer = self.post(role, f"/dashboard/w/{self.home}/{group}/new", body.items())
            assert answer.status_code == 303, answer.text
            ids[name] = answer.headers["location"].partition("?")[0].rpartition("/")[2]
        path = f"/dashboard/w/{self.home}/automations/{ids['automationId']}"
        assert self.post(role, f"{path}/run").status_code == 303
        rows = self.get(role, f"{path}/runs?_as=json").json()["data"]
        return {**ids, "runId": rows[0]["id"], "threadId": self._thread(role, self.home)}

    def _thread(self, role: str, home: str) -> str:
        """The id of a conversation that the person begins with the agent."""
        operation = self.world.operation("streamChat")
        pairs = self.example_pairs(operation, self.world.example_body(operation))
        path = self.address(operation, {}, home)
        assert self.post(role, path, pairs).status_code == 200
        rows = self.get(role, f"/dashboard/w/{home}/threads?_as=json").json()["data"]
        return str(rows[0]["id"])

    def close(self) -> None:
        self.world.close()

    # -- requests ----------------------------------------------------------------------------------

    def get(self, role: str, path: str, **headers: str) -> Any:
        """A page, as the person with this role gets it."""
        return self.send("GET", role, path, headers)

    def post(self, role: str, path: str, pairs: Pairs = (), **headers: str) -> Any:
        """What comes of a form that a page of this origin sends."""
        form = [*pairs, ("_", "")]  # a form without values has a media type all the same
        fields = {"sec-fetch-site": "same-origin", **headers}
        return self.send("POST", role, path, fields, form)

    def send(
        self, method: str, role: str, path: str, headers: Mapping[str, str], form: Pairs = ()
    ) -> Any:
        if role and self.people[role].signed_in_at + STALE <= self.world.clock():
            self.people[role] = self.world.system(partial(sign_in_again, person=self.people[role]))
        fields = {name.replace("_", "-"): text for name, text in headers.items()}
        cookie = f"{security.SECURE_COOKIE}={self.people[role].token}" if role else ""
        body = str(httpx2.QueryParams(list(form))).encode()
        if method == "POST":
            fields.setdefault("content-type", "application/x-www-form-urlencoded")

        all_fields = {"cookie": cookie, **fields} if cookie else fields
        answer = self.world.run(ask(self.world.app, method, path, headers=all_fields, content=body))
        if cookie and "set-cookie" in answer.headers:  # after a change of password, for one
            token = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]
            self.people[role] = attrs.evolve(self.people[role], token=token)
        return answer

    # -- addresses ---------------------------------------------------------------------------------

    def ids_of(self, operation: Operation[Any, Any], key: str = "a") -> dict[str, str]:
        """The ids in the address of the page of an operation, of rows of that key."""
        if operation.local:
            return {name: self._local_id(operation, name, key) for name in page_ids(operation)}
        ask = self.world.ask_of(operation, key)
        pattern = re.sub(r"\{\+?(\w+)\}", r"(?P<\1>.+)", operation.address)
        match = re.fullmatch(pattern, ask.path)
        assert match is not None
        return match.groupdict()

    def ids_for(
        self, role: str, operation: Operation[Any, Any], ids: Mapping[str, str]
    ) -> dict[str, str]:
        """The same ids, with rows of the person where they are of a kind that nobody shares."""
        own = self.private.get(role, {}) if operation.group in PRIVATE else {}
        return {name: own.get(name, id_) for name, id_ in ids.items()}

    def _local_id(self, operation: Operation[Any, Any], name: str, key: str) -> str:
        inputs = {item.name: item for item in inputs_of(operation.request)}
        id_of = inputs[name].id_of
        prefix = "pay" if id_of is None else id_of.prefixes[0]
        person = self.people["member" if key == "a" else "stranger"]
        match prefix:
            case "wsp":
                return self.world.tenants[key]
            case "usr":
                return person.user_id
            case "ses":
                return person.session_id
            case "key":
                return self.key_ids[key]
            case "inv":
                return self._invitation(key)
            case "thr":
                return self.private["member" if key == "a" else "stranger"]["threadId"]
            case "src" | "pay":
                return self.row_ids(COLLECTIONS[prefix], key)[0]
        return self.world.id_for(id_of, key)

    def _invitation(self, key: str) -> str:
        """The id of an open invitation into the workspace."""
        role, home = ("owner", self.home) if key == "a" else ("stranger", self.abroad)
        path = f"/dashboard/w/{home}/members"
        self.post(role, f"{path}/invite", [("role", "member")])
        return str(self.get(role, f"{path}/invitations?_as=json").json()["data"][0]["id"])

    def row_ids(self, name: str, key: str = "a") -> list[str]:
        """The ids of rows of a collection that the system, or a tenant, has; newest first."""
        rows = next(each for each in catalog.COLLECTIONS if each.name == name)

        async def scan(ctx: Context) -> list[str]:
            return [row.id for row in (await ctx.tx.documents.scan(rows, limit=100)).rows]

        if rows.scope == "tenant":
            unit = self.world.hands.read(self.world.tenants[key], scan)
            return list(self.world.run(unit))
        return list(self.world.system(scan))

    def address(
        self, operation: Operation[Any, Any], ids: Mapping[str, str], home: str | None = None
    ) -> str:
        """The address of the page of an operation in a workspace, `a` unless it is named."""
        is_office = is_for_operators(operation)
        return page_address(operation, None if is_office else home or self.home, ids)

    def may(self, operation: Operation[Any, Any], role: str) -> bool:
        """Whether the person with this role in workspace `a` may run an operation."""
        return may_run(operation, role, is_operator=False)

    def renew_rows(self, group: str) -> None:
        """Have new rows for the forms that follow, because one has ended some of this group."""
        self.world.sow("a")
        if group == "keys":
            self.key_ids["a"] = self.world.add_key(f"one of a {self.world.ids.random(4).hex()}")
        self.private["owner"] = self._private_rows("owner")

    def guest(self) -> SignedUp:
        """Somebody new in workspace `a`."""
        handle = f"guest-{self.world.ids.random(4).hex()}"
        return self._sign_up(handle, {self.home: "member"})

    # -- forms -------------------------------------------------------------------------------------

    def example_pairs(
        self, operation: Operation[Any, Any], body: Mapping[str, Any]
    ) -> list[tuple[str, str]]:
        """What a browser sends of a form that was filled in with the members of a body."""
        pairs = []
        for field in with_row(fields_of(operation), body):
            texts = field.values if field.kind in {"choices", "box", "interval"} else (field.value,)
            is_blank = field.kind == "check" and not field.values
            pairs += [] if is_blank else [(field.name, text) for text in texts]
        return pairs


def page_of(answer: Any) -> Document:
    """The page of an answer, which has to be one, and whole."""
    assert answer.headers["content-type"] == "text/html; charset=utf-8", answer.text
    page = Document(answer.text)
    assert page.faults() == []
    return page


__all__ = ["ORIGIN", "ROLES", "Office", "page_of"]
