"""Registering, changing, rotating, testing and reading webhooks (Spec: Other v1 operations)."""

import base64
import json
from typing import Any

import attrs
import pytest

from svc_core.base.seals import Keyring
from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.operation.host import Host
from svc_core.outbox.model import WEBHOOK_SECRETS
from svc_core.webhooks import operations as usecases
from svc_core.webhooks import signing
from svc_core.webhooks import webhook_secrets as keys
from svc_core.webhooks.operations import NewWebhook
from tests.core.conftest import SECRET

OWN, SECOND_SECRET = "whsec_" + "QUJD" * 8, "whsec_" + "REVG" * 9
URL = "https://hooks.example.com/svc"
MEMBERS = [
    "id", "url", "description", "events", "profileIds", "status", "disabledAt", "createdAt",
    "updatedAt", "consecutiveFailures", "lastDelivery",
]  # fmt: skip


def create(house: Any, key: str = "create-key-1", **body: Any) -> Any:
    sent = {"url": URL, "secret": SECRET, **body}
    return house.send("createWebhook", body=sent, idempotency_key=key)


def send(house: Any, hook: str, operation: str = "getWebhook", **arguments: Any) -> Any:
    return house.send(operation, path={"webhookId": hook}, **arguments)


def data(reply: Any) -> Any:
    return json.loads(reply.body)["data"]


# -- registering -------------------------------------------------------------------------------


def test_a_webhook_is_shown_without_its_secret(house: Any) -> None:
    webhook = create(house)
    assert webhook.status == 201
    body = data(webhook)
    assert list(body) == MEMBERS
    assert dict(webhook.headers)["Location"].endswith(f"/api/v1/webhooks/{body['id']}")
    assert body["events"] == ["dev.svc.report.generated.v1"]
    assert (body["status"], body["consecutiveFailures"]) == ("enabled", 0)
    for operation in ("getWebhook", "enableWebhook"):
        assert list(data(send(house, body["id"], operation))) == MEMBERS
    assert [list(row) for row in house.rows("listWebhooks")] == [MEMBERS]


def test_a_repeated_registration_gets_the_kept_answer_which_holds_no_secret(house: Any) -> None:
    webhook, again = create(house, secret=OWN), create(house, secret=OWN)
    assert again.body == webhook.body
    assert ("Idempotency-Replayed", "true") in again.headers
    assert len(house.rows("listWebhooks")) == 1
    stored_answer = house.run(
        lambda ctx: ctx.tx.answers.get("createWebhook", "create-key-1"), "wsp_a"
    )
    assert stored_answer.body == webhook.body
    for form in (OWN.encode(), signing.secret_key(OWN)):
        assert (
            form
            not in repr(stored_answer).encode() + stored_answer.body + stored_answer.fingerprint
        )


def test_a_registration_with_another_secret_is_another_request(house: Any) -> None:
    create(house)
    body = {"url": URL, "secret": OWN}
    refusal = house.refusal("createWebhook", body=body, idempotency_key="create-key-1")
    assert refusal.type is problem.IDEMPOTENCY_CONFLICT
    assert OWN not in refusal.detail + refusal.resolution


def test_a_webhook_is_signed_for_by_the_secret_that_was_sent(yard: Any) -> None:
    webhook = create(yard.house, secret=OWN)
    yard.tell(data(webhook)["id"])
    (task,) = yard.take(data(webhook)["id"])
    assert task.keys == (signing.secret_key(OWN),)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"profileIds": ["prf_" + "0" * 24]}, "/profileIds/0"),
        ({"profileIds": ["prf_" + "0" * 24] * 101}, "/profileIds"),
        ({"events": ["dev.svc.other.v1"]}, "/events/0"),
        ({"events": []}, "/events"),
        ({"description": "x" * 501}, "/description"),
        ({"url": None}, "/url"),
        ({"status": "enabled"}, "/status"),
    ],
    ids=str,
)
def test_a_fault_of_a_webhook_is_told_by_its_pointer(house: Any, body: Any, pointer: str) -> None:
    sent = {"url": URL, "secret": SECRET, **body}
    refusal = house.refusal("createWebhook", body=sent, idempotency_key="create-key-1")
    assert refusal.type is problem.VALIDATION_FAILED
    assert pointer in refusal.detail
    assert "openssl" not in refusal.resolution
    assert house.rows("listWebhooks") == []


