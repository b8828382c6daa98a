"""What is for sale and for how much: the spec's table, and what an operator makes of it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_core.catalog.openapi import openapi_document as openapi
from svc_core.operation.declaration import TIERS
from svc_core.payments import prices
from svc_core.payments.challenge import Terms, offer
from svc_core.payments.networks import BASE
from svc_core.payments.prices import CENTS_MAX, apply_prices, price_list

ORIGIN = "https://api.svc.test"
TERMS = Terms(BASE, "0x52908400098527886E0F7030069857D2E4169EE7")

INTEL = """
    listChanges listIncidents getIncident listEntities getEntity getEntityGraph listMarkets
    getMarket listFinancialIndicators getFinancialIndicator listSignals getSignal getCyberGraph
    listCves listActors
"""
TABLE = {
    # Spec: Reports (v1).
    "listReports": ("T4_PREMIUM_LIST", "0.05"),
    "getReport": ("T4_PREMIUM_SINGLE", "0.25"),
    "getReportSignals": ("T3_ENRICHED", "0.01"),
    "getReportGraph": ("T3_ENRICHED", "0.01"),
    "getReportAudio": ("T4_PREMIUM_AUDIO", "0.50"),
    "getReportText": ("T4_PREMIUM_SINGLE", "0.25"),
    "getReportAudioText": ("T3_ENRICHED", "0.01"),
    # Spec: Intel (v2) lets these be paid for and shows no price: the least there is.
    **dict.fromkeys(INTEL.split(), ("T3_ENRICHED", "0.01")),
}
KEYS_ALONE = (
    "/agent-svc/", "/chat/", "/knowledge/", "/ledger/", "/financial-observations", "/fusion",
    "/news", "/osint", "/profiles", "/subscriptions", "/webhooks", "/projects", "/automations",
)  # fmt: skip
"""Spec: Agent streams, Global knowledge, Ontology ledger: bearer only; so is all that is a
tenant's."""


def tiers(operations: Any) -> dict[str, tuple[str, str]]:
    return {op.id: (op.tier.name, op.tier.price_usd) for op in operations if op.tier is not None}


def test_exactly_the_table_is_for_sale() -> None:
    assert tiers(OPERATIONS) == TABLE
    assert tiers(LOCAL_OPERATIONS) == {}
    for operation in OPERATIONS:
        for_sale = operation.id in TABLE
        assert (operation.auth == "bearer-or-x402") == for_sale
        assert (offer(operation, TERMS) is not None) == for_sale
        if any(part in operation.path for part in KEYS_ALONE):
            assert not for_sale, operation.id
        if for_sale:
            assert operation.method == "GET"
            assert operation.binding == "any"


NAMES = st.sampled_from([*TABLE, *(tier.name for tier in TIERS)])


@given(st.dictionaries(NAMES, st.integers(1, CENTS_MAX)))
def test_a_price_that_was_set_is_told_the_same_everywhere(cents: dict[str, int]) -> None:
    operations = apply_prices(OPERATIONS, cents)
    assert [op.id for op in operations] == [op.id for op in OPERATIONS]
    by_operation = {
        item["operation"]: item for item in price_list(operations, TERMS, ORIGIN)["items"]
    }
    assert by_operation.keys() == TABLE.keys()
    for operation, usual in zip(operations, OPERATIONS, strict=True):
        if usual.tier is None:
            assert operation is usual
            continue
        assert operation.tier is not None
        wanted_text = cents.get(usual.id, cents.get(usual.tier.name, usual.tier.cents))
        assert (operation.tier.name, operation.tier.cents) == (usual.tier.name, wanted_text)
        item, price_offer = by_operation[usual.id], offer(operation, TERMS)
        assert price_offer is not None
        assert item["price"] == f"{wanted_text // 100}.{wanted_text % 100:02}"
        assert price_offer.requirements.amount == str(wanted_text * 10_000)
        assert item["accepts"][0]["amount"] == price_offer.requirements.amount


@pytest.mark.parametrize(
    "name", ["T5", "t3_enriched", "listNews", "retrieveKnowledge", "chatStream", "", "getReports"]
)
def test_what_is_not_sold_cannot_be_priced(name: str) -> None:
    with pytest.raises(ValueError, match="neither a tier nor an operation"):
        apply_prices(OPERATIONS, {"getReport": 30, name: 5})


def test_the_list_names_every_resource_with_how_to_pay_for_it() -> None:
    price_list_ = price_list(OPERATIONS, TERMS, ORIGIN)
    assert (price_list_["version"], price_list_["x402Version"]) == (1, 2)
    assert price_list_["resources"] == [item["resource"] for item in price_list_["items"]]
    (report,) = [item for item in price_list_["items"] if item["operation"] == "getReport"]
    assert report == {
        "operation": "getReport",
        "method": "GET",
        "resource": f"{ORIGIN}/api/v1/reports/{{reportId}}",
        "description": "Read a report",
        "mimeType": "application/json",
        "tier": "T4_PREMIUM_SINGLE",
        "price": "0.25",
        "accepts": [
            {
                "scheme": "exact",
                "network": "eip155:8453",
                "amount": "250000",
                "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                "payTo": TERMS.pay_to,
                "maxTimeoutSeconds": 300,
                "extra": {"name": "USD Coin", "version": "2"},
            }
        ],
    }


@pytest.mark.parametrize("flat", [False, True])
def test_the_description_tells_every_price_in_both_forms(flat: bool) -> None:
    operations = apply_prices(OPERATIONS, {"T3_ENRICHED": 2, "getReport": 125})
    document = openapi.build_openapi(operations, base_url=ORIGIN, flat=flat)
    document_ = {row["operationId"]: row for item in document["paths"].values()
                 for row in item.values()}  # fmt: skip
    changed_row = {id_: "0.02" for id_, (tier, _) in TABLE.items() if tier == "T3_ENRICHED"}
    changed_row["getReport"] = "1.25"
    for id_, row in document_.items():
        assert ("x-x402" in row) == ("x-payment-info" in row) == (id_ in TABLE)
        names = {item["name"] for item in row["parameters"]}
        assert ("PAYMENT-SIGNATURE" in names) == (id_ in TABLE)
        price = row["responses"].get("402", {"headers": {}})["headers"]
        assert ("PAYMENT-REQUIRED" in price) == (id_ in TABLE)
        if id_ not in TABLE:
            continue
        amount = changed_row.get(id_, TABLE[id_][1])
        assert row["x-x402"]["tier"] == TABLE[id_][0]
        assert row["x-x402"]["price"]["amount"] == amount
        assert row["x-payment-info"]["price"] == row["x-x402"]["price"]
        assert row["x-required-scopes"]
        for status in {"200", "302"} & row["responses"].keys():
            headers = row["responses"][status]["headers"]
            assert {"PAYMENT-RESPONSE", "X-Svc-Payment-Receipt"} <= headers.keys()
    assert prices.CENTS_MAX >= 125
