"""Owners and admins look after the keys and members of their workspace, and of no other."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from svc_core.access import workspace_members
from svc_core.access.model import KEYS, MEMBERS, USERS, WORKSPACES
from svc_core.access.one_use_links import LINKS, LinkGrant, issue_link, read_link
from svc_core.access.operations import list_keys, list_users, list_workspaces
from svc_core.access.people import CREDENTIALS, create_credential
from svc_core.access.person_sessions import SESSIONS, Device, begin_session
from svc_core.access.roles import may_run
from svc_core.access.workspace_members import check_change
from svc_core.base import drive
from svc_core.base.instants import render
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import Trait
from svc_core.operation.inputs import inputs_of
from svc_http.stores.postgres import PostgresStorage
from tests.backends import NAMES
from tests.core.access.accounts.offices import LOCAL, TERMINAL, Offices
from tests.postgres import PostgresServer

Scene = Callable[[Offices], Awaitable[None]]

# -- rules -------------------------------------------------------------------------------------

CHANGES = [
    # acting, before, after, other owner, outcome
    ("owner", None, "owner", False, "done"),
    ("owner", "member", "owner", False, "done"),
    ("owner", "owner", "admin", True, "done"),
    ("owner", "owner", "admin", False, "RESOURCE_CONFLICT"),
    ("owner", "owner", None, False, "RESOURCE_CONFLICT"),
    ("owner", "owner", "owner", False, "done"),
    ("owner", "owner", None, True, "done"),
    ("admin", None, "admin", False, "done"),
    ("admin", "admin", None, False, "done"),
    ("admin", "member", "admin", False, "done"),
    ("admin", "member", "owner", True, "FORBIDDEN"),
    ("admin", None, "owner", True, "FORBIDDEN"),
    ("admin", "owner", "member", True, "FORBIDDEN"),
    ("admin", "owner", None, True, "FORBIDDEN"),
    ("member", "member", None, True, "FORBIDDEN"),
    (None, "member", None, True, "FORBIDDEN"),
]


@pytest.mark.parametrize(("acting", "before", "after", "has_other", "outcome"), CHANGES)
def test_who_may_change_whose_role(
    acting: Any, before: Any, after: Any, has_other: bool, outcome: str
) -> None:
    result = "done"
    try:
        check_change(acting, before, after, has_other_owner=has_other)
    except Problem as refusal:
        result = refusal.type.code
    assert result == outcome


# -- one workspace -----------------------------------------------------------------------------


def play(scene: Scene) -> None:
    drive.run(scene(Offices("memory")))


def test_members_are_listed_by_rank_and_name() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        await offices.owner("other")
        await offices.system(lambda ctx: create_credential(ctx, owner.user_id or "", "ann"))
        for role, name in (("member", "zoe"), ("admin", "Ann"), ("member", "Bob")):
            await offices.person(owner, role, name)  # type: ignore[arg-type]
        for person in (owner, TERMINAL):
            named = {} if person is owner else {"workspace": "acme"}
            rows = await offices.act(person, "listMembers", **named)
            assert [(row["role"], row["name"]) for row in rows] == [
                ("owner", "acme owner"),
                ("admin", "Ann"),
                ("member", "Bob"),
                ("member", "zoe"),
            ]
            assert (rows[0]["id"], rows[0]["handle"]) == (owner.user_id, "ann")
            assert rows[1]["handle"] is None

    play(scene)


def test_a_role_counts_at_the_next_request_and_the_last_owner_stays() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        admin = await offices.person(owner, "admin")
        role = {"userId": admin.user_id, "role": "member"}
        assert (await offices.act(owner, "setMemberRole", **role))["role"] == "member"
        assert (await offices.act(owner, "setMemberRole", **role))["role"] == "member"
        # What goes on under the role of before is judged by the one of now.
        assert await offices.outcome(admin, "removeMember", userId=owner.user_id) == "FORBIDDEN"
        last = await offices.outcome(owner, "removeMember", userId=owner.user_id)
        assert last == "RESOURCE_CONFLICT"
        await offices.act(TERMINAL, "removeMember", userId=admin.user_id, workspace="acme")
        gone = await offices.outcome(admin, "setMemberRole", userId=owner.user_id, role="member")
        assert gone == "FORBIDDEN"
        again = await offices.outcome(owner, "removeMember", userId=admin.user_id)
        assert again == "NOT_FOUND"

    play(scene)


def test_who_leaves_is_told_with_the_keys_in_their_name() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        admin = await offices.person(owner, "admin", "Ann")
        key = await offices.act(admin, "createKey", name="mine")
        await offices.act(owner, "createKey", name="another")
        answer = await offices.act(owner, "removeMember", userId=admin.user_id)
        assert answer == {
            "id": admin.user_id,
            "name": "Ann",
            "workspaceId": owner.workspace_id,
            "keys": [{"id": key["id"], "name": "mine"}],
            "deleted": True,
        }
        rows = await offices.act(owner, "listKeys")
        assert {row["name"]: row["status"] for row in rows} == {
            "mine": "active",
            "another": "active",
        }

    play(scene)


def test_an_invitation_is_a_link_that_lets_one_person_in_with_its_role() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        admin = await offices.person(owner, "admin")
        answer = await offices.act(admin, "inviteMember", role="admin", handle="cy@example.org")
        assert answer["workspaceId"] == owner.workspace_id
        assert answer["role"] == "admin"
        prefix, _, token = answer["url"].partition("/dashboard/setup#")
        assert prefix == offices.units.host.origin
        link = await offices.system(lambda ctx: read_link(ctx, token))
        assert (link.purpose, link.expires_at) == (
            "invite",
            offices.clock.now() + timedelta(days=7),
        )
        assert answer["expiresAt"] == render(link.expires_at)
        assert link.grant == LinkGrant(
            handle="cy@example.org",
            workspace_id=owner.workspace_id,
            role="admin",
            issued_by=admin.user_id,
        )
        for person, role, handle, outcome in (
            (admin, "owner", "di", "FORBIDDEN"),
            (admin, "member", "d i", "VALIDATION_FAILED"),
            (owner, "owner", "di", "done"),
            (TERMINAL, "owner", "ed", "done"),
        ):
            assert (
                await offices.outcome(person, "inviteMember", role=role, handle=handle) == outcome
            )

    play(scene)


def test_an_invitation_is_listed_until_it_is_revoked_used_or_over() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        admin = await offices.person(owner, "admin")
        invitations = ((TERMINAL, "owner", "cy"), (owner, "member", "di"))
        urls = [
            (await offices.act(person, "inviteMember", role=role, handle=handle))["url"]
            for person, role, handle in invitations
        ]
        members = {row["id"]: row["name"] for row in await offices.act(admin, "listMembers")}
        rows = {row["handle"]: row for row in await offices.act(admin, "listInvitations")}
        assert {handle: (row["role"], row["issuedBy"]) for handle, row in rows.items()} == {
            "cy": ("owner", None),
            "di": ("member", members[owner.user_id]),
        }

        ids = [rows[handle]["id"] for handle in ("cy", "di", "di")]
        outcomes = [
            await offices.outcome(admin, "revokeInvitation", invitationId=id_) for id_ in ids
        ]

        assert outcomes == ["FORBIDDEN", "done", "NOT_FOUND"]
        assert [row["handle"] for row in await offices.act(admin, "listInvitations")] == ["cy"]
        token = urls[1].partition("#")[2]
        assert await offices.system(lambda ctx: read_link(ctx, token)) is None
        offices.clock.advance(8 * 86_400)
        assert await offices.act(admin, "listInvitations") == []

    play(scene)


def test_members_and_open_invitations_are_bounded_together(monkeypatch: Any) -> None:
    monkeypatch.setattr(workspace_members, "MEMBERS_MAX", 4)

    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        await offices.person(owner, "member")
        outcomes = [await offices.outcome(owner, "inviteMember") for _ in range(3)]
        assert outcomes == ["done", "done", "RESOURCE_CONFLICT"]
        offices.clock.advance(8 * 86_400)
        await offices.system(lambda ctx: issue_link(ctx, "reset", LinkGrant()))  # clears the stale
        assert await offices.outcome(owner, "inviteMember") == "done"

    play(scene)


def test_a_key_is_made_in_the_name_of_the_person_and_bound_to_their_workspace() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        admin = await offices.person(owner, "admin")
        member = await offices.person(owner, "member")
        made = await offices.act(admin, "createKey", name="ci", scopes=["news:read"])
        assert made["workspaceId"] == owner.workspace_id
        assert (await offices.act(owner, "getKey", keyId=made["id"]))["userId"] == admin.user_id
        assert await offices.outcome(member, "createKey", name="no") == "NOT_FOUND"
        for name, value in {
            "workspace": "acme",
            "plan": "pro",
            "personal": True,
            "user": owner.user_id,
        }.items():
            outcome = await offices.outcome(admin, "createKey", name="x", **{name: value})
            assert outcome == "VALIDATION_FAILED"
        assert await offices.outcome(admin, "listKeys", workspace="acme") == "VALIDATION_FAILED"

    play(scene)


def test_everybody_sees_their_workspace_and_managers_rename_it() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        member = await offices.person(owner, "member")
        await offices.key(owner)
        shown = await offices.act(member, "showWorkspace")
        facts = {"id": owner.workspace_id, "name": "acme", "plan": "elite"}
        times = {"createdAt": shown["createdAt"], "endsAt": None}
        assert shown == {**facts, "members": 2, "keys": 1, **times}
        assert await offices.outcome(member, "renameWorkspace", name="x") == "NOT_FOUND"
        assert await offices.outcome(owner, "renameWorkspace", name="a\nb") == "VALIDATION_FAILED"
        for name in ("usr_0", owner.workspace_id):
            assert await offices.outcome(owner, "renameWorkspace", name=name) == "VALIDATION_FAILED"
        for _ in range(2):
            renamed = await offices.act(owner, "renameWorkspace", name="Acme Ltd")
            assert renamed == {**facts, "name": "Acme Ltd"}
        again = await offices.act(TERMINAL, "showWorkspace", workspace="Acme Ltd")
        assert again["name"] == "Acme Ltd"

    play(scene)


# -- two workspaces ----------------------------------------------------------------------------


@frozen
class Others:
    """The ids of another workspace."""

    user_id: str | None
    key_id: str
    session_id: str
    invitation_id: str


REACHING: dict[str, Callable[[Others], dict[str, Any]]] = {
    "getKey": lambda others: {"keyId": others.key_id},
    "revokeKey": lambda others: {"keyId": others.key_id},
    "updateKey": lambda others: {"keyId": others.key_id, "name": "taken over"},
    "regenerateKey": lambda others: {"keyId": others.key_id},
    "deleteKey": lambda others: {"keyId": others.key_id},
    "setMemberRole": lambda others: {"userId": others.user_id, "role": "member"},
    "removeMember": lambda others: {"userId": others.user_id},
    "revokeInvitation": lambda others: {"invitationId": others.invitation_id},
    "revokeSession": lambda others: {"sessionId": others.session_id},
}
"""What names a row of another workspace, by operation."""


def test_the_table_of_what_reaches_across_has_all_that_names_a_row() -> None:
    naming_ids = {
        operation.id
        for operation in LOCAL.values()
        if operation.binding == "system" and may_run(operation, "owner", is_operator=False)
        for item in inputs_of(operation.request)
        if item.id_of and Trait.OPERATOR not in item.traits
    }
    assert naming_ids == REACHING.keys()


async def everything(offices: Offices) -> list[Any]:
    """All that is stored of workspaces, people, keys and sessions."""
    parts = (list_workspaces, list_users, list_keys)
    rows = [await offices.system(part) for part in parts]
    for collection in (MEMBERS, SESSIONS, LINKS):
        page = await offices.system(
            lambda ctx, each=collection: ctx.tx.documents.scan(each, limit=99)
        )
        rows.append([(row.id, row.version, row.raw) for row in page.rows])
    return rows


@pytest.mark.parametrize("kind", NAMES)
def test_nothing_of_another_workspace_is_seen_or_changed(kind: str, tmp_path: Path) -> None:
    async def scene() -> None:
        offices = Offices(kind, tmp_path)
        try:
            await reach_across(offices)
        finally:
            await offices.store.close()

    asyncio.run(scene())


async def reach_across(offices: Offices) -> None:
    owner, other = await offices.owner("acme"), await offices.owner("other")
    admin, key = await offices.person(owner, "admin"), await offices.key(other)
    for handle, person in (("ann", owner), ("bob", other)):
        await offices.system(lambda ctx, n=handle, p=person: create_credential(ctx, p.user_id, n))
    device = Device.of("203.0.113.9", "")
    issue = await offices.system(lambda ctx: begin_session(ctx, other.user_id or "", device))
    await offices.act(other, "inviteMember")
    [invitation] = await offices.act(other, "listInvitations")
    others = Others(other.user_id, key.id, issue.session.id, invitation["id"])
    before = await everything(offices)
    for person in (owner, admin):
        for id_, body in REACHING.items():
            outcome = await offices.outcome(person, id_, **body(others))
            assert outcome == "NOT_FOUND", id_
        assert await offices.act(person, "listKeys") == []
        assert await offices.act(person, "listSessions") == []
        assert await offices.act(person, "listInvitations") == []
        members = await offices.act(person, "listMembers")
        assert {row["id"] for row in members} == {owner.user_id, admin.user_id}
    assert await everything(offices) == before


# -- two at once -------------------------------------------------------------------------------


async def both_owners_demote_each_other(desks: list[Offices]) -> None:
    first = await desks[0].owner("acme")
    second = await desks[0].person(first, "owner")
    outcomes = await asyncio.gather(
        desks[0].outcome(first, "setMemberRole", userId=second.user_id, role="member"),
        desks[-1].outcome(second, "removeMember", userId=first.user_id),
    )
    assert sorted(outcomes) == ["FORBIDDEN", "done"]
    rows = await desks[0].act(TERMINAL, "listMembers", workspace="acme")
    assert [row["role"] for row in rows].count("owner") == 1


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_two_owners_who_demote_each_other_one_stays(kind: str, tmp_path: Path) -> None:
    async def scene() -> None:
        offices = Offices(kind, tmp_path)
        try:
            await both_owners_demote_each_other([offices])
        finally:
            await offices.store.close()

    asyncio.run(scene())


def test_over_two_servers_one_owner_stays_too(postgres: PostgresServer) -> None:
    collections = (WORKSPACES, USERS, MEMBERS, KEYS, CREDENTIALS, LINKS)
    dsn = postgres.made_for(collections)

    async def scene() -> None:
        stores = [await PostgresStorage.open(dsn, collections, epoch=b"8 bytes.") for _ in range(2)]
        try:
            await both_owners_demote_each_other([Offices("", store=store) for store in stores])
        finally:
            for store in stores:
                await store.close()

    asyncio.run(scene())
