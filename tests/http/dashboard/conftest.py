"""A service with its dashboard, and browsers that keep its cookie as real ones do."""

import asyncio
import re
from collections.abc import Callable
from functools import partial
from html import unescape
from typing import Any

import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.one_use_links import LinkGrant, issue_link
from svc_core.operation.context import Context
from svc_http.dashboard import security
from svc_http.service.equipment import passkey_judge
from tests.backends import make_store
from tests.http.conftest import ORIGIN, House
from tests.in_process import ask

PASSWORD = "copper lantern drifts sideways"


class Browser:
    """A browser: it keeps the cookie of the dashboard, and says where its forms come from."""

    def __init__(self, desk: "Desk", address: str = "127.0.0.1") -> None:
        self.desk, self.address = desk, address
        self.cookie = ""

    def get(self, path: str, **headers: str) -> Any:
        return self.send("GET", path, headers)

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Any:
        fields = {"sec-fetch-site": "same-origin", **headers}
        return self.send("POST", path, fields, data=form or {"act": "true"})

    def send(self, method: str, path: str, headers: dict[str, str], **rest: Any) -> Any:
        fields = {name.replace("_", "-"): text for name, text in headers.items()}
        if self.cookie:
            fields["cookie"] = f"{security.SECURE_COOKIE}={self.cookie}"
        client = (self.address, 5000)
        answer = self.desk.house.ask(method, path, headers=fields, client=client, **rest)
        for text in answer.headers.get_list("set-cookie"):
            self.cookie = text.partition("=")[2].partition(";")[0]
        return answer

    def sign_in(self, handle: str, password: str = PASSWORD) -> Any:
        return self.post("/dashboard/sign-in", {"handle": handle, "password": password})

    def follow(self, token: str, **form: str) -> Any:
        return self.post("/dashboard/setup", {"token": token, "act": "true", **form})


class Desk:
    """A service with its dashboard over a store of its own."""

    def __init__(self, house: House) -> None:
        self.house = house

    def system(self, work: Callable[[Context], Any]) -> Any:
        return self.house.run(self.house.service.runtime.desk_units.system(work))

    def browser(self, address: str = "127.0.0.1") -> Browser:
        return Browser(self, address)

    def at_once(self, path: str, forms: list[dict[str, str]], cookie: str = "") -> list[Any]:
        """Forms that are posted in one instant."""
        fields = {"sec-fetch-site": "same-origin"}
        if cookie:
            fields["cookie"] = f"{security.SECURE_COOKIE}={cookie}"

        async def post(form: dict[str, str]) -> Any:
            return await ask(self.house.service, "POST", path, data=form, headers=fields)

        async def post_all() -> list[Any]:
            return list(await asyncio.gather(*map(post, forms)))

        return list(self.house.run(post_all()))

    def link(self, purpose: Any, **grant: Any) -> str:
        """The token of a new link."""
        link = partial(issue_link, purpose=purpose, grant=LinkGrant(**grant))
        return str(self.system(link).token)

    def workspace(self, name: str = "Harbour desk") -> str:
        table = self.house.service.runtime.plans
        make = partial(accounts.create_workspace, name=name, plan="elite", plans=table)
        return str(self.system(make).id)

    def person(self, handle: str, workspace_id: str, role: str = "owner", **grant: Any) -> Browser:
        """The browser of a new person, who is signed in."""
        token = self.link("invite", workspace_id=workspace_id, role=role, **grant)
        browser = self.browser()
        answer = browser.follow(token, handle=handle, password=PASSWORD)
        assert answer.status_code == 303, answer.text
        return browser


@pytest.fixture
def make_desk(make_house: Any) -> Callable[..., Desk]:
    """Makes services with a dashboard, by their settings."""

    def make(**settings: Any) -> Desk:
        storage = make_store(catalog.COLLECTIONS)
        parts = {"operations": catalog.OPERATIONS, "storage": storage, "passkeys": passkey_judge()}
        return Desk(make_house(parts=parts, **settings))

    return make


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk()


def words(answer: Any) -> str:
    """The text that a page shows."""
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", answer.text, flags=re.DOTALL)
    return " ".join(unescape(text).split())


__all__ = ["ORIGIN", "PASSWORD", "Browser", "Desk", "words"]
