"""A workspace that ends: what goes, when, in which steps, and what its export has."""

import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from attrs import define, field, frozen

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.audit import SYSTEM_ACTS
from svc_core.access.creation import KeyWish
from svc_core.access.keys import ApiKey
from svc_core.access.model import ENDINGS, KEYS, MEMBERS, WORKSPACES, Workspace
from svc_core.access.people import create_credential
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.access.roles import actor_of
from svc_core.agent.threads import ThreadTurn, append_turn
from svc_core.base import drive
from svc_core.catalog import workspace_rows
from svc_core.catalog.workspace_rows import (
    LINGER,
    NOTICE,
    DeleteWorkspace,
    delete_workspace,
    end_workspaces,
)
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, prepare
from svc_core.operation.ports import FeedPosition
from svc_core.operation.units import Units
from svc_core.reports import recordings
from svc_core.reports.audio import AUDIO, FILE_CHECKS, Audio, Recording
from svc_core.reports.profiles.model import FOLLOWER_QUEUES, PROFILES, PUBLICATIONS
from svc_core.reports.publications import ChosenProfile, publish_profile
from tests.core.agent.asker import open_subject
from tests.knowledge import make_report, put

OPERATIONS = {operation.id: operation for operation in catalog.LOCAL_OPERATIONS}
TENANT_ROWS = [row for row in catalog.COLLECTIONS if row.scope == "tenant"]
LEFT_OUT = {
    "secret": {"webhook_secrets"},
    "of one person": {"threads", "thread_turns", "thread_heads"},
    "derived": {
        "knowledge_texts", "knowledge_vectors", "knowledge_due", "knowledge_terms",
        "knowledge_term_counts", "profile_deliveries",
    },
    "a queue": {
        "due", "leaving", "follows", "followed", "work", "speaking", "media_doubts", "waiting",
        "queues", "report_requests", "signal_watches",
    },
}  # fmt: skip
"""What an export lacks, by the reason."""


class KilledError(BaseException):
    """The process ends here."""


@define
class Mortal:
    """A number of writing units after which the process ends."""

    units: int


@frozen
class MortalUnits(Units):
    """Units of work of a process that ends after some of them."""

    mortal: Mortal = field(factory=lambda: Mortal(0))

    async def write(self, tenant: str, usecase: Any) -> Any:
        self.mortal.units -= 1
        if self.mortal.units < 0:
            raise KilledError
        return await super().write(tenant, usecase)


@frozen
class BrokenUnits(Units):
    """Units of work of which those of one tenant fail."""

    tenant: str = ""

    async def write(self, tenant: str, usecase: Any) -> Any:
        if tenant == self.tenant:
            raise OSError("broken")
        return await super().write(tenant, usecase)


@frozen
class RepeatedUnits(Units):
    """Units of work that happen twice, as where two processes do the same."""

    async def write(self, tenant: str, usecase: Any) -> Any:
        await super().write(tenant, usecase)
        return await super().write(tenant, usecase)


