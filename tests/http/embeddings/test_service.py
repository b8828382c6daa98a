"""The whole service with a model behind an address: items get vectors, failures are in the log."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_core.intel.news.vectors import VECTORS
from svc_core.operation.ports import SYSTEM
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.run import hosting
from svc_http.service.workers.source_pulls import add_source, pull
from svc_http.settings import Settings
from tests.meaning import serve

pytestmark = pytest.mark.anyio
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>Pier</title>
<link>https://pier.example/</link><description>Ships</description>
<item><title>Strike at the port</title><link>https://pier.example/1</link></item></channel></rss>"""


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def vectors(service: Any) -> int:
    count: int = await service.read(SYSTEM, lambda ctx: ctx.tx.documents.count(VECTORS, limit=9))
    return count


async def test_what_a_service_takes_in_gets_a_vector_from_the_model_of_its_settings(
    tmp_path: Path,
) -> None:
    (tmp_path / "pier.xml").write_text(FEED)
    with serve() as place:
        place.says(401, {"error": "who are you"})
        settings = Settings(
            db=str(tmp_path / "svc.db"),
            log_file=str(tmp_path / "svc.log"),
            embeddings="openai",
            embeddings_url=place.url,
            embeddings_key="sk-very-secret",
            workers=("embed",),
        )
        async with hosting.opened(settings) as service, Fetcher() as fetcher:
            acting = service.runtime.service
            source = await add_source(acting, str(tmp_path / "pier.xml"))
            await pull(acting, source, fetcher)
            await until(lambda: "who are you" in (tmp_path / "svc.log").read_text())
            assert await vectors(acting) == 0
        assert "sk-very-secret" not in (tmp_path / "svc.log").read_text()

        async with hosting.opened(settings) as service:
            async with asyncio.timeout(60):
                while not await vectors(service.runtime.service):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
        assert place.requests[-1][1]["input"] == ["Strike at the port"]
