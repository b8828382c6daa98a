"""The whole service with a model of its settings: it rewrites reports; failures are in the log."""

from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from svc_core.access import operations as accounts
from svc_core.access import plans
from svc_core.agent.agent_ports import Backend
from svc_core.agent.rule_backend import RuleBackend
from svc_core.operation.writer import Writer
from svc_core.reports.model import FACETS
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import ProfileInput
from svc_core.reports.report_runs import make_report
from svc_core.text.wording import frame
from svc_http import system
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.run import hosting
from svc_http.service.workers.source_pulls import add_source, pull
from svc_http.settings import Settings
from tests.upstream import upstream, words

pytestmark = pytest.mark.anyio
FEED = f"""<?xml version="1.0"?><rss version="2.0"><channel><title>Pier</title>
<link>https://pier.example/</link><description>Ships</description>
<item><title>Strike at the port of Hull</title><link>https://pier.example/1</link>
<description>Dockers at the port of Hull began a strike on Monday. It is about pay.</description>
<pubDate>{format_datetime(system.now())}</pubDate>
</item></channel></rss>"""
SHORT = "Dockers at the port of Hull began a strike."


async def report(service: Any, folder: Path) -> Any:
    """The facets of a report about what was taken in."""
    (folder / "pier.xml").write_text(FEED)
    async with Fetcher() as fetcher:
        await pull(service, await add_source(service, str(folder / "pier.xml")), fetcher)
    home = await service.system(
        lambda ctx: accounts.create_workspace(
            ctx, name="a", plan="elite", plans=plans.DEFAULT_PLANS
        )
    )
    request = profiles.CreateProfile(
        ProfileInput(name="Ports", topic="Strikes at ports", frequency="manual")
    )
    profile = await service.write(home.id, lambda ctx: profiles.create_profile(ctx, request))
    row = await make_report(service, home.id, profile.location.rpartition("/")[2])
    return await service.read(home.id, lambda ctx: ctx.value(FACETS, row.id))


async def test_the_model_of_the_settings_rewrites_reports_and_its_failures_are_logged(
    tmp_path: Path,
) -> None:
    async with upstream() as place:
        settings = Settings(
            db=str(tmp_path / "svc.db"),
            log_file=str(tmp_path / "svc.log"),
            agent_url=place.url,
            agent_model="small",
            agent_key="sk-very-secret",
            rewrite_reports=True,
            workers=("none",),
        )
        place.says(*words(f"{SHORT[:-1]} [1]. It is over [1]."))
        async with hosting.opened(settings) as service:
            facets = await report(service.runtime.service, tmp_path)
            assert [item.text for item in facets.opening] == [SHORT]
            assert frame("en")["rewritten"] in facets.notes
            assert place.requests[0][0]["authorization"] == "bearer sk-very-secret"

            place.plays.clear()
            place.says(b"who are you, sk-very-secret?", status=401)
            again = await report(service.runtime.service, tmp_path)
            assert SHORT not in [item.text for item in again.opening]
            assert again.notes == tuple(n for n in facets.notes if n != frame("en")["rewritten"])
        log = (tmp_path / "svc.log").read_text()
        assert "answered 401: who are you, ...?" in log
        assert "sk-very-secret" not in log


async def test_the_model_answers_and_rewrites_only_as_far_as_it_is_told_to(tmp_path: Path) -> None:
    model = {"agent_url": "http://127.0.0.1:9/v1", "agent_model": "small"}
    cases: list[tuple[dict[str, Any], bool, bool]] = [
        ({}, False, False),
        ({**model, "agent_fallback": "embedded"}, True, False),
        ({**model, "rewrite_reports": True}, True, True),
    ]
    for mode, answers, rewrites in cases:
        settings = Settings(db=":memory:", workers=("none",), **mode)
        async with hosting.opened(settings) as service:
            lends = service.runtime.host.providers
            assert isinstance(lends[Backend], RuleBackend) is not answers
            assert (Writer in lends) is rewrites
