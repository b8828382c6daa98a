"""Services with a dashboard on free ports, for a browser: new ones, and one that people work with.

    python tests/pages/serve_dashboard.py

prints a line of JSON and serves until SIGTERM: `empty` are services where nobody can sign in yet,
each with its `origin` and its first `link`; `demo` has the demo's rows, the `tokens` of sessions
(`idle` was not seen for a day, `stale` was signed in an hour ago), the `paths` of pages that differ
in shape, and hostile `texts`.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from svc_core.access import operations as accounts
from svc_core.access.one_use_links import LinkGrant, issue_link
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.catalog import COLLECTIONS
from svc_core.operation.context import Context
from svc_http import system
from svc_http.dashboard.page_addresses import BY_ID, page_address
from svc_http.run.demo.seed import SeededDemo, seed_demo
from svc_http.run.server import hypercorn
from svc_http.service.runtime.application import Application, build
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage
from tests.golden.house import Shelf
from tests.pages.hostile_texts import TEXTS
from tests.people import PASSWORD, age_session, open_session, sign_up

LISTS = """
reports news entities markets ledger/subjects webhooks projects keys members sessions audit changes
threads workspace
"""
"""Pages of lists, by their group; some are empty."""

FORMS = """
keys/new profiles/new webhooks/new automations/new ledger/append-records search/all
osint/events?severity=high news?limit=0 reports/none
"""
"""Forms with every kind of control, filters, a refused filter, and a row that is not there."""

OFFICE = ("listSources", "listWorkspaces", "addSources", "listPayments")


class Served:
    """A service over a store in memory, which listens."""

    def __init__(self) -> None:
        self.listening = hypercorn.listen("127.0.0.1", 0)
        self.origin = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        settings = Settings(
            base_url=self.origin,
            db=":memory:",
            secret="s" * 64,
            env="development",
            embeddings="none",
            speech="none",
            rate_limits=False,
        )
        self.service: Application = build(Runtime(settings, MemoryStorage(COLLECTIONS)))

    @property
    def system(self) -> Any:
        """Runs work in a unit of the system."""
        return self.service.runtime.desk_units.system

    async def serve(self) -> None:
        await hypercorn.serve(self.service, self.listening, lambda *_: None, signals=False)


async def setup_link(ctx: Context) -> str:
    """The first way in."""
    link = await issue_link(ctx, "setup", LinkGrant(role="owner", is_operator=True))
    return link.token


async def fill(served: Served) -> dict[str, Any]:
    """Fill a store with the demo's rows and with people; what a browser needs to know of it."""
    await served.service.runtime.start()
    shelf: Any = Shelf()
    demo = await seed_demo(served.service.runtime.service, shelf, shelf)
    people: dict[str, Any] = await served.system(lambda ctx: make_people(ctx, demo))
    paths = paths_of(demo.workspace_id)
    return {"origin": served.origin, "password": PASSWORD, "paths": paths, "texts": TEXTS, **people}


async def make_people(ctx: Context, demo: SeededDemo) -> dict[str, Any]:
    """Rosa, who owns the demo's workspace and another one; Otto, a member; their sessions."""
    home, plans = demo.workspace_id, DEFAULT_PLANS
    other = await accounts.create_workspace(ctx, name="Harbour", plan="pro", plans=plans)
    homes: Mapping[str, Any] = {home: "owner", other.id: "owner"}
    rosa = await sign_up(ctx, "rosa", homes, is_operator=True, has_password=True)
    otto = await sign_up(ctx, "otto", {home: "member"}, has_password=True)
    idle, idle_token = await open_session(ctx, rosa.user_id)
    await age_session(ctx, idle, last_seen_at=ctx.now - timedelta(days=1))
    stale, stale_token = await open_session(ctx, rosa.user_id)
    await age_session(ctx, stale, signed_in_at=ctx.now - timedelta(hours=1))
    tokens = {"rosa": rosa.token, "otto": otto.token, "idle": idle_token, "stale": stale_token}
    return {"tokens": tokens, "otto": otto.user_id, "home": home, "other": other.id}


def paths_of(home: str) -> list[str]:
    """The pages that are looked at."""
    below = [f"/dashboard/w/{home}/{tail}" for tail in (*LISTS.split(), *FORMS.split())]
    office = [page_address(BY_ID[id_], None, {}) for id_ in OFFICE]
    return [*below, *office, "/dashboard/me", "/dashboard/kit"]


async def main() -> None:
    began = system.now()
    demo, *empty = served = [Served() for _ in range(3)]
    contents = await fill(demo)
    links = [(each.origin, await each.system(setup_link)) for each in empty]
    pages = [
        {"origin": origin, "link": f"{origin}/dashboard/setup#{token}"} for origin, token in links
    ]
    line = {"demo": contents, "empty": pages, "seconds": (system.now() - began).total_seconds()}
    serving = [asyncio.create_task(each.serve()) for each in served]
    sys.stdout.write(json.dumps(line) + "\n\n")
    sys.stdout.flush()
    await asyncio.gather(*serving)


if __name__ == "__main__":
    asyncio.run(main())
