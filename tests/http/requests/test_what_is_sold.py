"""What agents find before they buy, and what everybody may look up afterwards."""

import json
from base64 import b64decode, urlsafe_b64decode

import attrs
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from svc_core import catalog
from svc_core.contract import problem
from svc_core.ledger.signing_key import ensure_signer, stored_signer
from svc_core.operation.ports import SharedUnavailable
from svc_core.payments.operations import Receipts
from svc_core.payments.receipts import Signing
from svc_core.payments.states import State
from svc_core.reports.profiles.model import PROFILES
from svc_http.guard import address_limits
from svc_http.run.control import services as lends
from svc_http.settings import SettingsError, load
from svc_http.stores import MemoryStorage
from tests import knowledge
from tests.http.conftest import ORIGIN, START
from tests.receipts import PAYEE, PAYMENT, Shelf

PATH = "/api/v1/x402/receipts"
RECEIPT, HASH = PAYMENT.receipt_id, str(PAYMENT.transaction)


@pytest.fixture
def shop(make_house):
    """A service of the real catalogue that is paid, and has these payments."""

    def make(*payments, **settings):
        parts = {
            "operations": catalog.OPERATIONS,
            "storage": MemoryStorage(catalog.COLLECTIONS, epoch=b"12345678"),
        }
        house = make_house(parts=parts, **{"x402_pay_to": PAYEE, **settings})
        runtime = house.service.runtime
        ports = {**runtime.host.providers, Receipts: Shelf(*payments)}
        runtime.host = attrs.evolve(runtime.host, providers=ports)
        return house

    return make


# -- before ------------------------------------------------------------------------------------


def test_every_way_to_learn_a_price_tells_the_same(shop):
    house = shop(x402_prices=(("T3_ENRICHED", 2), ("getReport", 40)))
    directory = house.ask("GET", "/.well-known/x402").json()
    text = house.ask("GET", "/llms.txt").text
    document = house.ask("GET", "/openapi.flat.json").json()
    assert {item["price"] for item in directory["items"]} == {
        "0.02",
        "0.05",
        "0.40",
        "0.25",
        "0.50",
    }
    for item in directory["items"]:
        address = item["resource"].removeprefix(ORIGIN)
        assert f"- {item['method']} {address}: {item['price']} USD ({item['tier']})" in text
        description = document["paths"][address]["get"]
        assert description["x-x402"]["price"]["amount"] == item["price"]
        path = address.replace("{reportId}", "rpt_" + "0" * 24).replace("{", "").replace("}", "")
        answer = house.ask("GET", path)
        assert answer.status_code == 402
        challenge = json.loads(b64decode(answer.headers["payment-required"]))
        assert challenge["accepts"] == item["accepts"]
    assert f"{ORIGIN}/.well-known/x402" in text


def test_where_nothing_is_sold_nothing_says_so(shop, check_problem):
    house = shop(x402_pay_to=None)
    for path in ("/.well-known/x402", "/.well-known/did.json"):
        check_problem(house.ask("GET", path), problem.ROUTE_NOT_FOUND)
    text = house.ask("GET", "/llms.txt").text
    assert "x402" not in text.replace("/x402/receipts", "")
    assert "USD" not in text


@pytest.mark.parametrize(
    ("text", "cents"),
    [
        ("T3_ENRICHED=2", (("T3_ENRICHED", 2),)),
        ("getReport=40, T4_PREMIUM_AUDIO=75", (("getReport", 40), ("T4_PREMIUM_AUDIO", 75))),
    ],
)
def test_prices_are_whole_cents(text, cents):
    assert load({"SVC_X402_PRICES": text}).x402_prices == cents


@pytest.mark.parametrize("text", ["", "2", "getReport=0", "getReport=1.5", "getReport=-1",
                                  "getReport=10001", "getReport=1_0", "getReport"])  # fmt: skip
def test_any_other_price_is_refused_at_the_start(text):
    with pytest.raises(SettingsError, match="x402_prices"):
        load({"SVC_X402_PRICES": text})


def test_a_price_of_what_is_not_sold_is_refused_at_the_start(shop):
    with pytest.raises(SettingsError, match=r"x402_prices.*'listNews' is neither"):
        shop(x402_prices=(("listNews", 1),))