class Street:
    """Two workspaces with all that a workspace can have."""

    def __init__(self, house: Any) -> None:
        self.house = house
        self.homes = [self._home(name) for name in ("acme", "other")]
        self.own, self.other = (home.id for home in self.homes)
        for number, home in enumerate((self.own, self.other), 1):
            self._sow(home, number)

    def _home(self, name: str) -> Workspace:
        async def unit(ctx: Context) -> Workspace:
            return await accounts.create_workspace(
                ctx, name=name, plan="elite", plans=DEFAULT_PLANS
            )

        home: Workspace = self.house.run(unit)
        return home

    def _owner(self, home: str) -> str:
        async def unit(ctx: Context) -> str:
            actor = await accounts.operator_actor(ctx, home, None, is_personal=True)
            return actor.user_id or ""

        return str(self.house.run(unit))

    def _sow(self, home: str, number: int) -> None:
        house = self.house
        house.user = self._owner(home)
        profile = house.profile(home)
        house.webhook(home)
        for id_ in ("createProject", "createAutomation"):
            members = {"instructions": "Which ports?"} if id_ == "createAutomation" else {}
            house.send(id_, tenant=home, body={"name": "mine", **members})
        row, facets = make_report(number, "Ports", "They closed.", profile=profile["id"])
        turn = ThreadTurn(
            thread_id=f"thr_{number:024}", asked_at=house.clock.now(), question="Q", text="A"
        )
        name = f"{number:064x}.mp3"
        recording = Recording(name, "audio/mpeg", 1, name[:64], 1.0)
        audio = Audio("aud_1", row.id, recording, "voice", house.clock.now())

        async def unit(ctx: Context) -> None:
            await put(ctx, row, facets)
            await append_turn(ctx, f"msg_{number:024}", turn, owner_id=house.user)
            await ctx.save(AUDIO, row.id, audio)

        house.run(unit, home)
        for label in ("Kestrel", "Heron"):
            open_subject(house, label, home, status="open")
        self.profile = profile["id"]

        async def key(ctx: Context) -> ApiKey:
            wish = KeyWish(name="ci", scopes=("news:read",), workspace_id=home)
            return (await accounts.create_key(ctx, wish, plans=DEFAULT_PLANS)).key

        self.digest = house.run(key).digest_hex

    def act(self, id_: str, home: str = "", role: Any = "owner", **body: Any) -> Any:
        """The body of an answer."""
        home = home or self.own
        actor = actor_of(
            OPERATIONS[id_],
            workspace_id=home,
            user_id=self._owner(home),
            role=role,
            is_operator=False,
        )
        fields = {"content-type": "application/json"}
        call = Call({}, "", fields.get, json.dumps(body).encode())
        invocation = prepare(OPERATIONS[id_], call, self.house.site)
        run = Execution(invocation, actor, self.house.clock.now(), self.house.hands)
        return drive.run(run.reply())

    def code(self, id_: str, **arguments: Any) -> str:
        with pytest.raises(Problem) as failure:
            self.act(id_, **arguments)
        return failure.value.type.code

    def end(self, units: Units | None = None) -> list[BaseException]:
        failures: list[BaseException] = []
        hands = units or self.house.hands
        drive.run(end_workspaces(hands, catalog.COLLECTIONS, failures.append))
        return failures

    def hands(self, kind: type[Units], **members: Any) -> Units:
        """The units of work of the house as another kind."""
        names = ("storage", "ids", "now", "keyring", "host")
        return kind(**{name: getattr(self.house.hands, name) for name in names}, **members)

    def rows(self, home: str) -> dict[str, list[Any]]:
        """All that a workspace has, by the name of where it is."""

        async def look(ctx: Context) -> dict[str, list[Any]]:
            rows = {
                collection.name: [(row.id, row.raw) async for row in ctx.every(collection)]
                for collection in TENANT_ROWS
            }
            feed = await ctx.tx.changes.read(FeedPosition(1_000_000, 0), limit=999)
            rows["feed"] = [change for change in feed.changes if not change.everybody]
            rows["lines"] = list(await ctx.tx.ledger.lines(0, 999))
            rows["head"] = [head] if (head := await ctx.tx.ledger.head()) else []
            return rows

        async def system(ctx: Context) -> dict[str, list[Any]]:
            places: Any = ((KEYS, "account"), (MEMBERS, "workspace_id"))
            rows = {
                collection.name: [
                    row.id async for row in ctx.every(collection, where={name: (home,)})
                ]
                for collection, name in places
            }
            rows["home"] = [home] if await ctx.find(WORKSPACES, home) else []
            return rows

        return {**self.house.run(look, home), **self.house.run(system)}

    def drain(self, home: str) -> None:
        """Do what the workers of files and followers do."""

        async def unit(ctx: Context) -> None:
            for collection in (FILE_CHECKS, FOLLOWER_QUEUES):
                for row in [row async for row in ctx.every(collection)]:
                    await ctx.tx.documents.delete(collection, row.id)

        self.house.run(unit, home)


@pytest.fixture
def street(house: Any) -> Street:
    return Street(house)


def left(rows: dict[str, list[Any]]) -> set[str]:
    return {name for name, values in rows.items() if values}


# -- the seven days ----------------------------------------------------------------------------


def test_a_deletion_names_the_workspace_and_can_be_undone_for_seven_days(street: Street) -> None:
    before = street.rows(street.own)
    assert street.code("keepWorkspace") == "RESOURCE_CONFLICT"
    assert street.code("deleteWorkspace", name="other") == "VALIDATION_FAILED"
    marks = []
    for _ in range(2):
        marks.append(json.loads(street.act("deleteWorkspace", name="acme").body)["data"])
        street.house.clock.advance(1)
    assert marks[0] == marks[1]
    assert marks[0]["id"] == street.own
    shown = json.loads(street.act("showWorkspace").body)["data"]
    assert shown["endsAt"] == marks[0]["endsAt"]
    street.house.clock.advance(NOTICE.total_seconds() - 3)
    street.end()
    assert street.rows(street.own) == before
    street.act("keepWorkspace")
    street.house.clock.advance(NOTICE.total_seconds())
    street.end()
    assert street.rows(street.own) == before
    assert json.loads(street.act("showWorkspace").body)["data"]["endsAt"] is None