def base64_of(size: int) -> str:
    return "whsec_" + base64.b64encode(b"\xff" * size).decode()


WRONG_SECRETS = [
    UNSET, None, 7, True, ["whsec_" + "QUJD" * 8], {"key": OWN}, "", "whsec_", "whsec_short",
    "QUJD" * 8, "WHSEC_" + "QUJD" * 8, OWN + "=", OWN + "\n", " " + OWN, OWN[:-1] + "-",
    base64_of(23), base64_of(65), base64_of(32)[:-1], base64_of(32)[:-2] + "9=",
    "whsec_" + "QUJD" * 100_000, "whsec_" + "A" * 85 + "=", "whsec_" + "A" * 42 + "B=",
    "whsec_" + "é" * 32,
]  # fmt: skip


REQUIRE_ONE = ["createWebhook", "rotateWebhookSecret"]
WRONG = [(operation, secret) for operation in REQUIRE_ONE for secret in WRONG_SECRETS]
WRONG += [("updateWebhook", secret) for secret in WRONG_SECRETS if secret not in (UNSET, None)]


@pytest.mark.parametrize(("operation", "secret"), WRONG, ids=lambda value: str(value)[:30])
def test_a_wrong_secret_is_refused_unrepeated_with_how_to_make_one(
    yard: Any, operation: str, secret: Any
) -> None:
    hook = yard.webhook()["id"]
    body = {"url": URL} if operation == "createWebhook" else {}
    if secret is not UNSET:
        body["secret"] = secret
    is_new = operation == "createWebhook"
    refusal = yard.house.refusal(
        operation,
        path=None if is_new else {"webhookId": hook},
        body=body,
        **({"idempotency_key": "create-key-1"} if is_new else {}),
    )
    assert refusal.type is problem.VALIDATION_FAILED
    assert refusal.detail.startswith("/secret: ")
    assert len(refusal.detail) < 100
    assert "openssl rand -base64 32" in refusal.resolution
    for text in (str(secret), "QUJD", "whsec_short"):
        assert text in {"", "whsec_"} or text not in refusal.detail + refusal.resolution
    assert keys_of(yard, hook) == (signing.secret_key(SECRET),)
    assert len(yard.house.rows("listWebhooks")) == 1


@pytest.mark.parametrize("size", [24, 25, 26, 32, 62, 63, 64])
def test_a_secret_of_every_size_that_is_allowed_is_taken(yard: Any, size: int) -> None:
    webhook = data(create(yard.house, secret=base64_of(size)))["id"]
    assert keys_of(yard, webhook) == (b"\xff" * size,)


@pytest.mark.parametrize(
    "raw",
    [
        f'{{"url": "{URL}", "secret": "{OWN}", "secret": "{OWN}"}}',
        f'{{"url": "{URL}", "secret": "{OWN}"',
        f'{{"url": "{URL}", "secret": "{OWN}\\u0000"}}',
        f'["{OWN}"]',
        f'"{OWN}"',
    ],
    ids=["twice", "open", "nul", "list", "text"],
)
def test_no_broken_body_has_its_secret_repeated(house: Any, raw: str) -> None:
    refusal = house.refusal("createWebhook", raw=raw.encode(), idempotency_key="create-key-1")
    assert refusal.type.status == 400
    assert OWN[6:] not in refusal.detail + refusal.resolution


def test_a_secret_is_not_shown_by_its_body() -> None:
    assert OWN not in repr(NewWebhook(URL, secret=OWN))


HOSTILE = [
    "https://169.254.169.254/", "https://[::ffff:127.0.0.1]/", "http://127.1/",
    "http://hooks.example.com/", "https://hooks.example.com:8443/", "https://localhost/",
    "https://u:p@hooks.example.com/", "https://10.0.0.1/", "ftp://hooks.example.com/", "", "x",
    "https://hooks.example.com/#x", "https://printer.local/",
]  # fmt: skip