# -- afterwards --------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", [RECEIPT, HASH, HASH.upper().replace("X", "x")])
def test_a_settled_payment_has_a_receipt_that_names_nobody(shop, reference):
    answer = shop(PAYMENT).ask("GET", f"{PATH}/{reference}", headers={"Origin": "https://a.b"})
    assert answer.status_code == 200
    assert answer.json()["data"] == {
        "id": RECEIPT,
        "object": "x402.receipt",
        "status": "settled",
        "x402Version": 2,
        "scheme": "exact",
        "network": "eip155:84532",
        "asset": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        "amount": "250000",
        "currency": "USDC",
        "price": "0.25",
        "operation": "getReport",
        "tier": "T4_PREMIUM_SINGLE",
        "transaction": HASH,
        "settledAt": "2026-03-04T05:06:07Z",
        "delivered": True,
    }
    assert answer.headers["cache-control"] == "public, max-age=300"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "x-ratelimit-limit-minute" not in answer.headers
    text = str(answer.headers) + answer.text
    for secret in (
        PAYMENT.id, PAYEE, PAYMENT.payer, PAYMENT.nonce, PAYMENT.url, "rpt_", "0x77", "f" * 64,
        "e" * 64, "client-name", "1900000000",
    ):  # fmt: skip
        assert secret.lower() not in text.lower()


def test_what_was_never_settled_is_answered_as_what_never_was(shop, check_problem):
    states = [state for state in State if state is not State.SETTLED]
    receipts = [
        attrs.evolve(
            PAYMENT, state=state, receipt_id=f"rct_{number:024x}", settled_at=None,
            delivered_at=None, transaction=f"0x{number:064x}",
        )
        for number, state in enumerate(states)
        if state is not State.OWED
    ]  # fmt: skip
    house = shop(*receipts)
    ids = [item.receipt_id for item in receipts] + [item.transaction for item in receipts]
    ids += [RECEIPT, HASH, "rcp_" + "5" * 24, "pay_" + "4" * 24, RECEIPT.upper(), "0x12", "%20",
              "x" * 300]  # fmt: skip
    rows = [
        check_problem(house.ask("GET", f"{PATH}/{item}"), problem.RECEIPT_NOT_FOUND) for item in ids
    ]
    for item in rows:
        item.pop("requestId"), item.pop("instance")
        assert item == rows[0]


def test_money_that_moved_before_the_answer_was_sent_says_so(shop):
    owed = attrs.evolve(PAYMENT, state=State.OWED, delivered_at=None)
    data = shop(owed).ask("GET", f"{PATH}/{RECEIPT}").json()["data"]
    assert (data["status"], data["delivered"]) == ("settled", False)


def test_a_service_that_keeps_no_payments_has_no_receipts(make_house, check_problem):
    house = make_house(parts={"operations": catalog.OPERATIONS,
                              "storage": MemoryStorage(catalog.COLLECTIONS)})  # fmt: skip
    check_problem(house.ask("GET", f"{PATH}/{RECEIPT}"), problem.RECEIPT_NOT_FOUND)


def test_receipts_need_no_key_and_pass_over_any(shop):
    house = shop(PAYMENT)
    for key in (None, "svc_" + "0" * 64, "nonsense", house.key("news:read")):
        assert house.ask("GET", f"{PATH}/{RECEIPT}", key).status_code == 200


def test_an_address_asks_so_often_and_no_oftener(shop, check_problem, monkeypatch):
    few = attrs.evolve(address_limits.BY_ADDRESS, per_minute=3)
    monkeypatch.setattr(address_limits, "BY_ADDRESS", few)
    house = shop(PAYMENT)
    for _ in range(3):
        assert house.ask("GET", f"{PATH}/{RECEIPT}").status_code == 200
    # START is seven seconds past the minute.
    full = house.ask("GET", f"{PATH}/{RECEIPT}")
    check_problem(full, problem.RATE_LIMITED)
    assert full.headers["retry-after"] == "53"
    elsewhere = house.ask("GET", f"{PATH}/{RECEIPT}", client=("192.0.2.7", 1))
    assert elsewhere.status_code == 200
    assert shop(PAYMENT, rate_limits=False).ask("GET", f"{PATH}/{RECEIPT}").status_code == 200