def test_it_is_for_owners(street: Street) -> None:
    for id_ in ("deleteWorkspace", "keepWorkspace", "exportWorkspace", "foreseeWorkspaceDeletion"):
        assert OPERATIONS[id_].roles == {"owner", "operator"}
        for role in ("admin", "member"):
            assert street.code(id_, role=role) == "NOT_FOUND"
    guarded = {op.id for op in OPERATIONS.values() if op.group == "workspace" and op.guarded}
    assert guarded == {"deleteWorkspace", "keepWorkspace", "exportWorkspace"}


def test_what_goes_is_said_before(street: Street) -> None:
    counts = json.loads(street.act("foreseeWorkspaceDeletion").body)["data"]
    rows = street.rows(street.own)
    assert counts == {
        **{name: len(rows[name]) for name in workspace_rows.COUNTED},
        "ledgerRecords": len(rows["lines"]),
        "keys": 1,
    }
    assert all(counts.values())


# -- the end -----------------------------------------------------------------------------------


def test_after_seven_days_all_of_it_goes_and_nothing_of_others(street: Street) -> None:
    other = street.rows(street.other)
    street.act("deleteWorkspace", name="acme")
    street.house.clock.advance(NOTICE.total_seconds())
    assert street.code("keepWorkspace") == "RESOURCE_CONFLICT"
    street.end()
    assert left(street.rows(street.own)) == {"media_doubts"}
    street.drain(street.own)
    street.house.clock.advance(LINGER.total_seconds())

    def late(ctx: Context) -> Awaitable[Any]:
        return recordings.check_file(ctx, "late.mp3")

    street.house.run(late, street.own)
    street.end()
    street.drain(street.own)
    assert ENDINGS.name == "endings"
    assert len(street.house.stored(ENDINGS)) == 1
    street.house.clock.advance(1)
    street.end()
    assert street.house.stored(ENDINGS) == []
    assert left(street.rows(street.own)) == set()
    assert street.rows(street.other) == other


@pytest.mark.parametrize("handle", ["ann", None])
def test_the_log_keeps_who_deleted_which_when_all_of_it_is_gone(
    street: Street, handle: str | None
) -> None:
    user = street._owner(street.own)
    if handle is not None:
        street.house.run(partial(create_credential, user_id=user, handle=handle))
    for _ in range(2):
        street.act("deleteWorkspace", name="acme")
    street.house.clock.advance((NOTICE + LINGER + timedelta(seconds=1)).total_seconds())
    while street.house.stored(ENDINGS):
        street.end(street.hands(RepeatedUnits))
        street.drain(street.own)
    row = ("deleteWorkspace", handle or user, user, street.own, None)
    assert [
        (act.operation, act.who, act.user_id, act.target_id, act.workspace_id)
        for act in street.house.stored(SYSTEM_ACTS)
    ] == [row, row]


def test_the_log_names_the_operator_who_deletes(street: Street) -> None:
    actor = accounts.Actor(street.own, workspace_id=street.own)
    ctx = street.house.hands.context(actor)
    drive.run(delete_workspace(ctx, DeleteWorkspace("acme")))
    assert [act.who for act in street.house.stored(SYSTEM_ACTS)] == ["operator"]


def test_public_profiles_are_closed_first_so_that_others_subscriptions_end(street: Street) -> None:
    profile = street.house.run(_first_profile, street.own)
    ctx = street.house.hands.context(accounts.Actor(street.own, workspace_id=street.own))
    drive.run(publish_profile(ctx, ChosenProfile(profile)))
    assert street.house.stored(PUBLICATIONS)
    street.act("deleteWorkspace", name="acme")
    street.house.clock.advance(NOTICE.total_seconds() + LINGER.total_seconds() + 1)
    street.end()
    assert street.house.stored(PUBLICATIONS) == []
    queue = street.house.value(FOLLOWER_QUEUES, profile, street.own)
    assert [news.report_id for news in queue.news] == [None, None]
    assert left(street.rows(street.own)) == {"media_doubts", "followed"}
    assert street.house.stored(ENDINGS)
    street.drain(street.own)
    street.end()
    assert street.house.stored(ENDINGS) == []


async def _first_profile(ctx: Context) -> str:
    return (await ctx.tx.documents.scan(PROFILES, limit=1)).rows[0].id


