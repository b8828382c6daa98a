"""Stores that hold the documents of a set of questions, and the agent that answers over them.

A set names documents below a folder, or is the demo. It is taken in as the server does it, once:
the file of the store is written to a cache folder under a digest of the code that takes in, and
each run asks a copy of it. The clock stands still, so the demo and every answer stay the same.
"""

import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.agent.agent_ports import Backend, Message, ToolAnswer, Toolbox, ToolSpec, Turn
from svc_core.agent.answer_events import AnswerSource, Text
from svc_core.catalog.tools import CatalogueTools
from svc_core.operation.caller import Actor
from svc_core.operation.parsing import Site
from svc_http import settings
from svc_http.run.demo.seed import seed_demo
from svc_http.service.equipment import embedder_of, fetcher_of
from svc_http.service.runtime.runtime_state import Providers, Runtime
from svc_http.service.workers.index_turns import IndexWork
from svc_http.service.workers.item_vectors import VectorWork
from svc_http.service.workers.source_pulls import add_source, pull_all
from svc_http.stores import SqliteStorage

Embeddings: TypeAlias = Literal["none", "e5", "minilm"]
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
"""When every question is asked: the day on which the demo was read for the first of them."""
CORE = Path(catalog.__file__).parents[1]
UNREAD = ("agent", "payments", "automations", "webhooks", "reports", "drawing")
TABLES = ("facts.tsv", "questions.tsv", "asking.tsv", "code_names.tsv")
"""Rooms of the core that change nothing in what is taken in and looked for."""


@frozen
class Answer:
    """What the agent answers: its sentences, whether each has a mark, and the rows it cites."""

    sentences: tuple[str, ...]
    sources: tuple[AnswerSource, ...]
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)
    cpu_seconds: float = 0.0
    first_seconds: float = 0.0
    """Until the first word of the answer."""

    @property
    def text(self) -> str:
        """The whole answer."""
        return "".join(self.sentences)


@frozen
class _Listening:
    """A toolbox that remembers the rows it gave (`svc_core.agent.agent_ports.Toolbox`)."""

    _tools: Toolbox
    rows: dict[str, Mapping[str, Any]] = field(factory=dict)

    @property
    def origin(self) -> str:
        return self._tools.origin

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._tools.specs

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        answer = await self._tools.call(name, arguments)
        self.rows.update({hit.id: hit.row for hit in answer.hits})
        return answer

    async def nearness(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return await self._tools.nearness(question, texts)


@frozen
class Agent:
    """The agent of a workspace."""

    runtime: Runtime
    tenant: str

    async def ask(self, *questions: str) -> Answer:
        """The answer to the last question of a thread."""
        history: tuple[Message, ...] = ()
        answer = Answer((), (), ())
        for question in questions:
            answer = await self._answer(question, history)
            history += (Message("user", question), Message("assistant", answer.text))
        return answer

    async def _answer(self, question: str, history: tuple[Message, ...]) -> Answer:
        service, host = self.runtime.service, self.runtime.host
        site = Site(host.origin, aliases=False)
        actor = Actor(self.tenant, self.tenant)
        tools = _Listening(CatalogueTools(site).of(service, actor, service.now()))
        start, cpu_start, first_seconds = time.perf_counter(), time.process_time(), 0.0
        events = []
        turn = Turn(question, service.now(), history)
        async for event in await host.providers[Backend].open(turn, tools):
            events.append(event)
            if isinstance(event, Text) and not first_seconds:
                first_seconds = time.perf_counter() - start
        cpu_seconds = time.process_time() - cpu_start
        sources = tuple(event for event in events if isinstance(event, AnswerSource))
        rows = tuple(tools.rows.get(source.id, {}) for source in sources)
        texts = tuple(event.text for event in events if isinstance(event, Text))
        return Answer(texts, sources, rows, cpu_seconds, first_seconds)


@frozen
class Stores:
    """The stores of sets whose documents are below `documents`, with or without meaning."""

    documents: Path
    cache: Path
    embeddings: Embeddings = "none"

    @asynccontextmanager
    async def agent(self, name: str, members: Mapping[str, Any]) -> AsyncIterator[Agent]:
        """The agent over the documents of a set; they are taken in where that was not done yet."""
        place = self.cache / f"{name}-{self._digest(members)}"
        if not place.exists():
            self.cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.cache) as folder:
                await self._take_in(Path(folder), name, members)
                shutil.copytree(folder, place, ignore=shutil.ignore_patterns("feeds"))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(place / "svc.db", folder)
            async with self._runtime(Path(folder)) as runtime:
                yield Agent(runtime, (place / "tenant").read_text())

    @asynccontextmanager
    async def _runtime(self, folder: Path) -> AsyncIterator[Runtime]:
        config = settings.Settings(
            db=str(folder / "svc.db"), secret="0123456789abcdef" * 4, embeddings=self.embeddings,
            speech="none", rate_limits=False, workers=(),
        )  # fmt: skip
        store = SqliteStorage.open(folder / "svc.db", catalog.COLLECTIONS, epoch=bytes(8))
        model = embedder_of(config)
        runtime = Runtime(config, store, now=lambda: NOW, providers=Providers(embedder=model))
        try:
            await runtime.unlock()
            yield runtime
        finally:
            await store.close()
            if model is not None:
                await model.aclose()

    async def _take_in(self, folder: Path, name: str, members: Mapping[str, Any]) -> None:
        async with self._runtime(folder) as runtime, fetcher_of(runtime.settings) as fetcher:
            service, model = runtime.service, runtime.providers.embedder
            feeds = folder / "feeds"
            feeds.mkdir()
            if name == "demo":
                tenant = (await seed_demo(service, fetcher, feeds)).workspace_id
            else:
                make = partial(accounts.create_workspace, name=name, plan="elite")
                home = await service.system(partial(make, plans=service.plans))
                tenant = home.id
            options = members.get("options", {})
            sources = [
                await add_source(
                    service, str(path), name=path.stem, options=_options(options.get(file, ""))
                )
                for file, path in self._paths(members)
            ]
            for outcome in await pull_all(service, sources, fetcher):
                if outcome.status == "failed":
                    print(f"not taken in: {outcome.source and outcome.source.name}")
            if model is not None:
                embedding = VectorWork(service, model, runtime.shared.leases)
                while await embedding.work():  # a page of items each
                    pass
            await IndexWork(service, model, runtime.shared.leases).work()
            (folder / "tenant").write_text(tenant)

    def _paths(self, members: Mapping[str, Any]) -> Iterator[tuple[str, Path]]:
        for file in members["files"]:
            for path in sorted(self.documents.glob(file)):
                yield file, path

    def _digest(self, members: Mapping[str, Any]) -> str:
        code = hashlib.sha256(json.dumps([members, self.embeddings]).encode())
        for path in sorted((*CORE.rglob("*.py"), *CORE.rglob("*.tsv"))):
            if path.relative_to(CORE).parts[0] not in UNREAD and path.name not in TABLES:
                code.update(path.read_bytes())
        for _, path in self._paths(members):
            code.update(path.read_bytes())
        return code.hexdigest()[:16]


def _options(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in text.split(",") if part)