@pytest.mark.parametrize("url", HOSTILE)
def test_an_address_that_must_not_be_called_back_is_refused(house: Any, url: str) -> None:
    refusal = house.refusal(
        "createWebhook", body={"url": url, "secret": OWN}, idempotency_key="create-key-1"
    )
    assert refusal.type is problem.WEBHOOK_URL_NOT_ALLOWED
    assert refusal.detail.startswith("/url: ")
    webhook = data(create(house, "create-key-2"))
    for operation in ("replaceWebhook", "updateWebhook"):
        path = {"webhookId": webhook["id"]}
        refusal = house.refusal(operation, path=path, body={"url": url})
        assert refusal.type is problem.WEBHOOK_URL_NOT_ALLOWED


@pytest.mark.parametrize("is_development", [True, False])
def test_this_machine_is_called_back_in_development_alone(house: Any, is_development: bool) -> None:
    async def register(ctx: Any) -> None:
        host = Host(is_development=is_development)
        body = NewWebhook("http://127.0.0.1:9000/hook", secret=SECRET)
        await usecases.WEBHOOK_ROWS.create_row(attrs.evolve(ctx, host=host), body)

    if is_development:
        house.run(register, "wsp_a")
        return
    with pytest.raises(problem.Problem) as failure:
        house.run(register, "wsp_a")
    assert failure.value.type is problem.WEBHOOK_URL_NOT_ALLOWED


def test_a_workspace_has_fifty_webhooks_at_most(yard: Any) -> None:
    for _ in range(50):
        yard.webhook()
    refusal = yard.house.refusal(
        "createWebhook", body={"url": URL, "secret": OWN}, idempotency_key="create-key-51"
    )
    assert refusal.type is problem.RESOURCE_CONFLICT
    assert "50" in refusal.detail
    yard.webhook("wsp_b")


# -- changing ----------------------------------------------------------------------------------


def test_a_replacement_takes_defaults_and_leaves_status_and_secret(yard: Any) -> None:
    house = yard.house
    hook = yard.webhook(description="Newsroom", profileIds=[house.profile()["id"]])
    yard.tell(hook["id"])
    yard.deliver(500)
    yard.forward(seconds=1)
    after = data(send(house, hook["id"], "replaceWebhook", body={"url": URL + "/2"}))
    assert (after["url"], after["description"], after["profileIds"]) == (URL + "/2", None, [])
    assert after["consecutiveFailures"] == 1
    assert after["updatedAt"] > hook["updatedAt"]
    yard.tell(hook["id"])
    (task,) = yard.take(hook["id"])
    assert (task.url, task.keys) == (URL + "/2", (signing.secret_key(SECRET),))


def test_a_change_of_nothing_writes_nothing(yard: Any) -> None:
    webhook = yard.webhook()
    before = yard.house.changes()
    for operation, body in (
        ("updateWebhook", {}),
        ("updateWebhook", {"url": URL}),
        ("replaceWebhook", {"url": URL}),
        ("enableWebhook", None),
    ):
        send(yard.house, webhook["id"], operation, body=body)
    assert yard.house.changes() == before


def test_a_profile_that_was_deleted_since_does_not_bar_a_change(yard: Any) -> None:
    house = yard.house
    profile = house.profile()["id"]
    webhook = yard.webhook(profileIds=[profile])
    house.send("deleteProfile", path={"profileId": profile})
    reply = data(send(house, webhook["id"], "updateWebhook", body={"description": "Night desk"}))
    assert reply["profileIds"] == [profile]
    second_id = {"profileIds": [profile, "prf_" + "0" * 24]}
    path = {"webhookId": webhook["id"]}
    refusal = house.refusal("updateWebhook", path=path, body=second_id)
    assert refusal.detail.startswith("/profileIds/1")


def test_a_deleted_webhook_leaves_no_secret_and_a_tombstone(yard: Any) -> None:
    hook = yard.webhook()["id"]
    assert send(yard.house, hook, "deleteWebhook").status == 204
    assert (
        yard.house.refusal("getWebhook", path={"webhookId": hook}).type.code
        == problem.NOT_FOUND.code
    )
    assert yard.run(lambda ctx: ctx.tx.documents.get(WEBHOOK_SECRETS, hook)) is None
    change = yard.house.changes()[-1]
    assert (change["changeType"], change["resourceType"], change["resourceId"]) == (
        "deleted", "webhook", hook,
    )  # fmt: skip


