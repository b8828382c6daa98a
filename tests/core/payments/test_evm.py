"""Who signed which transfer: against wallets that share no code with the judge, and vectors."""

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.payments import evm
from svc_core.payments.challenge import Terms, requirements
from svc_core.payments.evm import ORDER, Judge, address_of, checksum_address
from svc_core.payments.messages import Authorization, PaymentRequirements
from svc_core.payments.networks import BASE, BASE_SEPOLIA
from tests.late import Late
from tests.paying import COINS, JUDGE, OPERATION, PAYEE, PRICE, REQUIREMENTS
from tests.sampling import examples
from tests.wallets import TYPES, wallet

MESSAGES = Late("eth_account.messages")
NOW = 1_767_323_045
REAL = requirements(OPERATION.tier, Terms(BASE, PAYEE))
JUDGES = {REQUIREMENTS.network: JUDGE, REAL.network: Judge(BASE, COINS)}


def authorization(members: dict[str, str]) -> Authorization:
    return wire.structure(Authorization, members)


def fault(
    members: dict[str, str],
    signature: str,
    wanted_text: PaymentRequirements = REQUIREMENTS,
    now: int = NOW,
) -> Any:
    return JUDGES[wanted_text.network].fault(
        authorization(members),
        signature,
        pay_to=wanted_text.pay_to,
        amount=wanted_text.amount,
        now=now,
    )


def signature_text(
    wanted_text: PaymentRequirements = REQUIREMENTS, **members: str
) -> tuple[dict[str, str], str]:
    row = wallet().authorization(wanted_text, NOW, 7, **members)
    return row, wallet().sign(row, wanted_text)


@pytest.mark.parametrize("wanted_text", [REQUIREMENTS, REAL], ids=["sepolia", "base"])
def test_what_a_wallet_signed_is_good(wanted_text: PaymentRequirements) -> None:
    assert fault(*signature_text(wanted_text), wanted_text) is None


@given(st.integers(0, 2**256 - 1), st.integers(0, 2**256 - 1), st.binary(min_size=32, max_size=32))
@examples(25)
def test_the_digest_is_the_one_of_eth_account(value: int, after: int, nonce: bytes) -> None:
    members = wallet().authorization(REQUIREMENTS, NOW, 0, value=str(value), validAfter=str(after))
    members["nonce"] = "0x" + nonce.hex()
    message = {**members, "value": value, "validAfter": after, "nonce": nonce}
    message["validBefore"] = int(members["validBefore"])
    domain = {
        "name": "USDC",
        "version": "2",
        "chainId": 84532,
        "verifyingContract": REQUIREMENTS.asset,
    }
    foreign_id = MESSAGES.encode_typed_data(domain, TYPES, message)
    assert JUDGE.digest(authorization(members)) == COINS.keccak(
        b"\x19" + foreign_id.version + foreign_id.header + foreign_id.body
    )


@pytest.mark.parametrize(
    "domain",
    [
        {"name": "USD Coin"},
        {"version": "1"},
        {"chainId": 8453},
        {"verifyingContract": BASE.asset.address},
    ],
)
def test_a_signature_under_another_domain_is_nobodys(domain: dict[str, Any]) -> None:
    row = wallet().authorization(REQUIREMENTS, NOW)
    assert fault(row, wallet().sign(row, REQUIREMENTS, **domain)) == evm.SIGNATURE


@pytest.mark.parametrize(
    ("members", "now", "expected"),
    [
        ({"to": "0x" + "11" * 20}, NOW, evm.RECIPIENT),
        ({"to": PAYEE.lower()}, NOW, None),
        ({"value": str(PRICE - 1)}, NOW, evm.VALUE),
        ({"value": str(PRICE + 1)}, NOW, evm.VALUE),
        ({"validBefore": str(NOW - 1)}, NOW, evm.VALID_BEFORE),
        ({"validBefore": str(NOW + 5)}, NOW, evm.VALID_BEFORE),
        ({"validBefore": str(NOW + 6)}, NOW, None),
        ({"validBefore": str(2**256 - 1)}, NOW, None),
        ({"validAfter": str(NOW)}, NOW, None),
        ({"validAfter": str(NOW + 1)}, NOW, evm.VALID_AFTER),
        ({"from": "0x" + "22" * 20}, NOW, evm.SIGNATURE),
        # Several faults: the first in order is told.
        ({"to": "0x" + "11" * 20, "value": "1"}, NOW, evm.RECIPIENT),
        ({"value": "1", "validBefore": "1"}, NOW, evm.VALUE),
        ({"validBefore": "1", "validAfter": str(NOW + 9)}, NOW, evm.VALID_BEFORE),
    ],
)
def test_each_fault_has_its_reason(members: dict[str, str], now: int, expected: str | None) -> None:
    assert fault(*signature_text(**members), now=now) == expected


