"""What a request without a key is told to pay, over HTTP (Spec: x402 path selection)."""

import json
from base64 import b64decode, b64encode

import pytest

from svc_core import catalog
from svc_core.contract import problem
from svc_core.ledger.signing_key import SIGNING_KEYS
from svc_core.operation.ports import BASE_V2
from svc_core.payments import challenge as payments
from svc_http.adapter.paywall import Paywall, terms_of
from svc_http.settings import SettingsError, load
from svc_http.stores import MemoryStorage
from tests.http.conftest import COLLECTIONS

LIST = "/api/v1/reports"
PAYEE = "0x52908400098527886E0F7030069857D2E4169EE7"
REPORT = "rpt_" + "0" * 24


def challenge(answer):
    return json.loads(b64decode(answer.headers["payment-required"], validate=True))


@pytest.fixture
def make_shop(make_house):
    def make(**settings):
        parts = {
            "operations": catalog.OPERATIONS,
            "storage": MemoryStorage(catalog.COLLECTIONS, epoch=b"12345678"),
        }
        return make_house(parts=parts, **{"x402_pay_to": PAYEE, **settings})

    return make


def test_each_request_without_a_key_is_asked_to_pay_for_what_it_asked_for(make_shop, check_problem):
    house = make_shop()
    first, again, third = [house.ask("GET", f"{LIST}?limit={n}") for n in (5, 5, 6)]
    paying = house.ask("GET", f"{LIST}?limit=5", headers={"PAYMENT-SIGNATURE": "x"})
    for answer in (first, again, third, paying):
        check_problem(answer, problem.PAYMENT_REQUIRED)
    assert challenge(first) == challenge(again)
    assert challenge(third)["resource"]["url"].endswith("?limit=6")
    assert challenge(paying)["error"] != challenge(first)["error"]


def test_a_request_without_a_key_is_told_what_to_pay_and_how(make_shop, check_problem):
    house = make_shop()
    for path, amount in [
        (LIST, "50000"),
        (f"{LIST}?limit=5&profileId=prf_{'0' * 24}", "50000"),
        (f"{LIST}/{REPORT}", "250000"),
        (f"{LIST}/{REPORT}/signals", "10000"),
        (f"{BASE_V2}/changes?limit=1", "10000"),
    ]:
        answer = house.ask("GET", path)
        body = check_problem(answer, problem.PAYMENT_REQUIRED)
        assert body["resolution"].startswith("Send Authorization: Bearer <API_KEY>, or pay")
        terms_ = challenge(answer)
        assert terms_["x402Version"] == 2
        assert terms_["error"] == "PAYMENT-SIGNATURE header is required"
        assert terms_["resource"]["url"] == house.service.runtime.origin + path
        assert [offer["amount"] for offer in terms_["accepts"]] == [amount]
        assert terms_["accepts"][0]["network"] == "eip155:84532"
        assert "payment-response" not in answer.headers


def test_pages_of_other_origins_can_read_the_challenge(make_shop):
    answer = make_shop().ask("GET", LIST, headers={"Origin": "https://shop.example"})
    names = answer.headers["access-control-expose-headers"].split(", ")
    assert {"PAYMENT-REQUIRED", "X-Request-Id"} <= set(names)
    preflight = make_shop().ask(
        "OPTIONS",
        LIST,
        headers={
            "Origin": "https://shop.example",
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "payment-signature,access-control-expose-headers",
        },
    )
    names_allowed = preflight.headers["access-control-allow-headers"].lower()
    assert "payment-signature" in names_allowed
    assert "access-control-expose-headers" in names_allowed


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_payment_is_not_taken_and_the_payer_is_told_so(make_shop, check_problem, method):
    payment = b64encode(b'{"x402Version":2,"accepted":{},"payload":{}}').decode()
    for header in (payment, "", "not base64", "a" * 10_000):
        answer = make_shop().ask(method, LIST, headers={"PAYMENT-SIGNATURE": header})
        assert answer.status_code == 402
        assert challenge(answer)["error"] == payments.ERROR_UNSETTLED
        assert "payment-response" not in answer.headers
        if method == "GET":
            body = check_problem(answer, problem.PAYMENT_REQUIRED)
            assert "nothing was charged" in body["detail"]
            assert "Bearer" in body["resolution"]


def test_a_key_is_never_offered_payment_however_it_fails(make_shop, check_problem):
    house = make_shop()
    # The scheme's name is case-sensitive: this is no key, but a request without one.
    lower = house.ask("GET", LIST, headers={"Authorization": "bearer svc_" + "0" * 64})
    check_problem(lower, problem.PAYMENT_REQUIRED)
    assert challenge(lower)["accepts"]
    wrong = house.ask("GET", LIST, "svc_" + "0" * 64, headers={"PAYMENT-SIGNATURE": "e30="})
    check_problem(wrong, problem.INVALID_API_KEY)
    assert "payment-required" not in wrong.headers
    answer = house.ask(
        "GET", LIST, house.key("reports:read"), headers={"PAYMENT-SIGNATURE": "e30="}
    )
    assert answer.status_code == 200
    assert "payment-required" not in answer.headers
    keyed_answer = house.ask("GET", "/api/v1/profiles", headers={"PAYMENT-SIGNATURE": "e30="})
    check_problem(keyed_answer, problem.MISSING_API_KEY)
    assert "payment-required" not in keyed_answer.headers