# -- secrets -----------------------------------------------------------------------------------


def keys_of(yard: Any, hook: str) -> tuple[bytes, ...]:
    keys_: tuple[bytes, ...] = yard.run(lambda ctx: keys.signing_keys(ctx, hook))
    return keys_


def test_a_rotated_secret_signs_beside_the_new_one_for_a_day(yard: Any) -> None:
    webhook = yard.webhook()
    reply = data(rotate(yard, webhook["id"], OWN))
    assert list(reply) == MEMBERS
    assert yard.newest_change(webhook["id"]) == yard.version(webhook["id"]) == 2
    old, new = (signing.secret_key(text) for text in (SECRET, OWN))
    assert keys_of(yard, webhook["id"]) == (new, old)
    yard.forward(seconds=24 * 3_600 - 1)
    assert keys_of(yard, webhook["id"]) == (new, old)
    yard.forward(seconds=1)
    assert keys_of(yard, webhook["id"]) == (new,)


def rotate(yard: Any, hook: str, secret: str, **arguments: Any) -> Any:
    return send(yard.house, hook, "rotateWebhookSecret", body={"secret": secret}, **arguments)


def test_each_of_several_rotated_secrets_signs_for_a_day_of_its_own(yard: Any) -> None:
    hook = yard.webhook()["id"]
    texts = [SECRET, *(base64_of(size) for size in range(24, 30))]
    first, *rest = (signing.secret_key(text) for text in texts)
    rotate(yard, hook, texts[1])
    yard.forward(seconds=3_600)
    rotate(yard, hook, texts[2])
    assert keys_of(yard, hook) == (rest[1], rest[0], first)
    yard.forward(seconds=23 * 3_600)
    assert keys_of(yard, hook) == (rest[1], rest[0])
    for text in texts[3:]:
        rotate(yard, hook, text)
    assert keys_of(yard, hook) == tuple(rest[:0:-1])
    rotate(yard, hook, texts[5])  # back to one of them, which signs once
    assert keys_of(yard, hook) == (rest[4], rest[5], rest[3], rest[2])


def test_a_rotation_to_the_same_secret_changes_nothing(yard: Any) -> None:
    hook = yard.webhook()["id"]
    rotate(yard, hook, OWN)
    before, tag = yard.house.changes(), dict(send(yard.house, hook).headers)["ETag"]
    assert dict(rotate(yard, hook, OWN).headers)["ETag"] == tag
    assert yard.house.changes() == before
    assert keys_of(yard, hook) == (signing.secret_key(OWN), signing.secret_key(SECRET))


@pytest.mark.parametrize(
    ("operation", "body"),
    [("replaceWebhook", {"url": URL, "secret": OWN}), ("updateWebhook", {"secret": OWN})],
)
def test_ones_own_secret_takes_the_place_of_another(yard: Any, operation: str, body: Any) -> None:
    webhook = data(create(yard.house))
    first, again = (send(yard.house, webhook["id"], operation, body=body) for _ in range(2))
    assert OWN.encode() not in first.body
    # Sent again it is no other secret: nothing is written and the version stays.
    assert dict(again.headers)["ETag"] == dict(first.headers)["ETag"]
    yard.tell(webhook["id"])
    (task,) = yard.take(webhook["id"])
    assert task.keys == (signing.secret_key(OWN), signing.secret_key(SECRET))


def test_a_repeated_rotation_gets_the_kept_answer_and_rotates_once(yard: Any) -> None:
    hook = yard.webhook()["id"]
    first = rotate(yard, hook, OWN, idempotency_key="rotate-1")
    rotate(yard, hook, SECOND_SECRET)
    again = rotate(yard, hook, OWN, idempotency_key="rotate-1")
    assert first.body == again.body
    assert OWN.encode() not in again.body
    assert keys_of(yard, hook)[0] == signing.secret_key(SECOND_SECRET)
    path, body = {"webhookId": hook}, {"secret": SECRET}
    refusal = yard.house.refusal(
        "rotateWebhookSecret", path=path, body=body, idempotency_key="rotate-1"
    )
    assert refusal.type is problem.IDEMPOTENCY_CONFLICT


