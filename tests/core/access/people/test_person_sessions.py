"""Sessions as values: their states, what browsers are called, and when roles differ."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.model import Membership, User
from svc_core.access.people import Credential, fold_handle, handle_faults, role_version
from svc_core.access.person_sessions import (
    FRESH,
    IDLE,
    LIFETIME,
    OVERLAP,
    TOUCH,
    Device,
    PersonSession,
    SignedIn,
    has_ended,
    session_state,
)

T0 = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
TICK = timedelta(microseconds=1)
DAY = timedelta(days=1)


def make(**members: Any) -> PersonSession:
    values: dict[str, Any] = {
        "id": "ses_" + "1" * 24,
        "digest": "present",
        "former_digest": "former",
        "user_id": "usr_" + "a" * 24,
        "created_at": T0,
        "last_seen_at": T0,
        "signed_in_at": T0,
        "device": Device("192.0.2.1", "Firefox on Linux"),
        "role_version": "1",
    }
    return PersonSession(**(values | members))


STATES = [
    # digest, role version, seen, renewed, now, state
    ("present", "1", T0, None, T0, "live"),
    ("present", "1", T0, None, T0 + IDLE - TICK, "live"),
    ("present", "1", T0, None, T0 + IDLE, "idle"),
    ("present", "1", T0 + 13 * DAY, None, T0 + 13 * DAY, "live"),
    ("present", "1", T0 + LIFETIME - TICK, None, T0 + LIFETIME - TICK, "live"),
    ("present", "1", T0 + LIFETIME - TICK, None, T0 + LIFETIME, "over"),
    ("present", "2", T0, None, T0, "outdated"),
    ("present", "2", T0, None, T0 + IDLE, "idle"),
    ("present", "2", T0, None, T0 + LIFETIME, "over"),
    ("former", "1", T0, T0, T0 + OVERLAP - TICK, "live"),
    ("former", "2", T0, T0, T0 + OVERLAP - TICK, "live"),
    ("former", "1", T0, T0, T0 + OVERLAP, "over"),
    ("former", "1", T0, T0 + 13 * DAY, T0 + IDLE, "idle"),
]


@pytest.mark.parametrize(("digest", "version", "seen", "renewed", "now", "state"), STATES)
def test_the_states_of_a_session(
    digest: str, version: str, seen: datetime, renewed: datetime, now: datetime, state: str
) -> None:
    session = make(last_seen_at=seen, renewed_at=renewed)
    assert session_state(session, digest, version, now) == state


spans = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=20))
sessions = st.builds(
    lambda seen, renewed: make(last_seen_at=T0 + seen, renewed_at=renewed and T0 + renewed),
    spans,
    st.none() | spans,
)
requests = st.tuples(st.sampled_from(["present", "former"]), st.sampled_from(["1", "2"]))


@given(sessions, requests, spans, spans)
def test_what_has_ended_never_begins_again(
    session: PersonSession, request: tuple[str, str], age: timedelta, more: timedelta
) -> None:
    early = session_state(session, *request, T0 + age)
    late = session_state(session, *request, T0 + age + more)
    assert early in {"live", "outdated"} or late in {"idle", "over"}


@given(sessions, requests, spans)
def test_no_token_opens_what_has_ended(
    session: PersonSession, request: tuple[str, str], age: timedelta
) -> None:
    state = session_state(session, *request, T0 + age)
    assert not has_ended(session, T0 + age) or state in {"idle", "over"}
    assert state != "outdated" or request[0] == "present"


AGENTS = [
    ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
    (
        "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) "
        "Version/18.0 Safari/605.1.15",
        "Safari on macOS",
    ),
    (
        "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/142.0.0.0 Mobile Safari/537.36",
        "Chrome on Android",
    ),
    (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
        "Edge on Windows",
    ),
    (
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 "
        "(KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1",
        "Chrome on iPhone",
    ),
    ("curl/8.5.0", "curl"),
    ("<script>alert(1)</script>", "Unknown browser"),
    ("", "Unknown browser"),
]


@pytest.mark.parametrize(("user_agent", "words"), AGENTS)
def test_a_browser_is_told_in_words(user_agent: str, words: str) -> None:
    assert Device.of("192.0.2.1", user_agent) == Device("192.0.2.1", words)


def test_an_address_of_any_length_is_stored_within_bounds() -> None:
    assert len(Device.of("a" * 10_000, "").address) == 64


HANDLES = [
    ("ann", True),
    ("an", True),
    ("ann@example.org", True),
    ("Änne-42", True),
    ("a", False),
    ("", False),
    ("a" * 64, True),
    ("a" * 65, False),
    ("ольга", True),
    ("山田", True),
    ("operаtor", False),  # with a Cyrillic letter
    ("аnn", False),
    ("a\u20dd", False),  # in a circle
    ("ann!", False),
    ("!!", False),
    ("Operator", False),
    ("\uff33VC", False),
    ("\ufdfa" * 10, False),  # eighteen letters each, once they are compared
    ("ann lee", False),
    ("ann\u00a0lee", False),
    ("ann\n", False),
    ("ann\u202e", False),
    ("\ud800nn", False),
]


@pytest.mark.parametrize(("handle", "fits"), HANDLES)
def test_which_handles_there_are(handle: str, fits: bool) -> None:
    assert [fault.place for fault in handle_faults(handle)] == ([] if fits else ["/handle"])


@pytest.mark.parametrize(
    ("first", "second"),
    [("Ann", "aNN"), ("STRASSE", "straße"), ("\uff21nn", "ann"), ("e\u0301va", "\u00e9va")],
)
def test_handles_that_look_alike_are_one(first: str, second: str) -> None:
    assert fold_handle(first) == fold_handle(second)


@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(handle: str) -> None:
    assert fold_handle(fold_handle(handle)) == fold_handle(handle)


def member(home: str, role: Any) -> Membership:
    return Membership(home, "usr_1", role, T0)


def test_a_version_changes_with_roles_and_with_nothing_else() -> None:
    ann = Credential(id="usr_1", handle="ann", created_at=T0)
    operator = Credential(id="usr_1", handle="ann", created_at=T0, is_operator=True)
    both = [member("wsp_a", "owner"), member("wsp_b", "member")]
    versions = {
        role_version(ann, both),
        role_version(operator, both),
        role_version(ann, both[:1]),
        role_version(ann, []),
        role_version(ann, [member("wsp_a", "member"), member("wsp_b", "owner")]),
    }
    assert len(versions) == 5
    other = Credential(id="usr_1", handle="eve", created_at=T0 + DAY, password="-")
    assert role_version(other, both[::-1]) == role_version(ann, both)


def test_who_is_signed_in_has_a_fresh_session_for_a_while() -> None:
    user = User("usr_1", "Ann", None, "free", T0)
    ann = Credential(id="usr_1", handle="ann", created_at=T0, is_operator=True)
    person = SignedIn(make(), user, ann, (member("wsp_a", "admin"),))
    assert person.is_operator
    assert [person.is_fresh(T0 + FRESH + tick) for tick in (-TICK, TICK - TICK)] == [True, False]
    assert [person.is_unseen(T0 + TOUCH + tick) for tick in (-TICK, TICK - TICK)] == [False, True]


def test_no_secret_is_printed() -> None:
    assert "present" not in repr(make())
    assert "former" not in repr(make())
