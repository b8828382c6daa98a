"""The search of all kinds: who finds what, by which words, and that it reads a bounded part."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.keys import ApiKey
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.access.roles import SCOPES_OF_ROLES
from svc_core.base import drive
from svc_core.contract.problem import Problem
from svc_core.intel.news.vectors import VECTORS
from svc_core.knowledge.retrieval import MODEL_SECONDS, TimeLimit
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.executor import Execution
from svc_core.operation.inputs import inputs_of
from svc_core.operation.parsing import Call, prepare
from svc_core.operation.ports import SYSTEM
from svc_core.search.vector_likeness import Embedder, Vector, pack_vector
from svc_http.outside.embeddings.model import Embeddings
from tests.core import demo
from tests.core.agent.asker import fold, open_subject
from tests.knowledge import make_report, put
from tests.meaning import Meaning, vector

OPERATIONS = {row.id: row for row in (*catalog.OPERATIONS, *catalog.LOCAL_OPERATIONS)}
SCOPES_OF_KINDS = {
    "report": {"reports:read"},
    "cve": {"intel:explorer"},
    "entity": {"intel:explorer"},
    "incident": {"intel:cyber", "intel:explorer", "intel:finint"},
    "newsItem": {"news:read"},
    "market": {"intel:finint"},
    "signal": {"intel:cyber", "intel:explorer", "intel:finint"},
    "event": {"osint:read"},
    "country": {"osint:read"},
    "indicator": {"intel:finint"},
    "subject": {"ledger:read"},
    "profile": {"profiles:read"},
}


class AtOnce(Embeddings):
    """A model that needs no event loop."""

    async def embed_query(self, text: str) -> bytes:
        return pack_vector(vector(text))


class Desk:
    """Two workspaces with rows of every kind called Kestrel, and all of the demo's documents."""

    def __init__(self, house: Any) -> None:
        self.house, self.prefixes = house, list[str]()
        self.homes = [self._home(name) for name in ("own", "foreign")]
        self.own, self.foreign = self.homes
        demo.take_all(house)
        fold(house)
        self.rows = [self._sow(home, number) for number, home in enumerate(self.homes, 1)]

    def _home(self, name: str) -> str:
        async def unit(ctx: Context) -> str:
            return (
                await accounts.create_workspace(ctx, name=name, plan="pro", plans=DEFAULT_PLANS)
            ).id

        return str(self.house.run(unit))

    def _sow(self, home: str, number: int) -> dict[str, str]:
        async def key(ctx: Context) -> ApiKey:
            wish = KeyWish(name="Kestrel key", scopes=("news:read",), workspace_id=home)
            return (await accounts.create_key(ctx, wish, plans=DEFAULT_PLANS)).key

        profile = self.house.profile(home, name="Kestrel watch", topic="Halted withdrawals")
        row, facets = make_report(number, "Kestrel report", "It halted.", profile=profile["id"])
        self.house.run(lambda ctx: put(ctx, row, facets), home)
        api_key = self.house.run(key)
        self.prefixes.append(api_key.prefix)
        return {
            "report": row.id,
            "subject": open_subject(self.house, "Kestrel Exchange", home),
            "profile": profile["id"],
            "key": api_key.id,
        }

    def run(self, id_: str, role: str | None = "owner", **members: Any) -> Any:
        operation = OPERATIONS[id_]
        scopes = SCOPES_OF_ROLES["owner"] if role is None else SCOPES_OF_ROLES[role]
        actor = Actor(
            SYSTEM if operation.binding == "system" else self.own,
            workspace_id=self.own,
            user_id="usr_a",
            scopes=members.pop("scopes", scopes),
            roles=frozenset({role or "owner"}),
        )
        path = {item.name for item in inputs_of(operation.request) if item.place == "path"}
        values = {name: members.pop(name) for name in path}
        body = json.dumps(members).encode() if members else b"{}"
        call = Call(values, "", {"content-type": "application/json"}.get, body)
        invocation = prepare(operation, call, self.house.site)
        now = self.house.clock.now()
        return json.loads(
            drive.run(Execution(invocation, actor, now, self.house.hands).reply()).body
        )

    @contextmanager
    def lent(self, providers: dict[Any, Any]) -> Iterator[None]:
        """Let the host lend these, too."""
        usual = self.house.host
        self.house.host = attrs.evolve(usual, providers={**usual.providers, **providers})
        try:
            yield
        finally:
            self.house.host = usual

    def search(self, q: str, role: str = "owner", **members: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.run("searchEverything", role, q=q, **members)["data"]
        return rows


@pytest.fixture(scope="module")
def desk(house_factory: Any) -> Desk:
    return Desk(house_factory())


@pytest.mark.parametrize(
    ("kind", "q", "title", "detail"),
    [
        ("report", "kestrel halted", "Kestrel report", "It halted."),
        ("cve", "CVE-2024-21887", "CVE-2024-21887", "An administrator of Ivanti"),
        ("entity", "microsoft", "MICROSOFT CORPORATION", "company · US"),
        ("entity", "lei:INR2EJN1ERAN0W5ZP974", "MICROSOFT CORPORATION", "company · US"),
        ("incident", "hospitals", "Ransomware attack forces six Dutch hospitals", "cyber"),
        ("event", "earthquake fiji", "M 4.6 - South of the Fiji Islands", "earthquake"),
        ("subject", "KESTREL exchange", "Kestrel Exchange", "organization · Kestrel Exchange is"),
        ("profile", "withdrawals", "Kestrel watch", "Halted withdrawals · manual"),
        ("key", "kestrel key", "Kestrel key", "svc_"),
    ],
)  # fmt: skip
def test_each_kind_is_found_by_words_and_shown_by_its_operation(
    desk: Desk, kind: str, q: str, title: str, detail: str
) -> None:
    row = next(row for row in desk.search(q) if row["kind"] == kind)
    assert (row["title"][: len(title)], row["detail"][: len(detail)]) == (title, detail)
    shown = desk.run(row["operation"], **row["values"])
    assert shown["data"]["id"] == row["id"]


@pytest.mark.parametrize(
    ("role", "kinds"),
    [
        ("owner", {"report", "incident", "newsItem", "subject", "profile", "key"}),
        ("admin", {"report", "incident", "newsItem", "subject", "profile", "key"}),
        ("member", {"report", "incident", "newsItem", "subject", "profile"}),
    ],
)
def test_a_role_finds_what_it_may_read(desk: Desk, role: str, kinds: set[str]) -> None:
    assert {row["kind"] for row in desk.search("kestrel", role)} == kinds


@pytest.mark.parametrize("scope", sorted(SCOPES_OF_ROLES["owner"]))
def test_a_scope_finds_the_kinds_that_it_covers(desk: Desk, scope: str) -> None:
    questions = ("kestrel", "CVE-2024-21887", "microsoft", "earthquake", "population", "france")
    rows = [row for q in questions for row in desk.search(q, "member", scopes=frozenset({scope}))]
    expected = {kind for kind, scopes in SCOPES_OF_KINDS.items() if scope in scopes}
    assert {row["kind"] for row in rows} | {"signal"} == expected | {"signal"}


def test_nobody_finds_what_is_another_workspaces(desk: Desk) -> None:
    foreign = set(desk.rows[1].values())
    for q in ("kestrel", desk.prefixes[1], *foreign):
        assert not {row["id"] for row in desk.search(q)} & foreign


def test_an_id_or_the_beginning_of_a_key_finds_its_row(desk: Desk) -> None:
    for kind, id_ in desk.rows[0].items():
        (row,) = desk.search(id_)
        assert (row["kind"], row["id"]) == (kind, id_)
        assert row["title"].startswith("Kestrel")
    for kind, q in (("entity", "microsoft"), ("event", "fiji"), ("incident", "hospitals")):
        first = desk.search(q, kinds=[kind])[0]
        assert [row["id"] for row in desk.search(first["id"])] == [first["id"]]
    key = desk.search(desk.prefixes[0], "admin")[0]
    assert key["id"] == desk.rows[0]["key"]
    assert desk.search("rpt_" + "0" * 24) == []


def test_no_more_rows_than_were_asked_for_and_none_twice(desk: Desk) -> None:
    for q in ("the", "earthquake", "a", "security"):
        rows = desk.search(q, limit=7)
        assert len(rows) <= 7
        assert len({row["id"] for row in rows}) == len(rows)
        assert [row["score"] for row in rows] == sorted((r["score"] for r in rows), reverse=True)


def test_of_a_kind_without_words_the_newest_rows_are_looked_through(desk: Desk) -> None:
    subjects = [open_subject(desk.house, f"Zebra {number}", desk.own) for number in range(20)]
    rows = desk.search("zebra", kinds=["subject"])
    assert len(rows) == 16
    assert {row["id"] for row in rows} <= set(subjects)
    assert subjects[-1] == rows[0]["id"]


@pytest.mark.parametrize("q", ["", " ", "x" * 1001])
def test_a_question_has_words_within_bounds(desk: Desk, q: str) -> None:
    with pytest.raises(Problem) as failure:
        desk.search(q)
    assert failure.value.type.code == "VALIDATION_FAILED"


def test_where_reports_are_not_read_in_time_the_others_are_found(desk: Desk) -> None:
    async def late(work: Any, seconds: float) -> Any:
        work.close()
        raise TimeoutError(seconds)

    with desk.lent({TimeLimit: late}):
        kinds = {row["kind"] for row in desk.search("kestrel")}
    assert kinds == {"incident", "newsItem", "subject", "profile", "key"}


QUESTION = "Walkout of the harbour?"


def near_news(desk: Desk) -> str:
    """The id of news that is near to `QUESTION` in meaning, and shares no word with it."""
    id_ = desk.search("kestrel", kinds=["newsItem"])[-1]["id"]
    base64 = b64encode(pack_vector(vector("strikes at the ports"))).decode()
    row = Vector(id_, desk.house.clock.now(), Meaning.name, 1, base64)
    desk.house.run(lambda ctx: ctx.save(VECTORS, id_, row))
    assert id_ not in [row["id"] for row in desk.search(QUESTION)]
    return str(id_)


def test_news_is_found_by_its_meaning_in_any_case(desk: Desk) -> None:
    id_ = near_news(desk)
    with desk.lent({Embedder: AtOnce(Meaning())}):
        for q in (QUESTION, QUESTION.lower(), QUESTION.upper()):
            first = desk.search(q, kinds=["newsItem", "event"])[0]
            assert (first["id"], first["near"] > 0) == (id_, True)
        assert desk.search("kestrel")[0]["near"] == 0
        foreign = [row["kind"] for row in desk.search(QUESTION, scopes=frozenset({"osint:read"}))]
        assert "newsItem" not in foreign


def test_where_vectors_are_not_read_in_time_words_have_to_do(desk: Desk) -> None:
    async def late(work: Any, seconds: float) -> Any:
        if seconds == MODEL_SECONDS:  # that of one of two kinds is less
            return await work
        work.close()
        raise TimeoutError(seconds)

    id_ = near_news(desk)
    with desk.lent({Embedder: AtOnce(Meaning()), TimeLimit: late}):
        hits = desk.search(QUESTION, kinds=["newsItem", "signal"])
    assert id_ not in [hit["id"] for hit in hits]


def test_of_kinds_without_vectors_no_model_is_asked(desk: Desk) -> None:
    class Unasked(Meaning):
        async def embed_query(self, text: str) -> bytes:
            raise AssertionError(text)

    with desk.lent({Embedder: Unasked()}):
        assert desk.search("kestrel", kinds=["subject", "profile"])