@pytest.mark.parametrize(
    ("down", "kind"), [("refuse", problem.SERVICE_UNAVAILABLE), ("admit", None)]
)
def test_while_nothing_can_be_counted_the_setting_decides(shop, check_problem, down, kind):
    house = shop(PAYMENT, counters_down=down)
    runtime = house.service.runtime

    class Down:
        async def hit(self, pools, second):
            raise SharedUnavailable("gone")

    runtime.shared = attrs.evolve(runtime.shared, counters=Down())
    answer = house.ask("GET", f"{PATH}/{RECEIPT}")
    if kind is None:
        assert answer.status_code == 200
    else:
        check_problem(answer, kind)


# -- who signs ---------------------------------------------------------------------------------


def test_the_key_of_receipts_is_found_where_they_say(shop):
    house = shop()
    document = house.ask("GET", "/.well-known/did.json").json()
    assert document["id"] == "did:web:api.example.org"
    (method,) = document["verificationMethod"]
    assert document["assertionMethod"] == [method["id"]]
    key = method["publicKeyJwk"]
    assert (key["kty"], key["crv"]) == ("OKP", "Ed25519")

    signing = Signing(house.service.runtime.host.receipt_signer, ORIGIN)
    token = signing.receipt(PAYMENT, START)["offer-receipt"]["info"]["receipt"]["signature"]
    head, body, signature = token.split(".")
    assert json.loads(_decode(head)) == {"alg": "EdDSA", "kid": method["id"]}
    public = Ed25519PublicKey.from_public_bytes(_decode(key["x"]))
    public.verify(_decode(signature), f"{head}.{body}".encode())


def test_receipts_and_ledgers_have_keys_of_their_own_that_stay(shop):
    house = shop()
    house.ask("GET", "/livez")
    host = house.service.runtime.host
    assert host.receipt_signer.public != host.signer.public
    ring = house.service.runtime.keyring

    async def load_row(ctx, purpose, load):
        return (await load(attrs.evolve(ctx, keyring=ring), purpose)).public

    for load_ in (stored_signer, ensure_signer, stored_signer):
        for purpose, signer in (("receipt", host.receipt_signer), ("ledger", host.signer)):
            row = house.system(lambda ctx, p=purpose, how=load_: load_row(ctx, p, how))
            assert row == signer.public


def test_a_key_that_no_secret_opens_is_not_shown(shop, check_problem):
    house = shop()
    house.ask("GET", "/livez")
    runtime = house.service.runtime
    runtime.host = attrs.evolve(runtime.host, receipt_signer=None)
    check_problem(house.ask("GET", "/.well-known/did.json"), problem.SERVICE_UNAVAILABLE)


def _decode(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


# -- public profiles ---------------------------------------------------------------------------


def test_a_published_report_is_read_with_another_key_until_it_is_taken_back(shop, check_problem):
    house = shop()
    service = house.service.runtime.service
    ann, bob = house.key("profiles:write", "reports:read"), house.key("reports:read")
    wish = {"name": "Ports", "topic": "Port strikes", "frequency": "manual"}
    fields = {"Idempotency-Key": "0123456789"}
    answer = house.ask("POST", "/api/v1/profiles", ann, json=wish, headers=fields)
    profile = answer.json()["data"]["id"]
    row, facets = knowledge.make_report(1, "Dockworkers walk out", "They did.", profile=profile)
    (tenant,) = [
        item for item in house.run(service.tenants())
        if house.run(service.read(item, lambda ctx: ctx.find(PROFILES, profile)))
    ]  # fmt: skip
    house.run(service.write(tenant, lambda ctx: knowledge.put(ctx, row, facets)))

    def command(operation):
        line = json.dumps({"operation": operation, "body": {"profileId": profile}}).encode()
        operator = lends.operator_of(house.service.runtime, lambda failure: None)
        answer = json.loads(house.run(operator.answer(line, lambda progress: None)))
        return answer["ok"]["body"]["data"]["visibility"]

    path = f"/api/v1/reports/{row.id}"
    for _ in range(2):  # a kept page would show the second time
        check_problem(house.ask("GET", path, bob), problem.NOT_FOUND)
        assert command("publishProfile") == "public"
        assert house.ask("GET", path, bob).json() == house.ask("GET", path, ann).json()
        # Lists have what a workspace subscribes to; one report may be read all the same.
        for query in ("", f"?profileId={profile}"):
            assert house.ask("GET", f"/api/v1/reports{query}", bob).json()["data"] == []
        check_problem(house.ask("GET", path), problem.PAYMENT_REQUIRED)
        assert command("unpublishProfile") == "private"
    check_problem(house.ask("GET", path, bob), problem.NOT_FOUND)
