"""A house that has read the demo, and somebody who asks the embedded backend about it."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import attrs

from svc_core.agent import answer_events as events
from svc_core.agent.agent_ports import Message, ToolAnswer, Toolbox, ToolHit, ToolSpec, Turn
from svc_core.agent.rule_backend import RuleBackend
from svc_core.base import drive
from svc_core.catalog.tools import CatalogueTools
from svc_core.ledger.append.batches import append_drafts
from svc_core.ledger.append.entries import entry
from svc_core.ledger.log.note import Ed25519Signer
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from tests.core import demo
from tests.core.intel.incident_documents import fold

R = TypeVar("R")
TENANT = "wsp_a"
HOST = Host(signer=Ed25519Signer.from_seed(bytes(32)))
CITATION = re.compile(r"\[(\d+)\]")


class Example(NamedTuple):
    """A question; `expectation` and `source_word` are `-` where it has no answer."""

    kind: str
    text: str
    expectation: str
    source_word: str


def examples(half: str) -> list[Example]:
    """The labelled questions of one half."""
    lines = (Path(__file__).parent / f"rows_{half}.tsv").read_text().splitlines()
    return [Example(*line.split("\t")) for line in lines if not line.startswith("#")]


class Reply(NamedTuple):
    """An answer: all its events, its words, and what it cites by its number."""

    events: list[events.Event]
    text: str
    sources: dict[int, events.AnswerSource]

    @property
    def calls(self) -> list[tuple[str, dict[str, object]]]:
        """The tools that were called."""
        calls = (event for event in self.events if isinstance(event, events.ToolCall))
        return [(item.name, item.arguments) for item in calls]

    @property
    def sentences(self) -> list[str]:
        """Its sentences."""
        return [event.text for event in self.events if isinstance(event, events.Text)]

    @property
    def is_declined(self) -> bool:
        """Whether it answers nothing: its first sentence cites nothing."""
        return not any(CITATION.search(text) for text in self.sentences[:1])

    def is_right(self, question: Example) -> bool:
        """Whether it says and cites what the label says, or answers nothing where that says so."""
        if question.expectation == "-":
            return self.is_declined
        labels = [f"{source.title} {source.url}".lower() for source in self.sources.values()]
        return all(part in self.text for part in question.expectation.split("|")) and any(
            question.source_word.lower() in item for item in labels
        )


def reply_of(run: Sequence[events.Event]) -> Reply:
    """An answer of its events."""
    text = "".join(item.text for item in run if isinstance(item, events.Text))
    sources = {item.number: item for item in run if isinstance(item, events.AnswerSource)}
    return Reply(list(run), text, sources)


class Asker:
    """Asks as a workspace."""

    def __init__(self, house: Any) -> None:
        self.house = house

    def tools(self, tenant: str = TENANT, workspace: str | None = TENANT) -> Any:
        site, now = self.house.site, self.house.clock.now()
        units = attrs.evolve(self.house.hands, host=HOST)
        return CatalogueTools(site).of(units, Actor(tenant, workspace), now)

    def ask(self, question: str, *history: str, tools: Toolbox | None = None) -> Reply:
        """The answer to a question; what the user said before may go before it."""
        turn = Turn(
            question, self.house.clock.now(), tuple(Message("user", text) for text in history)
        )
        return answer(turn, tools or self.tools())


def answer(turn: Turn, tools: Toolbox) -> Reply:
    """The answer of the embedded backend."""

    async def collect() -> list[events.Event]:
        return [item async for item in await RuleBackend().open(turn, tools)]

    return reply_of(drive.run(collect()))


KINDS = {
    "list_entities": "entity",
    "list_cves": "cve",
    "list_news": "newsItem",
    "list_incidents": "incident",
    "list_osint_events": "event",
    "list_markets": "market",
    "search_reports": "report",
    "search_ledger_subjects": "subject",
    "list_countries": "country",
    "list_finint": "indicator",
}
"""The kinds of rows that the search finds, by the tools that list them."""


@attrs.frozen
class Rows:
    """A toolbox of made rows, by the names of tools; what is an exception is raised.

    Its search finds every row of the first page of each list. `near` is how near texts that hold a
    phrase are to any question; without one no model of meaning answers.
    """

    rows: Mapping[str, Sequence[ToolAnswer | Exception]]
    origin: str = "https://api.example"
    inputs: list[Mapping[str, Any]] = attrs.field(factory=list)
    near: Mapping[str, float] = attrs.field(factory=dict)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(ToolSpec(name, "", {}) for name in (*self.rows, "search_rows"))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        if name == "search_rows":
            kinds = arguments.get("kinds") or KINDS.values()
            lists = (
                (kind, self.rows[tool][0]) for tool, kind in KINDS.items() if tool in self.rows
            )
            return ToolAnswer(
                tuple(
                    attrs.evolve(
                        hit, row={"kind": kind, "named": "none", "share": 0.0, "row": hit.row}
                    )
                    for kind, answer in lists
                    if kind in kinds and isinstance(answer, ToolAnswer)
                    for hit in answer.hits
                )
            )
        pages = self.rows[name]
        page = pages[min(int(arguments.get("cursor", 0)), len(pages) - 1)]
        self.inputs.append(arguments)
        if isinstance(page, Exception):
            raise page
        return page

    async def nearness(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.inputs.append({"question": question, "texts": texts})
        return (
            [sum(n for part, n in self.near.items() if part in text) for text in texts]
            if self.near
            else []
        )


def page(rows: Sequence[Mapping[str, Any]], cursor: str | None = None) -> ToolAnswer:
    """One page of rows; `cursor` is the number of the next."""
    hits = tuple(
        ToolHit(str(row["id"]), str(row["name"]), f"/api/rows/{row['id']}", row) for row in rows
    )
    body = {"meta": {"page": {"nextCursor": cursor}}}
    return ToolAnswer(hits, cursor is not None, body, "/api/rows?limit=100")


def open_subject(house: Any, label: str, tenant: str = TENANT, **claims: object) -> str:
    """A subject of the ledger with claims, each by its predicate; the id."""

    async def unit(ctx: Context) -> str:
        ctx = attrs.evolve(ctx, actor=Actor(tenant, tenant, key_id="key_1"), host=HOST)
        subject = entry(
            "subject",
            "assert",
            type="organization",
            label=label,
            description=f"{label} is an exchange.",
        )
        id_: str = (await append_drafts(ctx, [subject])).records[0].id
        facts_ = [
            entry(
                "claim",
                "assert",
                subject=id_,
                predicate=predicate,
                value=value,
                confidence=80,
                valid_from="2020-01-01T00:00:00Z",
            )
            for predicate, values in claims.items()
            for value in (values if isinstance(values, list) else [values])
        ]
        await append_drafts(ctx, facts_)
        return id_

    return str(house.run(unit, tenant))


def asker_of(house: Any) -> Asker:
    """Whoever asks about the demo, its incidents and a subject of the ledger."""
    demo.take_all(house)
    fold(house)
    open_subject(house, "Kestrel Exchange", status="halted", headquarters=["Zug", "Singapore"])
    open_subject(house, "Heron Vaults", "wsp_other", status="secret")
    return Asker(house)
