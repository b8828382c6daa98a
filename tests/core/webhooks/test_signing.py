"""Signatures, verified by the libraries that receivers use (Spec: Events; Standard Webhooks)."""

import hmac
import json
import random
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import instants
from svc_core.outbox.model import REPORT_GENERATED, OutboxEvent
from svc_core.webhooks import signing
from svc_core.webhooks.signing import SecretError, SignatureError
from tests.late import Late

KEY = bytes(range(32))
OLD = bytes(reversed(range(40)))
NOW = datetime(2026, 8, 7, 9, 30, 15, 123_456, UTC)
EVENT = OutboxEvent("evt_65f1c0de8badf00d12345678", REPORT_GENERATED, "rpt_1", '{"a":"é"}', NOW)
LIBRARIES = [Late("standardwebhooks"), Late("svix.webhooks")]
Fields = dict[str, str]
keys = st.binary(min_size=24, max_size=64)


def fields_of(
    event: OutboxEvent = EVENT, *, at: datetime = NOW, by: tuple[bytes, ...] = (KEY,)
) -> Fields:
    return signing.fields(event, attempt_id="att_1", number=3, at=at, keys=by)


def present() -> datetime:
    """The time by the clock that the libraries read: they refuse what is five minutes old."""
    return datetime.now(UTC)  # noqa: TID251 - it cannot be handed to them


def lower_names(fields: Fields) -> Fields:
    return {name.lower(): value for name, value in fields.items()}


def test_every_field_of_a_delivery_is_as_promised() -> None:
    assert fields_of() == {
        "Content-Type": "application/cloudevents+json",
        "Idempotency-Key": EVENT.id,
        "X-Svc-Event-Id": EVENT.id,
        "X-Svc-Attempt-Id": "att_1",
        "X-Svc-Attempt": "3",
        "X-Svc-Timestamp": instants.render(NOW),
        "X-Svc-Signature": "sha256=" + hmac.new(KEY, '{"a":"é"}'.encode(), sha256).hexdigest(),
        "webhook-id": EVENT.id,
        "webhook-timestamp": str(int(NOW.timestamp())),
        "webhook-signature": fields_of()["webhook-signature"],
    }


def test_a_signature_is_the_one_of_the_standards_own_example() -> None:
    # Standard Webhooks, libraries/tests: secret, id, time and body of its published vector.
    key = signing.secret_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    at = datetime.fromtimestamp(1614265330, UTC)
    event = OutboxEvent("msg_p5jXN8AQM9LWM0D4loKWxJek", "t", "s", '{"test": 2432232314}', at)
    wanted_text = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert fields_of(event, at=at, by=(key,))["webhook-signature"] == wanted_text


@pytest.mark.parametrize("library", LIBRARIES, ids=["standardwebhooks", "svix"])
@given(key=keys, old=keys, text=st.text(st.characters(exclude_categories=["Cs"])))
def test_libraries_verify_a_delivery_by_the_present_and_the_former_secret(
    library: Any, key: bytes, old: bytes, text: str
) -> None:
    now = present()
    event = OutboxEvent(EVENT.id, EVENT.type, "s", '{"text":' + json.dumps(text) + "}", now)
    fields = fields_of(event, at=now, by=(key, old))
    for secret in (key, old):
        hooks = library.Webhook(signing.secret_text(secret)).verify(event.body.encode(), fields)
        assert hooks is None or hooks == {"text": text}
        signing.verify_delivery(lower_names(fields), event.body.encode(), secret, now)


@pytest.mark.parametrize("library", LIBRARIES, ids=["standardwebhooks", "svix"])
def test_a_thousand_tampered_deliveries_are_refused(library: Any) -> None:
    turns = random.Random(36)
    body = EVENT.body.encode()
    receiver = library.Webhook(signing.secret_text(KEY))
    for _ in range(1_000):
        now = present()
        fields, spoilt = tamper(turns, now, body)
        with pytest.raises((library.WebhookVerificationError, ValueError)):
            receiver.verify(spoilt, fields)
        with pytest.raises(SignatureError):
            signing.verify_delivery(fields, spoilt, KEY, now)


def tamper(turns: random.Random, now: datetime, body: bytes) -> tuple[Fields, bytes]:
    """A delivery with one part of what is signed changed, left out or signed by another."""
    fields = lower_names(fields_of(at=now))
    match turns.randrange(6):
        case 0:
            at = turns.randrange(len(body))
            byte = bytes([body[at] ^ 1 << turns.randrange(7)])
            return fields, body[:at] + byte + body[at + 1 :]
        case 1:
            cut = turns.randrange(len(body))
            return fields, body[:cut] + turns.choice([b"", b" ", b"{}"]) + body[cut + 1 :]
        case 2:
            name = turns.choice(["webhook-id", "webhook-timestamp", "webhook-signature"])
            return {key: value for key, value in fields.items() if key != name}, body
        case 3:
            timestamp = int(fields["webhook-timestamp"]) + turns.choice([-1, 1, -301, 301, 9_999])
            return {**fields, "webhook-timestamp": str(timestamp)}, body
        case 4:
            return {**fields, "webhook-id": f"evt_{turns.randbytes(12).hex()}"}, body
        case _:
            return lower_names(fields_of(at=now, by=(turns.randbytes(32),))), body


@pytest.mark.parametrize(("seconds", "is_taken"), [(0, True), (299, True), (-299, True),
                                                  (302, False), (-302, False)])  # fmt: skip
def test_an_old_delivery_and_one_from_the_future_are_refused(seconds: int, is_taken: bool) -> None:
    fields, body = lower_names(fields_of()), EVENT.body.encode()
    if is_taken:
        signing.verify_delivery(fields, body, KEY, NOW + timedelta(seconds=seconds))
        return
    with pytest.raises(SignatureError, match="five minutes"):
        signing.verify_delivery(fields, body, KEY, NOW + timedelta(seconds=seconds))


def test_a_time_that_is_no_number_is_refused() -> None:
    fields = {**lower_names(fields_of()), "webhook-timestamp": "soon"}
    with pytest.raises(SignatureError, match="cannot be read"):
        signing.verify_delivery(fields, EVENT.body.encode(), KEY, NOW)


# -- secrets -----------------------------------------------------------------------------------


@given(keys)
def test_a_secret_is_read_as_it_was_written(key: bytes) -> None:
    assert signing.secret_key(signing.secret_text(key)) == key


@pytest.mark.parametrize("text", ["", "whsec_", "whsec_" + "QUJD" * 7, "QUJD" * 8])
def test_what_is_no_secret_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(SecretError) as failure:
        signing.secret_key(text)
    assert len(text) < 8 or text not in str(failure.value)
