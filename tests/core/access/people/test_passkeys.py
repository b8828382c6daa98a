"""People make passkeys, in a session or by a link, and sign in with them."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access import passkeys, sign_ins
from svc_core.access.passkeys import (
    ANSWER_MAX,
    PasskeyAnswer,
    PasskeyHolder,
    PasskeyJudge,
    offers_passkeys,
)
from svc_core.access.people import PASSKEYS_MAX
from svc_core.access.person_sessions import IssuedSession, token_digest
from svc_core.base import drive
from svc_core.operation.host import Host
from tests.authenticator import Authenticator
from tests.core.access.people.desks import HOME, ORIGIN, Desk, code_of, refusal_of

Scene = Callable[[Desk], Awaitable[None]]


def play(scene: Scene) -> None:
    drive.run(scene(Desk()))


def phone(id_: bytes = b"passkey 1", origin: str = ORIGIN) -> Authenticator:
    return Authenticator(origin, "svc.example", id_)


async def register(desk: Desk, session: IssuedSession, key: Authenticator, **body: Any) -> Any:
    holder = PasskeyHolder(session.session.user_id, "ann")
    answer = key.register(passkeys.registration_options(desk.work, holder))
    return await desk.run(session, "addPasskey", answer=answer, **body)


async def enter(desk: Desk, answer: str) -> IssuedSession:
    session: IssuedSession = await desk.system(
        partial(sign_ins.sign_in_by_passkey, answer=answer, device=HOME)
    )
    return session


def test_a_passkey_made_in_a_session_signs_its_person_in() -> None:
    async def scene(desk: Desk) -> None:
        session, key = await desk.founder(), phone()
        row = await register(desk, session, key, name="phone")
        assert [(passkey["name"], passkey["signCount"]) for passkey in row["passkeys"]] == [
            ("phone", 0)
        ]
        for count in (1, 2):
            options = passkeys.sign_in_options(desk.work)
            session = await enter(desk, key.sign(options))
            person = await desk.person(session)
            assert person.credential.handle == "ann"
            assert person.credential.passkeys[0].sign_count == count

    play(scene)


def test_one_of_several_passkeys_is_told_apart() -> None:
    async def scene(desk: Desk) -> None:
        session, keys = await desk.founder(), [phone(b"first"), phone(b"second")]
        for key in keys:
            await register(desk, session, key)
        await enter(desk, keys[1].sign(passkeys.sign_in_options(desk.work)))
        counts = [row.sign_count for row in (await desk.person(session)).credential.passkeys]
        assert counts == [0, 1]

    play(scene)


def test_a_passkey_passes_a_locked_password() -> None:
    async def scene(desk: Desk) -> None:
        key = phone()
        await register(desk, await desk.founder(), key)
        for _ in range(5):
            await code_of(desk.sign_in("ann", "no horses ran"))
        assert await code_of(desk.sign_in("ann")) == "AUTH_LOCKED"
        assert await code_of(enter(desk, key.sign(passkeys.sign_in_options(desk.work)))) == "done"

    play(scene)


def test_a_link_is_followed_with_a_passkey_alone() -> None:
    async def scene(desk: Desk) -> None:
        key, token = phone(), await desk.link("setup", role="owner", is_operator=True)
        holder = PasskeyHolder(token_digest(token), "ann")
        answer = key.register(passkeys.registration_options(desk.work, holder))
        await desk.follow(token, "ann", password=None, passkey=PasskeyAnswer(answer, "phone"))
        assert await code_of(desk.sign_in("ann")) == "SIGN_IN_FAILED"
        person = await desk.person(await enter(desk, key.sign(passkeys.sign_in_options(desk.work))))
        assert person.is_operator
        assert person.credential.password is None

    play(scene)


def test_a_challenge_is_answered_once_and_in_time() -> None:
    async def scene(desk: Desk) -> None:
        key, session = phone(), await desk.founder()
        await register(desk, session, key)
        options = passkeys.sign_in_options(desk.work)
        desk.clock.advance(299)
        answer = key.sign(options)
        assert await code_of(enter(desk, answer)) == "done"
        assert await code_of(enter(desk, key.sign(options))) == "SIGN_IN_FAILED"
        options = passkeys.sign_in_options(desk.work)
        desk.clock.advance(300)
        assert await code_of(enter(desk, key.sign(options))) == "SIGN_IN_FAILED"

    play(scene)


def test_asking_for_a_challenge_stores_nothing() -> None:
    async def scene(desk: Desk) -> None:
        before = desk.store.version
        for _ in range(100):
            passkeys.sign_in_options(desk.work)
        assert desk.store.version == before

    play(scene)


def spoil(answer: str, **members: Any) -> str:
    row = json.loads(answer)
    return json.dumps({**row, **members})


SPOILT: list[Callable[[str], str]] = [
    lambda answer: "",
    lambda answer: "null",
    lambda answer: "[" * 5_000,
    lambda answer: "x" * (ANSWER_MAX + 1),
    lambda answer: spoil(answer, id="other"),
    lambda answer: spoil(answer, id=None),
    lambda answer: spoil(answer, response=None),
    lambda answer: spoil(answer, response={"clientDataJSON": 5}),
    lambda answer: spoil(answer, response={"clientDataJSON": "{}"}),
    lambda answer: spoil(answer, response={**json.loads(answer)["response"], "signature": "AAAA"}),
]


@pytest.mark.parametrize("change", SPOILT)
def test_no_other_answer_signs_anybody_in(change: Callable[[str], str]) -> None:
    async def scene(desk: Desk) -> None:
        key = phone()
        await register(desk, await desk.founder(), key)
        before = desk.store.version
        answer = change(key.sign(passkeys.sign_in_options(desk.work)))
        refusal = await refusal_of(enter(desk, answer))
        assert refusal.type.code == "SIGN_IN_FAILED"
        assert refusal.detail == "The passkey was not recognised."
        assert desk.store.version == before

    play(scene)


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.binary().map(lambda octets: urlsafe_b64encode(octets).decode())
)
MEMBERS = st.sampled_from(
    ["id", "rawId", "type", "clientDataJSON", "authenticatorData", "signature", "attestationObject"]
)


@given(st.dictionaries(MEMBERS, LEAVES | st.dictionaries(st.text(max_size=5), LEAVES), min_size=1))
def test_whatever_a_browser_answers_is_refused_or_right(changes: dict[str, Any]) -> None:
    async def scene(desk: Desk) -> None:
        key, session = phone(), await desk.founder()
        holder = PasskeyHolder(session.session.user_id, "ann")
        answer = garble(key.register(passkeys.registration_options(desk.work, holder)), changes)
        assert await code_of(desk.run(session, "addPasskey", answer=answer)) in {
            "done",
            "VALIDATION_FAILED",
        }
        other = phone(b"other")
        await register(desk, session, other)
        answer = garble(other.sign(passkeys.sign_in_options(desk.work)), changes)
        assert await code_of(enter(desk, answer)) in {"done", "SIGN_IN_FAILED"}

    play(scene)


def test_a_public_key_without_its_curve_is_refused() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        holder = PasskeyHolder(session.session.user_id, "ann")
        answer = json.loads(phone().register(passkeys.registration_options(desk.work, holder)))
        octets = urlsafe_b64decode(answer["response"]["attestationObject"] + "==")
        bare = octets.replace(b"\x20\x01", b"\x37\x01")  # another member in its place (RFC 9053)
        answer["response"]["attestationObject"] = urlsafe_b64encode(bare).decode()
        refusal = await refusal_of(desk.run(session, "addPasskey", answer=json.dumps(answer)))
        assert refusal.detail == "/answer: the browser's answer does not verify"

    play(scene)


def garble(answer: str, changes: dict[str, Any]) -> str:
    row = json.loads(answer)
    inner = {name: changes.get(name, text) for name, text in row["response"].items()}
    outer = {name: changes.get(name, member) for name, member in row.items()}
    return json.dumps({**outer, "response": inner})


def test_a_passkey_of_another_site_or_person_is_refused() -> None:
    async def scene(desk: Desk) -> None:
        session, key = await desk.founder(), phone()
        foreign = phone(b"foreign", "https://evil.example")
        stranger = PasskeyHolder("usr_" + "e" * 24, "eve")
        answers = [
            foreign.register(
                passkeys.registration_options(desk.work, PasskeyHolder(session.session.user_id, ""))
            ),
            key.register(passkeys.registration_options(desk.work, stranger)),
            key.register(passkeys.sign_in_options(desk.work)),
        ]
        for answer in answers:
            refusal = await refusal_of(desk.run(session, "addPasskey", answer=answer))
            assert refusal.type.code == "VALIDATION_FAILED"
            assert refusal.detail.startswith("/answer: ")
        assert await code_of(enter(desk, key.sign(passkeys.sign_in_options(desk.work)))) == (
            "SIGN_IN_FAILED"
        )

    play(scene)


def test_a_copied_passkey_whose_count_falls_back_is_refused() -> None:
    async def scene(desk: Desk) -> None:
        key = phone()
        await register(desk, await desk.founder(), key)
        await enter(desk, key.sign(passkeys.sign_in_options(desk.work)))
        key.count = 0
        answer = key.sign(passkeys.sign_in_options(desk.work))
        assert await code_of(enter(desk, answer)) == "SIGN_IN_FAILED"

    play(scene)


def test_passkeys_are_bounded_and_of_one_person_each() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        for n in range(PASSKEYS_MAX):
            await register(desk, session, phone(b"%d" % n))
        assert await code_of(register(desk, session, phone(b"more"))) == "RESOURCE_CONFLICT"
        home = (await desk.owner("acme")).workspace_id or ""
        bob = await desk.guest(home, "member", "bob")
        assert await code_of(register(desk, bob, phone(b"0"))) == "RESOURCE_CONFLICT"
        assert await code_of(register(desk, bob, phone(b"bob"))) == "done"

    play(scene)


def test_the_last_way_in_stays() -> None:
    async def scene(desk: Desk) -> None:
        session = await desk.founder()
        rows = [await register(desk, session, phone(id_)) for id_ in (b"first", b"second")]
        first, second = (row["id"] for row in rows[-1]["passkeys"])
        person = await desk.person(session)
        assert await code_of(desk.run(session, "removePasskey", passkeyId="none")) == "NOT_FOUND"
        row = await desk.run(session, "removePasskey", passkeyId=first)
        assert [passkey["id"] for passkey in row["passkeys"]] == [second]
        bare = attrs.evolve((await desk.person(session)).credential, password=None)
        await desk.system(lambda ctx: ctx.save(sign_ins.CREDENTIALS, person.user.id, bare))
        refusal = await refusal_of(desk.run(session, "removePasskey", passkeyId=second))
        assert (refusal.type.code, refusal.detail) == (
            "RESOURCE_CONFLICT",
            "It is the only way in.",
        )

    play(scene)


OFFERS = [
    ("https://svc.example", True),
    ("http://localhost:8000", True),
    ("https://localhost", True),
    ("http://svc.example", False),
    ("https://192.0.2.1", False),
    ("https://[2001:db8::1]:8000", False),
    ("http://127.0.0.1:8000", False),
]


@pytest.mark.parametrize(("origin", "offers"), OFFERS)
def test_passkeys_are_offered_where_browsers_take_them(origin: str, offers: bool) -> None:
    judged = {PasskeyJudge: Desk().units.host.providers[PasskeyJudge]}
    assert offers_passkeys(Host(origin, providers=judged)) is offers
    assert not offers_passkeys(Host(origin))


def test_where_they_are_not_offered_nobody_is_asked_for_one() -> None:
    async def scene(desk: Desk) -> None:
        host = attrs.evolve(desk.units.host, origin="http://192.0.2.1")
        desk.units = attrs.evolve(desk.units, host=host)
        for ask in (
            partial(passkeys.sign_in_options, desk.work),
            partial(passkeys.registration_options, desk.work, PasskeyHolder("usr_1", "ann")),
        ):
            with pytest.raises(sign_ins.Problem) as refusal:
                ask()
            assert refusal.value.type.code == "SERVICE_UNAVAILABLE"
            assert refusal.value.resolution.startswith("Use a password, ")
            assert "svc doctor" in refusal.value.resolution

    play(scene)