def test_an_operation_without_a_price_is_for_keys_alone(make_house, check_problem):
    store = MemoryStorage((*COLLECTIONS, SIGNING_KEYS), epoch=b"12345678")
    house = make_house(parts={"storage": store}, x402_pay_to=PAYEE)
    answer = house.ask("GET", "/api/v1/priced")
    check_problem(answer, problem.MISSING_API_KEY)
    assert "payment-required" not in answer.headers
    keyed = [op for op in catalog.OPERATIONS if op.auth == "bearer"]
    assert all(Paywall.of(op, house.service.runtime.settings) is None for op in keyed)


@pytest.mark.parametrize("env", ["development", "production"])
def test_where_nobody_is_paid_no_operation_asks_for_payment(make_shop, check_problem, env):
    house = make_shop(env=env, x402_pay_to=None)
    payable = [op for op in catalog.OPERATIONS if op.auth == "bearer-or-x402"]
    assert payable
    for operation in payable:
        path = operation.address.replace("{reportId}", REPORT)
        for fields in ({}, {"PAYMENT-SIGNATURE": "e30="}):
            answer = house.ask(operation.method, path, headers=fields)
            check_problem(answer, problem.MISSING_API_KEY)
            assert "payment-required" not in answer.headers


@pytest.mark.parametrize(
    ("settings", "network", "payee"),
    [
        ({"SVC_X402_PAY_TO": PAYEE}, "eip155:84532", PAYEE),
        ({"SVC_ENV": "production", "SVC_X402_PAY_TO": PAYEE}, "eip155:8453", PAYEE),
        ({"SVC_X402_NETWORK": "eip155:8453", "SVC_X402_PAY_TO": PAYEE}, "eip155:8453", PAYEE),
        (
            {
                "SVC_ENV": "production",
                "SVC_X402_NETWORK": "eip155:84532",
                "SVC_X402_PAY_TO": PAYEE,
            },
            "eip155:84532",
            PAYEE,
        ),
    ],
)
def test_real_money_is_asked_only_for_somebody(settings, network, payee):
    offer = terms_of(load(settings))
    assert (offer.network.id, offer.pay_to) == (network, payee)


def operations_of(house, path="/openapi.json"):
    paths = house.ask("GET", path).json()["paths"]
    return {
        operation["operationId"]: operation
        for item in paths.values()
        for operation in item.values()
    }


@pytest.mark.parametrize("path", ["/openapi.json", "/openapi.flat.json"])
def test_the_description_sells_only_where_somebody_is_paid(make_shop, check_problem, path):
    with_prices, unsold = (
        operations_of(make_shop(), path),
        operations_of(make_shop(x402_pay_to=None), path),
    )
    assert with_prices.keys() == unsold.keys()
    for operation in catalog.OPERATIONS:
        is_priced = operation.auth == "bearer-or-x402"
        with_payment, without = with_prices[operation.id], unsold[operation.id]
        schemes = [{"bearerAuth": []}, {"x402": []}]
        if operation.auth != "public":
            assert with_payment["security"] == (schemes if is_priced else schemes[:1])
            assert without["security"] == schemes[:1]
        assert ("x-x402" in with_payment) == is_priced
        # What agents answer with 402 is about credits, and stands in any case.
        assert ("402" in without["responses"]) == (operation.pool == "agent")
        if is_priced:
            assert "MISSING_API_KEY" in json.dumps(without["responses"]["401"])
        assert not [word for word in ("x402", "PAYMENT", "x-payment", "US dollars")
                    if word in json.dumps(without).replace("/x402/", "").replace("x402.", "")
                    and operation.auth != "public"]  # fmt: skip


@pytest.mark.parametrize("settings", [{}, {"SVC_ENV": "production"}])
def test_nobody_is_paid_by_default(settings):
    assert terms_of(load(settings)) is None


@pytest.mark.parametrize("text", ["0x0", "52" * 20, "0x" + "0" * 40, "0x" + "g" * 40, f"{PAYEE}\n"])
def test_an_address_that_is_none_is_refused(text):
    with pytest.raises(SettingsError, match="x402_pay_to"):
        load({"SVC_X402_PAY_TO": text})


def test_real_money_for_nobody_is_refused_at_the_start():
    with pytest.raises(SettingsError, match="'x402_pay_to' is missing"):
        load({"SVC_X402_NETWORK": "eip155:8453"})