MASTERS = {1: b"k" * 32, 2: b"n" * 32, 3: b"m" * 32}


def turn(yard: Any, current: int, *siblings: int) -> None:
    """Another master secret becomes the present one."""
    rows_ = {id_: MASTERS[id_] for id_ in (current, *siblings)}
    yard.house.keyring = Keyring(rows_, current)


def seals(yard: Any, hook: str) -> set[str]:
    """The master keys that sealed the secrets of a webhook."""
    row_ = yard.run(lambda ctx: ctx.load(WEBHOOK_SECRETS, hook))
    return set(WEBHOOK_SECRETS.record(WEBHOOK_SECRETS.decode(row_.raw)).facets["sealed_with"])


def matching_ids(yard: Any, filters: Any) -> list[str]:
    rows = yard.across(WEBHOOK_SECRETS, filters)
    return [row.document.id for row in rows]


def test_a_secret_under_an_earlier_master_key_signs_and_is_sealed_anew(yard: Any) -> None:
    hook = yard.webhook()["id"]
    rotate(yard, hook, OWN)
    before = keys_of(yard, hook)
    turn(yard, 2, 1)
    assert keys_of(yard, hook) == before
    assert matching_ids(yard, keys.sealed_earlier(yard.house.keyring)) == [hook]
    assert matching_ids(yard, keys.sealed_unlisted(yard.house.keyring)) == []
    yard.run(lambda ctx: keys.renew_seal(ctx, hook))
    assert seals(yard, hook) == {"2"}
    assert matching_ids(yard, keys.sealed_earlier(yard.house.keyring)) == []
    turn(yard, 2)
    assert keys_of(yard, hook) == before


def test_a_renewal_forgets_a_former_secret_that_is_over_or_cannot_be_opened(yard: Any) -> None:
    over, shut = yard.webhook()["id"], yard.webhook()["id"]
    rotate(yard, over, OWN)
    turn(yard, 2)
    rotate(yard, shut, OWN)
    assert seals(yard, shut) == {"1", "2"}
    assert len(keys_of(yard, shut)) == 1
    yard.run(lambda ctx: keys.renew_seal(ctx, shut))
    assert seals(yard, shut) == {"2"}
    yard.forward(seconds=24 * 3_600)
    turn(yard, 3, 1)
    yard.run(lambda ctx: keys.renew_seal(ctx, over))
    assert seals(yard, over) == {"3"}
    yard.run(lambda ctx: keys.renew_seal(ctx, "whk_" + "0" * 24))


def test_what_waits_for_a_webhook_whose_secret_is_shut_is_not_lost(yard: Any) -> None:
    hook = yard.webhook()["id"]
    yard.tell(hook)
    turn(yard, 2)
    assert matching_ids(yard, keys.sealed_unlisted(yard.house.keyring)) == [hook]
    assert yard.deliver() == []
    assert yard.statuses(hook) == ["pending"]
    turn(yard, 2, 1)
    assert yard.due() == ()
    yard.forward(seconds=300)
    assert len(yard.deliver()) == 1
    assert yard.statuses(hook) == ["delivered"]


def test_a_webhook_whose_secret_is_shut_gets_a_new_one(yard: Any) -> None:
    hook = yard.webhook()["id"]
    turn(yard, 2)
    rotate(yard, hook, OWN)
    yard.tell(hook)
    (task,) = yard.deliver()
    assert task.keys == (signing.secret_key(OWN),)


def test_a_webhook_whose_secret_is_shut_takes_ones_own(yard: Any) -> None:
    hook = yard.webhook()["id"]
    turn(yard, 2)
    send(yard.house, hook, "updateWebhook", body={"secret": OWN})
    assert keys_of(yard, hook) == (signing.secret_key(OWN),)


