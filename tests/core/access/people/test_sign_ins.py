"""People come in by a link, a password or a passkey, and stay in by their session."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access import sign_ins
from svc_core.access.audit import SYSTEM_ACTS
from svc_core.access.model import MEMBERS, USERS, WORKSPACES
from svc_core.access.one_use_links import LINKS, IssuedLink, read_link
from svc_core.access.passwords import UNKNOWN_PHC, verify_password
from svc_core.access.people import CREDENTIALS, create_credential, is_unclaimed
from svc_core.access.person_sessions import (
    SESSIONS,
    SESSIONS_MAX,
    Device,
    IssuedSession,
    begin_session,
    end_session,
    renew,
    touch,
)
from svc_core.access.sign_ins import LinkAnswer
from svc_core.base import drive
from svc_core.operation.ports import Collection, Lockouts
from svc_http.stores.postgres import PostgresStorage
from tests.core.access.people.desks import CAFE, HOME, Desk, code_of, refusal_of, role_in
from tests.postgres import PostgresServer

Scene = Callable[[Desk], Awaitable[None]]
MINUTE, HOUR, DAY = 60, 3_600, 86_400


def play(scene: Scene) -> None:
    drive.run(scene(Desk()))


async def rows_of(desk: Desk, collection: Collection[Any]) -> list[Any]:
    return await desk.system(partial(accounts.scan_values, collection=collection, limit=1_000))


# -- the first person --------------------------------------------------------------------------


def test_the_first_person_is_operator_and_owner_of_the_first_workspace() -> None:
    async def scene(desk: Desk) -> None:
        assert await desk.system(is_unclaimed)
        person = await desk.person(await desk.founder())
        assert not await desk.system(is_unclaimed)
        [home] = await rows_of(desk, WORKSPACES)
        assert (person.user.name, person.credential.handle) == ("Ann Lee", "ann")
        assert person.is_operator
        assert role_in(person, home.id) == "owner"
        assert (home.name, home.plan) == ("default", "elite")

    play(scene)


def test_where_there_are_workspaces_the_first_person_owns_the_oldest() -> None:
    async def scene(desk: Desk) -> None:
        old = await desk.owner("acme")
        desk.clock.advance(1)
        await desk.owner("other")
        person = await desk.person(await desk.founder())
        assert [row.workspace_id for row in person.memberships] == [old.workspace_id]
        assert len(await rows_of(desk, WORKSPACES)) == 2

    play(scene)


def test_a_second_setup_link_ends_with_the_first() -> None:
    async def scene(desk: Desk) -> None:
        second = await desk.link("setup", role="owner", is_operator=True)
        await desk.founder()
        refusal = await refusal_of(desk.follow(second, "eve"))
        assert refusal.type.code == "LINK_EXPIRED"
        assert "svc users link" in refusal.resolution

    play(scene)


# -- links -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("purpose", "seconds"),
    [("setup", 30 * MINUTE), ("reset", 30 * MINUTE), ("invite", 7 * DAY)],
)
def test_a_link_lasts_until_its_time_is_over(purpose: Any, seconds: int) -> None:
    async def scene(desk: Desk) -> None:
        token = await desk.link(purpose)
        find = partial(read_link, token=token)
        desk.clock.advance(seconds - 1)
        link = await desk.system(find)
        assert link is not None
        assert token not in repr(IssuedLink(token, link))
        assert IssuedLink(token, link).address("https://x") == f"https://x/dashboard/setup#{token}"
        desk.clock.advance(1)
        assert await desk.system(find) is None
        assert await code_of(desk.follow(token, "ann")) == "LINK_EXPIRED"

    play(scene)


@pytest.mark.parametrize("token", ["", "x", "0" * 64, "\ud800", "a" * 100_000])
def test_any_other_text_is_no_link_and_no_session(token: str) -> None:
    async def scene(desk: Desk) -> None:
        assert await desk.system(partial(read_link, token=token)) is None
        assert await desk.resume(token) is None

    play(scene)


def test_links_whose_time_is_over_are_forgotten_with_the_next() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(3):
            await desk.link("reset")
        invite = await desk.link("invite")
        desk.clock.advance(HOUR)
        await desk.link("reset")
        assert len(await rows_of(desk, LINKS)) == 2
        assert await desk.system(partial(read_link, token=invite)) is not None

    play(scene)


def test_an_invitation_makes_a_person_with_its_role() -> None:
    async def scene(desk: Desk) -> None:
        owner = await desk.owner("acme")
        await desk.founder()
        person = await desk.person(await desk.guest(owner.workspace_id or "", "admin", "bob"))
        assert role_in(person, owner.workspace_id or "") == "admin"
        assert len(person.memberships) == 1
        assert not person.is_operator
        assert person.user.name == "bob"

    play(scene)


async def join(desk: Desk, session: IssuedSession, token: str) -> None:
    """Follow a link as somebody who is signed in."""
    act = partial(
        sign_ins.join_by_link,
        token=token,
        user_id=session.session.user_id,
        device=HOME,
        session_id=session.session.id,
    )
    await desk.system(act)


def test_who_is_signed_in_joins_and_keeps_a_role_that_is_there() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        ann = await desk.person(session)
        other = await desk.owner("other")
        for home, role in (
            (other.workspace_id, "admin"),
            (ann.memberships[0].workspace_id, "owner"),
        ):
            token = await desk.link("invite", workspace_id=home, role="admin")
            await join(desk, session, token)
            assert role_in(await desk.person(session), home or "") == role
            assert await code_of(join(desk, session, token)) == "LINK_EXPIRED"
            act = (await rows_of(desk, SYSTEM_ACTS))[0]
            assert (act.operation, act.who, act.workspace_id) == ("useInviteLink", "ann", home)
            assert act.session_id == session.session.id
        assert len(await rows_of(desk, CREDENTIALS)) == 1

    play(scene)


def test_to_join_leaves_the_session_as_stale_as_it_was() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        desk.clock.advance(HOUR)
        other = await desk.owner("other")
        await join(desk, session, await desk.link("invite", workspace_id=other.workspace_id))
        person = await desk.person(session)
        assert person.session == session.session
        assert not person.is_fresh(desk.clock.now())
        assert person.state == "outdated"

    play(scene)


@pytest.mark.parametrize(("handle", "code"), [("ANN", "done"), ("bob", "RESOURCE_CONFLICT")])
def test_an_invitation_of_a_handle_lets_nobody_else_join(handle: str, code: str) -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        other = (await desk.owner("other")).workspace_id
        token = await desk.link("invite", workspace_id=other, role="owner", handle=handle)
        assert await code_of(join(desk, session, token)) == code
        assert (role_in(await desk.person(session), other) is not None) == (code == "done")
        if code != "done":
            assert (await refusal_of(join(desk, session, token))).resolution
            assert await code_of(desk.follow(token, None)) == "done"

    play(scene)


def test_no_other_link_lets_somebody_join() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        token = await desk.link("reset", user_id=session.session.user_id)
        assert await code_of(join(desk, session, token)) == "RESOURCE_CONFLICT"

    play(scene)


# -- who made an invitation --------------------------------------------------------------------


async def invitation(desk: Desk, maker: IssuedSession, role: str) -> str:
    row = await desk.run(maker, "inviteMember", role=role)
    return str(row["url"].partition("#")[2])


@pytest.mark.parametrize(
    ("after", "invited", "code"),
    [
        ("owner", "owner", "done"),
        ("admin", "member", "done"),
        ("admin", "owner", "LINK_EXPIRED"),
        ("member", "member", "LINK_EXPIRED"),
        (None, "member", "LINK_EXPIRED"),
    ],
)
def test_an_invitation_is_worth_what_its_maker_may_still_do(
    after: Any, invited: str, code: str
) -> None:
    """Also where the role was lost in a way that did not end the link."""

    async def scene(desk: Desk) -> None:
        home = (await desk.person(await desk.founder())).memberships[0].workspace_id
        maker = await desk.guest(home, "owner", "maker")
        token, user = await invitation(desk, maker, invited), maker.session.user_id
        if after is None:
            await desk.system(lambda ctx: ctx.remove(MEMBERS, f"{home}:{user}"))
        else:
            await desk.system(lambda ctx: accounts.add_member(ctx, home, user, after))
        assert await code_of(desk.follow(token, "eve")) == code

    play(scene)


@pytest.mark.parametrize(
    ("operation", "body", "is_left"),
    [
        ("setMemberRole", {"role": "owner"}, True),
        ("setMemberRole", {"role": "member"}, False),
        ("removeMember", {}, False),
        ("removeUser", {}, False),
    ],
)
def test_with_a_lost_role_the_invitations_of_a_person_end(
    operation: str, body: dict[str, Any], is_left: bool
) -> None:
    async def scene(desk: Desk) -> None:
        owner = await desk.founder()
        home = (await desk.person(owner)).memberships[0].workspace_id
        maker = await desk.guest(home, "admin", "maker")
        kept = await invitation(desk, owner, "member")
        ended, user = await invitation(desk, maker, "member"), maker.session.user_id
        if operation == "removeUser":
            await desk.run(None, operation, user=user)
        else:
            await desk.run(owner, operation, userId=user, **body)
        assert len(await rows_of(desk, LINKS)) == 1 + is_left
        assert await code_of(desk.follow(ended, "eve")) == ("done" if is_left else "LINK_EXPIRED")
        assert await code_of(desk.follow(kept, "bob")) == "done"

    play(scene)


def test_a_reset_link_gives_a_new_password_and_ends_all_sessions() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        ann = await desk.person(session)
        token = await desk.link("reset", user_id=ann.user.id)
        new = await desk.follow(token, None, password="five calm otters sleep")
        assert await desk.resume(session.token) is None
        assert (await desk.person(new)).is_operator
        assert await code_of(desk.sign_in("ann")) == "SIGN_IN_FAILED"
        assert await code_of(desk.sign_in("ann", "five calm otters sleep")) == "done"

    play(scene)


def test_a_reset_ends_the_other_links_of_its_person() -> None:
    async def scene(desk: Desk) -> None:
        ann = (await desk.founder()).session.user_id
        tokens = [await desk.link("reset", user_id=ann) for _ in range(2)]
        invite = await desk.link("invite", workspace_id=(await desk.owner("acme")).workspace_id)
        assert await code_of(desk.follow(tokens[0], None)) == "done"
        assert await code_of(desk.follow(tokens[1], None)) == "LINK_EXPIRED"
        assert await code_of(desk.follow(invite, "bob")) == "done"

    play(scene)


def test_a_reset_link_lets_in_a_user_who_had_no_handle() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        owner = await desk.owner("acme")
        token = await desk.link("reset", user_id=owner.user_id, is_operator=True)
        person = await desk.person(await desk.follow(token, "bob"))
        assert (person.user.id, person.credential.handle) == (owner.user_id, "bob")
        assert role_in(person, owner.workspace_id or "") == "owner"
        assert person.is_operator

    play(scene)


REFUSED = [
    ({"handle": "ANN"}, "RESOURCE_CONFLICT"),
    ({"handle": "a b"}, "VALIDATION_FAILED"),
    ({"handle": None}, "VALIDATION_FAILED"),
    ({"handle": "bob", "password": None}, "VALIDATION_FAILED"),
    ({"handle": "bob", "password": "short"}, "VALIDATION_FAILED"),
    ({"handle": "robert", "password": "robert at the sea"}, "VALIDATION_FAILED"),
    ({"handle": "bob@pier.org", "password": "bob and ten swans"}, "VALIDATION_FAILED"),
    ({"handle": "bob", "name": "Bob Marsh", "password": "ten bobmarsh swans"}, "VALIDATION_FAILED"),
    ({"handle": "bob", "password": "we at harbour watch"}, "VALIDATION_FAILED"),
    ({"handle": "bob", "name": "x" * 121}, "VALIDATION_FAILED"),
]


@pytest.mark.parametrize(("answer", "code"), REFUSED)
def test_a_refused_answer_leaves_the_link_as_it_was(answer: dict[str, Any], code: str) -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        home = (await desk.owner("Harbour Watch")).workspace_id
        token = await desk.link("invite", workspace_id=home)
        before = desk.store.version
        assert await code_of(desk.follow(token, **answer)) == code
        assert desk.store.version == before
        assert await code_of(desk.follow(token, "bob")) == "done"
        assert await code_of(desk.follow(token, "bobby")) == "LINK_EXPIRED"

    play(scene)


# -- passwords and their locks -----------------------------------------------------------------


def test_a_handle_is_the_same_however_it_is_typed() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder("Änn@example.org")
        for handle in ("änn@EXAMPLE.org", "A\u0308NN@example.org"):
            assert (await desk.person(await desk.sign_in(handle))).credential.handle[0] == "Ä"
        for handle in ("ann@example.org", "", "x" * 1_000, "\ud800nn"):
            assert await code_of(desk.sign_in(handle)) == "SIGN_IN_FAILED"

    play(scene)


def test_unknown_handles_and_those_without_password_cost_one_verification_too() -> None:
    async def scene(desk: Desk) -> None:
        ann = await desk.person(await desk.founder())
        await desk.system(lambda ctx: create_credential(ctx, "usr_" + "e" * 24, "eve"))
        desk.units.jobs.clear()
        for handle in ("ann", "eve", "nobody", ""):
            refusal = await refusal_of(desk.sign_in(handle, "wrong horses ran by"))
            assert refusal.detail == "The handle or the password is not right."
        phcs = [ann.credential.password, *[UNKNOWN_PHC] * 3]
        assert [(job.func, *job.args) for job in desk.units.jobs] == [
            (verify_password, "wrong horses ran by", phc) for phc in phcs
        ]

    play(scene)


def test_five_failures_lock_a_password_there_and_nowhere_else() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        await desk.guest((await desk.owner("acme")).workspace_id or "", "member", "bob")
        for handle in ("ann", "nobody"):
            codes = [await code_of(desk.sign_in(handle, "wrong horses ran")) for _ in range(7)]
            assert codes == ["SIGN_IN_FAILED"] * 5 + ["AUTH_LOCKED"] * 2
        refusal = await refusal_of(desk.sign_in("ann"))
        assert (refusal.type.code, refusal.headers["Retry-After"]) == ("AUTH_LOCKED", "900")
        assert await code_of(desk.sign_in("ann", device=CAFE)) == "done"
        assert await code_of(desk.sign_in("bob")) == "done"
        desk.clock.advance(15 * MINUTE)
        assert await code_of(desk.sign_in("ann")) == "done"

    play(scene)


def test_twenty_failures_from_anywhere_lock_a_password_everywhere() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        devices = [Device(f"192.0.2.{n}", "") for n in range(21)]
        codes = [await code_of(desk.sign_in("ann", "no horses ran", device)) for device in devices]
        assert codes == ["SIGN_IN_FAILED"] * 20 + ["AUTH_LOCKED"]
        assert await code_of(desk.sign_in("ann", device=CAFE)) == "AUTH_LOCKED"
        [row] = await desk.units.host.providers[Lockouts].locked(desk.clock.now())
        assert row.address.startswith("account usr_")

    play(scene)


def test_the_addresses_of_one_block_are_one() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        devices = [Device(f"2001:db8::{n}", "") for n in range(6)]
        codes = [await code_of(desk.sign_in("ann", "no horses ran", device)) for device in devices]
        assert codes == ["SIGN_IN_FAILED"] * 5 + ["AUTH_LOCKED"]
        assert await code_of(desk.sign_in("ann", device=Device("2001:db8:0:1::1", ""))) == "done"

    play(scene)


def test_no_address_of_a_key_is_locked_by_failures_of_people() -> None:
    async def scene(desk: Desk) -> None:
        for _ in range(6):
            await code_of(desk.sign_in("ann", "no horses ran"))
        lockouts = desk.units.host.providers[Lockouts]
        assert await lockouts.failures(HOME.address) == ()
        rows = await lockouts.locked(desk.clock.now())
        assert rows
        assert all("ann" not in row.address for row in rows)

    play(scene)


def test_a_link_passes_a_locked_password() -> None:
    async def scene(desk: Desk) -> None:
        ann = await desk.person(await desk.founder())
        for _ in range(5):
            await code_of(desk.sign_in("ann", "no horses ran"))
        token = await desk.link("reset", user_id=ann.user.id)
        assert await code_of(desk.follow(token, None)) == "done"
        assert await code_of(desk.sign_in("ann")) == "AUTH_LOCKED"

    play(scene)


def test_failures_while_a_password_is_verified_count() -> None:
    async def scene(desk: Desk) -> None:
        ann = await desk.person(await desk.founder())
        account = f"account {ann.user.id}"

        async def fail() -> None:
            for _ in range(20):
                await desk.units.host.providers[Lockouts].record(account, desk.clock.now())

        desk.units.meanwhile.append(fail)
        assert await code_of(desk.sign_in("ann")) == "AUTH_LOCKED"

    play(scene)


def test_a_password_changed_while_it_is_verified_opens_nothing() -> None:
    async def scene(desk: Desk) -> None:
        ann = await desk.person(await desk.founder())
        token = await desk.link("reset", user_id=ann.user.id)
        change = partial(sign_ins.use_link, token=token, answer=LinkAnswer(), phc=UNKNOWN_PHC)
        desk.units.meanwhile.append(lambda: desk.system(change))
        assert await code_of(desk.sign_in("ann")) == "SIGN_IN_FAILED"
        assert await rows_of(desk, SESSIONS) == []

    play(scene)


# -- sessions ----------------------------------------------------------------------------------


def test_a_session_is_opened_by_its_token_until_it_ends() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        [row] = await rows_of(desk, SESSIONS)
        assert session.token not in repr(session)
        assert session.token not in str(row)
        assert (await desk.person(session)).session == row == session.session
        await desk.system(partial(end_session, session_id=row.id))
        await desk.system(partial(end_session, session_id=row.id))
        assert await desk.resume(session.token) is None

    play(scene)


def test_a_session_that_is_used_lasts_fourteen_days() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        for _ in range(28):
            assert await desk.resume(session.token) is not None
            desk.clock.advance(12 * HOUR - 1)
            await desk.system(partial(touch, session_id=session.session.id, device=CAFE))
        assert (await desk.person(session)).session.device == CAFE
        desk.clock.advance(28)
        assert await desk.resume(session.token) is None

    play(scene)


def test_a_use_is_recorded_once_a_minute_and_revives_nothing() -> None:
    async def scene(desk: Desk) -> None:
        id_ = (await desk.founder()).session.id
        use = partial(touch, session_id=id_, device=CAFE)
        before = desk.store.version
        desk.clock.advance(59)
        await desk.system(use)
        assert desk.store.version == before
        desk.clock.advance(1)
        await desk.system(use)
        assert [row.last_seen_at for row in await rows_of(desk, SESSIONS)] == [desk.clock.now()]
        await desk.system(partial(end_session, session_id=id_))
        desk.clock.advance(MINUTE)
        await desk.system(use)
        assert await rows_of(desk, SESSIONS) == []

    play(scene)


def test_after_a_change_of_role_the_token_is_exchanged_once_for_all_tabs() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        home = (await desk.owner("acme")).workspace_id or ""
        session = await desk.guest(home, "member", "bob")
        id_, user = session.session.id, session.session.user_id
        exchange = partial(renew, session_id=id_)
        assert await desk.system(exchange) is None
        await desk.system(lambda ctx: accounts.add_member(ctx, home, user, "admin"))
        person = await desk.person(session)
        assert (person.state, role_in(person, home)) == ("outdated", "admin")
        renewed = await desk.system(exchange)
        assert await desk.system(exchange) is None
        desk.clock.advance(59)
        for token in (session.token, renewed.token):
            person = await desk.resume(token)
            assert person is not None
            assert (person.state, person.session.id) == ("live", id_)
        desk.clock.advance(1)
        assert await desk.resume(session.token) is None
        assert await desk.resume(renewed.token) is not None
        await desk.system(partial(end_session, session_id=id_))
        assert await desk.system(exchange) is None

    play(scene)


def test_a_person_has_at_most_twenty_sessions_and_the_oldest_ends() -> None:
    async def scene(desk: Desk) -> None:
        first = await desk.founder()
        begin = partial(begin_session, user_id=first.session.user_id, device=HOME)
        sessions = [first]
        for _ in range(SESSIONS_MAX):
            desk.clock.advance(1)
            sessions.append(await desk.system(begin))
        assert len(await rows_of(desk, SESSIONS)) == SESSIONS_MAX
        lasting = [await desk.resume(session.token) is not None for session in sessions]
        assert lasting == [False, *[True] * SESSIONS_MAX]
        desk.clock.advance(12 * HOUR)
        await desk.system(begin)
        assert len(await rows_of(desk, SESSIONS)) == 1

    play(scene)


def test_a_new_sign_in_ends_the_session_that_it_replaces() -> None:
    async def scene(desk: Desk) -> None:
        first = await desk.founder()
        other = await desk.sign_in("ann")
        second = await desk.sign_in("ann", replacing=first.session.id)
        opens = [await desk.resume(row.token) is not None for row in (first, other, second)]
        assert opens == [False, True, True]

    play(scene)


def test_another_persons_session_in_the_browser_ends_as_well() -> None:
    async def scene(desk: Desk) -> None:
        ann = await desk.founder()
        await desk.guest((await desk.owner("acme")).workspace_id or "", "member", "bob")
        bob = await desk.sign_in("bob", replacing=ann.session.id)
        assert await desk.resume(ann.token) is None
        assert (await desk.person(bob)).credential.handle == "bob"

    play(scene)


def test_every_way_in_is_written_down_with_its_workspace() -> None:
    async def scene(desk: Desk) -> None:
        await desk.founder()
        home = (await desk.owner("acme")).workspace_id or ""
        bob = await desk.guest(home, "member", "bob")
        await desk.sign_in("bob", device=CAFE)
        await code_of(desk.sign_in("bob", "no horses ran"))
        await desk.follow(await desk.link("reset", user_id=bob.session.user_id), None)
        await desk.follow(await desk.link("sign-in", user_id=bob.session.user_id), None)
        acts = await rows_of(desk, SYSTEM_ACTS)
        assert [(act.operation, act.who, act.address) for act in acts[::-1]] == [
            ("useSetupLink", "ann", HOME.address),
            ("useInviteLink", "bob", HOME.address),
            ("signIn", "bob", CAFE.address),
            ("useResetLink", "bob", HOME.address),
            ("useSignInLink", "bob", HOME.address),
        ]
        assert {act.outcome for act in acts} == {"done"}
        assert {act.workspace_id for act in acts if act.who == "bob"} == {home}

    play(scene)


# -- many at once ------------------------------------------------------------------------------

COUNT = 8


async def outcomes(desks: list[Desk], work: Callable[[Desk, int], Awaitable[Any]]) -> Counter[str]:
    calls = [code_of(work(desks[n % len(desks)], n)) for n in range(COUNT)]
    return Counter(await asyncio.gather(*calls))


async def link_race(desks: list[Desk]) -> None:
    token = await desks[0].link("setup", role="owner", is_operator=True)
    results = await outcomes(desks, lambda desk, n: desk.follow(token, f"ann-{n}"))
    assert results == {"done": 1, "LINK_EXPIRED": COUNT - 1}
    for collection in (CREDENTIALS, USERS, MEMBERS, SESSIONS, WORKSPACES):
        assert len(await rows_of(desks[0], collection)) == 1


async def setup_race(desks: list[Desk]) -> None:
    tokens = [await desks[0].link("setup", role="owner", is_operator=True) for _ in range(COUNT)]
    results = await outcomes(desks, lambda desk, n: desk.follow(tokens[n], f"ann-{n}"))
    assert results == {"done": 1, "LINK_EXPIRED": COUNT - 1}
    assert len(await rows_of(desks[0], CREDENTIALS)) == 1


async def handle_race(desks: list[Desk]) -> None:
    await desks[0].founder()
    home = (await desks[0].owner("acme")).workspace_id
    tokens = [await desks[0].link("invite", workspace_id=home) for _ in range(COUNT)]
    results = await outcomes(
        desks, lambda desk, n: desk.follow(tokens[n], "Bob" if n % 2 else "bob")
    )
    assert results == {"done": 1, "RESOURCE_CONFLICT": COUNT - 1}


async def invitation_race(desks: list[Desk]) -> None:
    owner = await desks[0].founder()
    home = (await desks[0].person(owner)).memberships[0].workspace_id
    maker = await desks[0].guest(home, "admin", "maker")
    token, user = await invitation(desks[0], maker, "admin"), maker.session.user_id
    results = await asyncio.gather(
        code_of(desks[0].run(owner, "removeMember", userId=user)),
        code_of(desks[-1].follow(token, "eve")),
    )
    assert results[0] == "done"
    assert results[1] in {"done", "LINK_EXPIRED"}
    assert await code_of(desks[-1].follow(token, "bob")) == "LINK_EXPIRED"
    people = await rows_of(desks[0], MEMBERS)
    assert len(people) == (2 if results[1] == "done" else 1)


async def renewal_race(desks: list[Desk]) -> None:
    session = await desks[0].founder()
    home = (await desks[0].owner("acme")).workspace_id or ""
    user = session.session.user_id
    await desks[0].system(lambda ctx: accounts.add_member(ctx, home, user, "admin"))
    exchange = partial(renew, session_id=session.session.id)
    rows = await asyncio.gather(*(desks[n % len(desks)].system(exchange) for n in range(COUNT)))
    [renewed] = filter(None, rows)
    assert (await desks[0].person(renewed)).state == "live"


RACES = pytest.mark.parametrize(
    "race", [link_race, setup_race, handle_race, renewal_race, invitation_race]
)


@RACES
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_many_at_once_one_gets_through(kind: str, race: Any, tmp_path: Path) -> None:
    async def run() -> None:
        desk = Desk(kind, tmp_path)
        try:
            await race([desk])
        finally:
            await desk.store.close()

    asyncio.run(run())


@RACES
def test_over_two_servers_one_gets_through(race: Any, postgres: PostgresServer) -> None:
    dsn = postgres.made_for(catalog.COLLECTIONS)

    async def run() -> None:
        stores = [
            await PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=b"8 bytes.")
            for _ in range(2)
        ]
        try:
            desks = [Desk(store=store) for store in stores]
            desks[1].units = attrs.evolve(desks[1].units, ids=desks[0].units.ids)
            await race(desks)
        finally:
            for store in stores:
                await store.close()

    asyncio.run(run())
