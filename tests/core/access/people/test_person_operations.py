"""What people run on their own password, passkeys and sessions, and the operator on people."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import attrs
import pytest

from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.model import MEMBERS, USERS
from svc_core.access.one_use_links import LINKS
from svc_core.access.people import CREDENTIALS
from svc_core.access.person_sessions import SESSIONS, IssuedSession, renew
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.access.roles import actor_of
from svc_core.base import drive
from tests.core.access.accounts.offices import LOCAL
from tests.core.access.people.desks import CAFE, ORIGIN, PASSWORD, Desk, code_of, refusal_of
from tests.core.access.people.test_sign_ins import rows_of

Scene = Callable[[Desk], Awaitable[None]]
OTHER = "five calm otters sleep"


def play(scene: Scene) -> None:
    drive.run(scene(Desk()))


async def home_of(desk: Desk, session: IssuedSession) -> str:
    return (await desk.person(session)).memberships[0].workspace_id


# -- links -------------------------------------------------------------------------------------


def token_of(row: Any) -> str:
    address, _, token = row["url"].partition("#")
    assert address == f"{ORIGIN}/dashboard/setup"
    return str(token)


def test_a_link_lets_in_the_first_person_then_new_ones_then_those_who_lost_their_password() -> None:
    async def scene(desk: Desk) -> None:
        row = await desk.run(None, "linkUser")
        assert row["purpose"] == "setup"
        ann = await desk.person(await desk.follow(token_of(row), "ann"))
        assert ann.is_operator
        row = await desk.run(None, "linkUser", handle="bob", role="admin")
        assert row["purpose"] == "invite"
        bob = await desk.person(await desk.follow(token_of(row), "eve"))
        assert bob.credential.handle == "bob"
        assert [member.role for member in bob.memberships] == ["admin"]
        assert not bob.is_operator
        row = await desk.run(None, "linkUser", handle="BOB", operator=True)
        assert row["purpose"] == "reset"
        assert (await desk.person(await desk.follow(token_of(row), None))).is_operator

    play(scene)


def test_whom_a_link_lets_in_must_be_said_once_there_are_people() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        refusal = await refusal_of(desk.run(None, "linkUser"))
        assert refusal.detail == "/handle: say whom it lets in"
        await desk.owner("acme")
        assert await code_of(desk.run(None, "linkUser", handle="bob")) == "VALIDATION_FAILED"
        assert await code_of(desk.run(None, "linkUser", handle="bob", workspace="acme")) == "done"
        assert await code_of(desk.run(None, "linkUser", handle="bob", workspace="x")) == "NOT_FOUND"
        user = (await rows_of(desk, USERS))[0].id
        assert (await desk.run(None, "linkUser", handle=user))["purpose"] == "reset"

    play(scene)


# -- passwords ---------------------------------------------------------------------------------


def test_a_new_password_ends_all_other_sessions() -> None:
    async def scene(desk: Desk) -> None:
        sessions = [await desk.founder(), await desk.sign_in("ann", device=CAFE)]
        row = await desk.run(sessions[1], "setPassword", password=OTHER)
        assert (row["handle"], row["hasPassword"]) == ("ann", True)
        assert [await desk.resume(session.token) is None for session in sessions] == [True, False]
        assert await code_of(desk.sign_in("ann", PASSWORD)) == "SIGN_IN_FAILED"
        assert await code_of(desk.sign_in("ann", OTHER)) == "done"
        assert OTHER not in str(row)
        assert OTHER not in str(await rows_of(desk, CREDENTIALS))

    play(scene)


def test_a_new_password_ends_open_links_and_exchanges_the_token() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        id_, user = session.session.id, session.session.user_id
        link = await desk.link("reset", user_id=user)
        await desk.run(session, "setPassword", password=OTHER)
        assert await code_of(desk.follow(link, None)) == "LINK_EXPIRED"
        assert (await desk.person(session)).state == "outdated"
        renewed = await desk.system(partial(renew, session_id=id_))
        desk.clock.advance(60)
        assert await desk.resume(session.token) is None
        assert (await desk.person(renewed)).state == "live"

    play(scene)


def test_who_is_in_no_workspace_has_their_own_in_hand_and_nothing_else() -> None:
    async def scene(desk: Desk) -> None:
        people = await team(desk)
        session = people["member"]
        user = session.session.user_id
        home = await home_of(desk, session)
        await desk.system(lambda ctx: ctx.remove(MEMBERS, f"{home}:{user}"))
        person = {"workspace_id": None, "user_id": user, "role": None, "is_operator": False}

        async def run(id_: str, **body: Any) -> Any:
            return await desk._run(actor_of(LOCAL[id_], **person), id_, body)

        assert [row["userId"] for row in await run("listSessions")] == [user]
        assert (await run("showSignInMethods"))["handle"] == "member"
        assert (await run("setPassword", password=OTHER))["handle"] == "member"
        other = people["owner"].session.id
        assert await code_of(run("revokeSession", sessionId=other)) == "NOT_FOUND"
        for body in ({"user": "owner"}, {"workspace": home}):
            assert await code_of(run("listSessions", **body)) == "VALIDATION_FAILED"

    play(scene)


def test_what_a_person_signs_in_by_is_shown_without_a_secret() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        row = await desk.run(session, "showSignInMethods")
        assert row == await desk.run(None, "showSignInMethods", user="Ann")
        assert {name: row[name] for name in ("handle", "hasPassword", "passkeys")} == {
            "handle": "ann",
            "hasPassword": True,
            "passkeys": [],
        }
        assert "argon2" not in str(row)

    play(scene)


def test_the_operator_names_whose_password_is_set() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        owner = await desk.owner("acme")
        refusal = await refusal_of(desk.run(None, "setPassword", password=OTHER))
        assert refusal.detail.startswith("/user: say whose")
        cannot = await refusal_of(desk.run(None, "setPassword", password=OTHER, user=owner.user_id))
        assert f"svc users link {owner.user_id}" in cannot.detail
        nobody = desk.run(None, "setPassword", password=OTHER, user="nobody")
        assert await code_of(nobody) == "NOT_FOUND"
        await desk.run(None, "setPassword", password=OTHER, user="ANN")
        assert await desk.resume(session.token) is None
        assert await code_of(desk.sign_in("ann", OTHER)) == "done"

    play(scene)


def test_a_handle_that_reads_like_an_id_stands_for_nobody_else() -> None:
    async def scene(desk: Desk) -> None:
        ann = await desk.founder()
        id_ = ann.session.user_id
        await desk.guest(await home_of(desk, ann), "member", id_)
        row = await desk.run(None, "setPassword", password=OTHER, user=id_)
        assert row["handle"] == "ann"
        assert (await desk.run(await desk.sign_in("ann", OTHER), "setPassword", password=PASSWORD))[
            "handle"
        ] == "ann"

    play(scene)


@pytest.mark.parametrize("operation", ["setPassword", "removePasskey", "listSessions"])
def test_nobody_but_the_operator_names_another_person(operation: str) -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        body = {"setPassword": {"password": OTHER}, "removePasskey": {"passkeyId": "x"}}
        refusal = await refusal_of(
            desk.run(session, operation, user="ann", **body.get(operation, {}))
        )
        assert refusal.detail.startswith("/user: is said by the operator alone")

    play(scene)


def test_a_password_is_refused_for_the_names_of_its_person() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder("annlee77@pier.org")
        for password in ("my annlee dog barks", "the ann lee of horses", "default is a lake"):
            assert await code_of(desk.run(session, "setPassword", password=password)) == (
                "VALIDATION_FAILED"
            )

    play(scene)


# -- sessions ----------------------------------------------------------------------------------


async def team(desk: Desk) -> dict[str, IssuedSession]:
    """People of one workspace by their roles, and the owner of another one."""
    owner = await desk.founder("owner")
    home = await home_of(desk, owner)
    people = {"owner": owner}
    for role in ("admin", "member"):
        people[role] = await desk.guest(home, role, role)
    people["peer"] = await desk.guest(home, "admin", "peer")
    other = (await desk.owner("other")).workspace_id or ""
    people["stranger"] = await desk.guest(other, "owner", "stranger")
    return people


SEEN = {
    "owner": {"owner", "admin", "member", "peer"},
    "admin": {"admin", "member", "peer"},
    "member": {"member"},
    "stranger": {"stranger"},
}


@pytest.mark.parametrize("role", SEEN)
def test_whose_sessions_a_person_sees_and_ends(role: str) -> None:
    async def scene(desk: Desk) -> None:
        people = await team(desk)
        rows = await desk.run(people[role], "listSessions")
        assert {row["handle"] for row in rows} == SEEN[role]
        assert [row["handle"] for row in rows if row["isCurrent"]] == [role]
        assert rows == sorted(rows, key=lambda row: (row["createdAt"], row["id"]), reverse=True)
        for handle, session in people.items():
            if handle != role:
                code = await code_of(
                    desk.run(people[role], "revokeSession", sessionId=session.session.id)
                )
                assert code == ("done" if handle in SEEN[role] else "NOT_FOUND")
                assert (await desk.resume(session.token) is None) == (code == "done")

    play(scene)


def test_the_operator_sees_all_sessions_or_those_that_are_named() -> None:
    async def scene(desk: Desk) -> None:
        people = await team(desk)
        for body, handles in (
            ({}, set(people)),
            ({"workspace": "other"}, {"stranger"}),
            ({"user": "MEMBER"}, {"member"}),
            ({"user": people["admin"].session.user_id}, {"admin"}),
        ):
            rows = await desk.run(None, "listSessions", **body)
            assert {row["handle"] for row in rows} == handles
        row = await desk.run(None, "revokeSession", sessionId=people["member"].session.id)
        assert (row["handle"], row["agent"], row["isCurrent"]) == (
            "member",
            "Firefox on Linux",
            False,
        )
        assert await desk.resume(people["member"].token) is None

    play(scene)


def test_what_has_ended_is_not_listed() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        desk.clock.advance(43_200)
        session = await desk.sign_in("ann")
        await desk.guest((await desk.owner("acme")).workspace_id or "", "member", "bob")
        rows = await desk.run(session, "listSessions")
        assert [row["id"] for row in rows] == [session.session.id]

    play(scene)


def test_who_lost_a_role_meanwhile_acts_with_the_present_one() -> None:
    async def scene(desk: Desk) -> None:
        people = await team(desk)
        home, admin = await home_of(desk, people["owner"]), people["admin"]
        user = admin.session.user_id
        await desk.system(lambda ctx: accounts.add_member(ctx, home, user, "member"))
        rows = await desk.run(admin, "listSessions")
        assert {row["handle"] for row in rows} == {"admin"}

    play(scene)


# -- removal -----------------------------------------------------------------------------------


def test_a_person_who_is_removed_leaves_nothing_behind_but_named_keys() -> None:
    async def scene(desk: Desk) -> None:
        people = await team(desk)
        home, admin = await home_of(desk, people["owner"]), people["admin"]
        user = admin.session.user_id
        await desk.link("reset", user_id=user)
        kept = await desk.link("reset", user_id=people["owner"].session.user_id)
        person = attrs.evolve((await desk.person(admin)).user, plan="elite")
        await desk.system(lambda ctx: ctx.save(USERS, user, person))
        for wish in (
            KeyWish("ci", ("news:read",), workspace_id=home, user_id=user),
            KeyWish("own", ("news:read",), user_id=user),
        ):
            await desk.system(partial(accounts.create_key, wish=wish, plans=DEFAULT_PLANS))
        row = await desk.run(None, "removeUser", user="admin")
        assert (row["id"], row["name"], row["sessions"]) == (user, "admin", 1)
        assert [key["name"] for key in row["keys"]] == ["ci"]
        for collection in (USERS, CREDENTIALS, SESSIONS, MEMBERS):
            assert not [item for item in await rows_of(desk, collection) if user in item.id]
            assert user not in str(await rows_of(desk, collection))
        assert len(await rows_of(desk, LINKS)) == 1
        assert await code_of(desk.follow(kept, None)) == "done"
        states = {key.name: key.status for key in await desk.system(accounts.list_keys)}
        assert states == {"ci": "active", "own": "inactive"}
        assert await code_of(desk.sign_in("admin")) == "SIGN_IN_FAILED"
        assert await code_of(desk.run(None, "removeUser", user="admin")) == "NOT_FOUND"

    play(scene)


def test_the_last_owner_and_the_last_operator_are_not_removed_and_nothing_of_them_is() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        bob = await desk.guest(await home_of(desk, session), "owner", "bob")
        user = bob.session.user_id
        for step, change in (
            ("--operator", partial(desk.link, "reset", user_id=user, is_operator=True)),
            ("owner", partial(desk.link, "reset", user_id=user)),
        ):
            before = desk.store.version
            refusal = await refusal_of(desk.run(None, "removeUser", user="ann"))
            assert refusal.type.code == "RESOURCE_CONFLICT"
            assert step in refusal.resolution
            assert desk.store.version == before
            role = "member" if step == "--operator" else "owner"
            await desk.run(session, "setMemberRole", userId=user, role=role)
            await desk.follow(await change(), None)
        assert await code_of(desk.run(None, "removeUser", user="ann")) == "done"
        assert await desk.resume(session.token) is None

    play(scene)