def test_a_secret_that_was_moved_to_another_webhook_opens_nothing(yard: Any) -> None:
    own_result, foreign_id = yard.webhook()["id"], yard.webhook("wsp_b")["id"]
    second_hook = yard.webhook()["id"]
    row_ = yard.run(lambda ctx: ctx.load(WEBHOOK_SECRETS, own_result))
    secrets = attrs.evolve(WEBHOOK_SECRETS.decode(row_.raw), webhook_id=second_hook)
    yard.run(lambda ctx: ctx.save(WEBHOOK_SECRETS, second_hook, secrets))
    yard.run(lambda ctx: ctx.save(WEBHOOK_SECRETS, foreign_id, secrets), "wsp_b")
    for tenant, hook in (("wsp_a", second_hook), ("wsp_b", foreign_id)):
        with pytest.raises(keys.SealError):
            yard.run(lambda ctx, hook=hook: keys.signing_keys(ctx, hook), tenant)


# -- tests, deliveries, redeliveries -----------------------------------------------------------


def test_a_test_event_is_queued_signed_and_counted_like_any_other(yard: Any) -> None:
    hook = yard.webhook()["id"]
    reply = send(yard.house, hook, "testWebhook")
    assert reply.status == 201
    delivery_ = data(reply)
    assert (delivery_["status"], delivery_["eventType"]) == ("pending", "dev.svc.webhook.test.v1")
    location = dict(reply.headers)["Location"]
    query = location.partition("?")[2]
    assert query == f"eventId={delivery_['eventId']}"
    (rows_,) = deliveries(yard, hook, query)
    assert rows_ == delivery_
    yard.deliver(500)
    assert yard.state(hook).consecutive_failures == 1


def deliveries(yard: Any, hook: str, query: str = "") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = data(send(yard.house, hook, "listDeliveries", query=query))
    return rows


def test_a_disabled_webhook_takes_neither_tests_nor_redeliveries(yard: Any) -> None:
    hook = yard.webhook()["id"]
    event = yard.tell(hook)
    yard.deliver(500)
    yard.disable(hook)
    path = {"webhookId": hook, "eventId": event.id}
    for operation in ("testWebhook", "redeliverEvent"):
        refusal = yard.house.refusal(operation, path=path)
        assert refusal.type is problem.RESOURCE_CONFLICT
        assert "enable" in refusal.resolution.lower()
    after = yard.enable(hook)["data"]
    assert (after["status"], after["disabledAt"]) == ("enabled", None)
    yard.redeliver(hook, event.id)
    yard.deliver()
    assert yard.statuses(hook) == ["delivered"]


def test_what_has_not_ended_is_not_sent_again(yard: Any) -> None:
    hook = yard.webhook()["id"]
    event = yard.tell(hook)
    path = {"webhookId": hook, "eventId": event.id}
    assert yard.house.refusal("redeliverEvent", path=path).type is problem.RESOURCE_CONFLICT
    yard.take(hook)
    assert yard.house.refusal("redeliverEvent", path=path).type is problem.RESOURCE_CONFLICT
    path = {"webhookId": hook, "eventId": "evt_" + "0" * 24}
    assert yard.house.refusal("redeliverEvent", path=path).type.code == problem.NOT_FOUND.code


def test_deliveries_are_listed_newest_first_and_filtered(yard: Any) -> None:
    hook, second_hook = yard.webhook()["id"], yard.webhook()["id"]
    rows = [yard.tell(hook, second_hook).id]
    yard.deliver(500)
    yard.forward(seconds=60)
    rows.append(yard.tell(hook, second_hook).id)
    yard.deliver()
    yard.forward(seconds=60)
    middle = yard.house.clock.now()
    rows.append(yard.tell(hook, second_hook).id)

    def ids(query: str = "") -> list[str]:
        return [row["eventId"] for row in deliveries(yard, hook, query)]

    assert ids() == rows[::-1]
    assert ids("status=failed") == rows[:1]
    assert ids("status=failed,pending") == [rows[2], rows[0]]
    assert ids(f"eventId={rows[1]}") == [rows[1]]
    at = middle.isoformat().replace("+00:00", "Z")
    assert ids(f"datetime={at}/..") == [rows[2]]
    assert ids(f"datetime=../{at}") == [rows[1], rows[0]]
    assert ids("limit=2") == rows[:0:-1]
    (failure_row,) = deliveries(yard, hook, "status=failed")
    (attempt,) = failure_row["attempts"]
    assert (attempt["number"], attempt["responseStatus"], attempt["error"]) == (
        1, 500, "HTTP 500",
    )  # fmt: skip