def parts(signature: str) -> tuple[int, int, int]:
    data = bytes.fromhex(signature[2:])
    return int.from_bytes(data[:32]), int.from_bytes(data[32:64]), data[64]


def version(r: int, s: int, v: int) -> str:
    return "0x" + (r.to_bytes(32) + s.to_bytes(32) + bytes((v,))).hex()


def test_the_other_signature_of_the_same_key_is_refused_as_the_contract_refuses_it() -> None:
    members, signature = signature_text()
    r, s, v = parts(signature)
    assert fault(members, signature) is None
    assert fault(members, version(r, ORDER - s, 55 - v)) == evm.SIGNATURE


@pytest.mark.parametrize("v", [0, 1, 2, 26, 29, 30, 35, 255])
def test_v_is_27_or_28(v: int) -> None:
    members, signature = signature_text()
    r, s, _ = parts(signature)
    assert fault(members, version(r, s, v)) == evm.SIGNATURE


@pytest.mark.parametrize("r", [0, ORDER, 2**256 - 1])
@pytest.mark.parametrize("s", [0, 1, ORDER // 2 + 1, ORDER])
def test_r_and_s_lie_on_the_curve(r: int, s: int) -> None:
    members, _ = signature_text()
    assert fault(members, version(r, s, 27)) == evm.SIGNATURE


def test_a_point_that_is_not_on_the_curve_is_nobodys() -> None:
    members, _ = signature_text()
    rows = {fault(members, version(r, 1, 27)) for r in range(1, 12)}
    assert rows == {evm.SIGNATURE}


@pytest.mark.parametrize("size", [1, 64, 66, 130, 4_096])
def test_signatures_of_contract_wallets_are_left_to_a_facilitator(size: int) -> None:
    members, _ = signature_text()
    assert fault(members, "0x" + "ab" * size) is False
    # But for those, too, all else has to be right.
    members["value"] = "1"
    assert fault(members, "0x" + "ab" * size) == evm.VALUE


@given(st.sampled_from(["to", "value", "validAfter", "validBefore", "nonce", "from"]), st.data())
@examples(40)
def test_any_bit_of_what_is_signed_counts(name: str, data: st.DataObject) -> None:
    members, signature = signature_text()
    if members[name].startswith("0x"):
        size = len(members[name]) - 2
        flip_byte = int(members[name], 16) ^ (1 << data.draw(st.integers(0, size * 4 - 1)))
        members[name] = f"0x{flip_byte:0{size}x}"
    else:
        members[name] = str(int(members[name]) ^ (1 << data.draw(st.integers(0, 255))))
    assert fault(members, signature) not in (None, False)


@given(st.integers(0, 519))
@examples(40)
def test_any_bit_of_the_signature_counts(bit: int) -> None:
    members, signature = signature_text()
    changed_row = int(signature, 16) ^ (1 << bit)
    assert fault(members, f"0x{changed_row:0130x}") == evm.SIGNATURE


def test_the_case_of_addresses_is_no_matter() -> None:
    members, signature = signature_text()
    members["from"] = members["from"].lower()
    members["nonce"] = "0x" + members["nonce"][2:].upper()
    assert fault(members, signature) is None


# EIP-55 gives these as examples.
CHECKSUMS = """
0x52908400098527886E0F7030069857D2E4169EE7 0x8617E340B3D01FA5F11F306F4090FD50E238070D
0xde709f2102306220921060314715629080e2fb77 0x27b1fdb04752bbc536007a920d24acb045561c26
0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed 0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359
0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB 0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb
"""


@pytest.mark.parametrize("address", CHECKSUMS.split())
def test_capitals_are_a_checksum(address: str) -> None:
    assert checksum_address(address.lower(), COINS) == address
    assert checksum_address("0x" + address[2:].upper(), COINS) == address


def test_the_address_of_a_key_is_that_of_its_wallet() -> None:
    account = wallet(3).account
    public = account._key_obj.public_key.to_bytes()
    assert checksum_address(address_of(public, COINS), COINS) == account.address


def test_the_types_are_those_of_the_token() -> None:
    # EIP-3009 and EIP-712 give the hashes of both.
    assert COINS.keccak(evm.TRANSFER_TYPE).hex() == (
        "7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267"
    )
    assert COINS.keccak(evm.DOMAIN_TYPE).hex() == (
        "8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f"
    )


def test_a_judge_is_of_one_network() -> None:
    second = attrs.evolve(BASE_SEPOLIA, id="eip155:1")
    members, signature = signature_text()
    judge = Judge(second, COINS)
    assert judge.signer(authorization(members), bytes.fromhex(signature[2:])) not in (
        None,
        members["from"].lower(),
    )