def test_whoever_comes_next_ends_what_a_killed_process_began(street: Street) -> None:
    other, deaths = street.rows(street.other), 0
    street.act("deleteWorkspace", name="acme")
    street.house.clock.advance((NOTICE + LINGER + timedelta(seconds=1)).total_seconds())
    while street.house.stored(ENDINGS):
        try:
            street.end(street.hands(MortalUnits, mortal=Mortal(deaths % 5)))
        except KilledError:
            deaths += 1
        street.drain(street.own)
    assert deaths > 3
    assert left(street.rows(street.own)) == set()
    assert street.rows(street.other) == other


def test_what_cannot_be_erased_does_not_keep_others(street: Street) -> None:
    for home, name in ((street.own, "acme"), (street.other, "other")):
        street.act("deleteWorkspace", home, name=name)
    street.house.clock.advance(NOTICE.total_seconds())
    (failure,) = street.end(street.hands(BrokenUnits, tenant=street.own))
    assert str(failure) == "broken"
    assert left(street.rows(street.other)) == {"media_doubts"}
    assert {"profiles", "lines"} <= left(street.rows(street.own))
    assert street.end() == []
    assert left(street.rows(street.own)) == {"media_doubts"}


def test_one_unit_erases_few_rows(street: Street) -> None:
    for number in range(2 * workspace_rows.ROWS_MAX):
        street.house.profile(street.own, name=f"profile {number}")
    street.act("deleteWorkspace", name="acme")
    street.house.clock.advance(NOTICE.total_seconds())
    sizes = [street.rows(street.own)]
    while left(sizes[-1]) != {"media_doubts"}:
        # The first unit finds that the workspace is closed, the second one erases.
        with suppress(KilledError):
            street.end(street.hands(MortalUnits, mortal=Mortal(2)))
        sizes.append(street.rows(street.own))
    for before, after in pairwise(sizes):
        counts = {name: len(before[name]) - len(after[name]) for name in before}
        assert max(counts.values()) <= workspace_rows.ROWS_MAX
        assert sum(count > 0 for count in counts.values()) <= 3  # feed, answers, ledger


# -- the export --------------------------------------------------------------------------------


def _export(street: Street, act: Callable[..., Any]) -> list[Any]:
    replies, body = list[Any](), {}
    while True:
        reply = act("exportWorkspace", **body)
        assert len(reply.body) < workspace_rows.PAGE_BYTES
        replies.append(reply)
        link = dict(reply.headers).get("Link")
        if link is None:
            return replies
        body = {"cursor": link.partition("cursor=")[2].partition(">")[0]}


@pytest.mark.parametrize(("page_rows", "step"), [(1, 1), (2, 1), (100, 10)])
def test_an_export_has_all_that_is_not_left_out_for_a_reason(
    street: Street, monkeypatch: pytest.MonkeyPatch, page_rows: int, step: int
) -> None:
    monkeypatch.setattr(workspace_rows, "PAGE_ROWS", page_rows)
    monkeypatch.setattr(workspace_rows, "_STEP", step)
    for number in range(3):
        street.house.profile(street.own, name=f"profile {number}")
    replies = _export(street, street.act)
    text = b"".join(reply.body for reply in replies)
    rows = [json.loads(line) for line in text.splitlines()]
    stored = street.rows(street.own)
    for name in workspace_rows.EXPORTED:
        assert [(row["id"], row["row"]) for row in rows if row["kind"] == name] == [
            (id_, json.loads(raw)) for id_, raw in stored[name]
        ]
    lines = [line for line in text.splitlines() if b'"kind":"ledger_lines"' in line]
    assert [line.partition(b'"row":')[2][:-1] for line in lines] == stored["lines"]
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    order = ("workspaces", "members", "keys", *workspace_rows.EXPORTED, "ledger_lines")
    assert kinds == [kind for kind in order if kind in kinds]
    assert street.digest.encode() not in text
    assert b"digest" not in text.partition(b'"kind":"reports"')[0]
    assert street.other.encode() not in text


def test_an_export_has_nothing_that_is_another_persons(street: Street) -> None:
    street.house.user = "usr_" + "9" * 24
    street.house.send("createProject", tenant=street.own, body={"name": "private"})
    text = b"".join(reply.body for reply in _export(street, street.act))
    assert b'"name":"mine"' in text
    assert b'"name":"private"' not in text


def test_each_collection_is_exported_or_left_out_for_a_reason() -> None:
    names = {row.name for row in TENANT_ROWS}
    assert names == {*workspace_rows.EXPORTED}.union(*LEFT_OUT.values())
    assert sum(map(len, LEFT_OUT.values())) + len(workspace_rows.EXPORTED) == len(names)
