"""One request, one effect (Spec: Representation rules 5)."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract.answer import Answer
from svc_core.contract.idempotency import (
    Conflict,
    Fresh,
    Replay,
    byte_replay,
    check_key,
    decide,
    raw_digest,
    request_fingerprint,
)
from svc_core.contract.problem import Problem

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def answer_of(print_: bytes, age: timedelta) -> Answer:
    return Answer(print_, 201, (("Location", "/x"),), b"{}", NOW - age)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (None, Fresh()),
        (answer_of(b"a", timedelta(0)), Replay(answer_of(b"a", timedelta(0)))),
        (answer_of(b"b", timedelta(0)), Conflict()),
        (
            answer_of(b"a", timedelta(seconds=86_399)),
            Replay(answer_of(b"a", timedelta(seconds=86_399))),
        ),
        (answer_of(b"b", timedelta(seconds=86_399)), Conflict()),
        (answer_of(b"a", timedelta(seconds=86_400)), Fresh()),
        (answer_of(b"b", timedelta(seconds=86_400)), Fresh()),
    ],
)
def test_a_key_replays_conflicts_or_is_free(
    answer: Answer | None, verdict: Fresh | Replay | Conflict
) -> None:
    assert decide(answer, b"a", NOW) == verdict


BODY = b'{"name":"a"}'
MARK = raw_digest(BODY, {}) + request_fingerprint({"name": "a"})


@pytest.mark.parametrize(
    ("body", "place", "age", "is_known"),
    [
        (BODY, {}, timedelta(0), True),
        (BODY, {}, timedelta(seconds=86_399), True),
        (BODY, {}, timedelta(seconds=86_400), False),
        (b'{"name": "a"}', {}, timedelta(0), False),
        (BODY, {"id": "x"}, timedelta(0), False),
        (b"", {}, timedelta(0), False),
    ],
)
def test_the_very_bytes_of_a_request_are_known_unread(
    body: bytes, place: dict[str, str], age: timedelta, is_known: bool
) -> None:
    answer = answer_of(MARK, age)
    assert byte_replay(answer, raw_digest(body, place), NOW) is (answer if is_known else None)


def test_a_key_that_was_never_used_repeats_nothing() -> None:
    assert byte_replay(None, raw_digest(BODY, {}), NOW) is None


def test_other_bytes_of_the_same_value_replay_and_other_values_conflict() -> None:
    answer = answer_of(MARK, timedelta(0))
    assert decide(answer, request_fingerprint({"name": "a"}), NOW) == Replay(answer)
    assert decide(answer, request_fingerprint({"name": "b"}), NOW) == Conflict()


def test_an_answer_that_was_kept_with_its_fingerprint_alone_is_replayed() -> None:
    answer = answer_of(request_fingerprint({"name": "a"}), timedelta(0))
    assert byte_replay(answer, raw_digest(BODY, {}), NOW) is None
    assert decide(answer, request_fingerprint({"name": "a"}), NOW) == Replay(answer)


@given(st.binary(), st.binary(), st.sampled_from([{}, {"id": "a"}, {"id": "b"}]))
def test_raw_digests_are_equal_for_equal_bytes_at_one_place(
    left: bytes, right: bytes, place: dict[str, str]
) -> None:
    assert (raw_digest(left, place) == raw_digest(right, place)) is (left == right)
    assert raw_digest(left, {"id": "elsewhere"}) != raw_digest(left, place)


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("k" * 7, "INVALID_IDEMPOTENCY_KEY"),
        ("k" * 201, "INVALID_IDEMPOTENCY_KEY"),
        ("with space", "INVALID_IDEMPOTENCY_KEY"),
        ("nön-ascii", "INVALID_IDEMPOTENCY_KEY"),
        ("control\x7fkey", "INVALID_IDEMPOTENCY_KEY"),
        ("", "INVALID_IDEMPOTENCY_KEY"),
        (None, "IDEMPOTENCY_KEY_REQUIRED"),
    ],
)
def test_a_bad_key_is_refused_with_its_own_code(key: str | None, code: str) -> None:
    with pytest.raises(Problem) as caught:
        check_key(key, required=True)
    assert caught.value.type.code == code


@pytest.mark.parametrize("key", ["k" * 8, "k" * 200, '"quoted-key"', "!~!~!~!~"])
def test_a_good_key_is_taken_verbatim(key: str) -> None:
    assert check_key(key, required=True) == key
    assert check_key(key, required=False) == key


def test_an_optional_key_may_be_left_out() -> None:
    assert check_key(None, required=False) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), JSON, min_size=2, max_size=4))
def test_the_order_of_members_is_the_same_request(body: dict[str, object]) -> None:
    backwards = dict(reversed(body.items()))
    assert request_fingerprint(body) == request_fingerprint(backwards)  # type: ignore[arg-type]


@given(JSON, JSON)
def test_another_body_is_another_request(left: object, right: object) -> None:
    plain = json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
    assert (request_fingerprint(left) == request_fingerprint(right)) is plain  # type: ignore[arg-type]


def test_the_same_body_for_another_resource_is_another_request() -> None:
    assert request_fingerprint({}, {"id": "a"}) != request_fingerprint({}, {"id": "b"})
