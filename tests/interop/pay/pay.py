"""What PyPI's clients of x402 make of requests that have a price; each pays with a fresh key.

python pay.py ORIGIN

pays the demo at ORIGIN once for each of its prices, with `requests` and with `httpx`.
"""

import asyncio
import sys
import time
from typing import Any

import httpx
import requests
from eth_account import Account
from eth_account.signers.local import LocalAccount
from x402 import x402Client, x402ClientSync
from x402.http import FacilitatorConfig, HTTPFacilitatorClientSync, decode_payment_response_header
from x402.http.clients.httpx import x402HttpxClient
from x402.http.clients.requests import x402_requests
from x402.mechanisms.evm.exact import register_exact_evm_client

SPOKEN_SECONDS = 120


def hold(promise: str, *truths: bool) -> None:
    if not all(truths):
        raise SystemExit(promise)


def main(origin: str) -> None:
    list_ = f"{origin}/api/v1/reports"
    report_id = paid(f"{list_}?limit=1", "50000").json()["data"][0]["id"]
    paid_too(f"{list_}?limit=1", "50000")
    report = f"{list_}/{report_id}"
    for url, amount in ((report, "250000"), (f"{report}/signals", "10000")):
        paid(url, amount)
        paid_too(url, amount)
    # It is being spoken at first; what is not there yet costs nothing.
    for _ in range(SPOKEN_SECONDS):
        if session(Account.create()).get(f"{report}/audio").status_code != 404:
            break
        time.sleep(1)
    paid_too(f"{report}/audio", "500000")

    place = FacilitatorConfig(url=f"{origin}/x402/facilitator")
    (kind,) = HTTPFacilitatorClientSync(place).get_supported().kinds
    hold("the facilitator takes test money", str(kind.network) == "eip155:84532")
    payments = httpx.get(f"{place.url}/play").json()["paid"]
    amounts = [5 * 10**4] * 2 + [25 * 10**4] * 2 + [10**4] * 2 + [50 * 10**4] * 2
    hold(
        f"exactly that was paid, not {payments}",
        [payment["amount"] for payment in payments] == amounts,
    )


def session(account: LocalAccount) -> requests.Session:
    return x402_requests(register_exact_evm_client(x402ClientSync(), account))


def paid(url: str, amount: str) -> requests.Response:
    account = Account.create()
    with session(account) as client:
        return judge(client.get(url), url, amount, account.address)


def paid_too(url: str, amount: str) -> None:
    account = Account.create()
    judge(asyncio.run(got(url, account)), url, amount, account.address)
    sys.stdout.write(f"x402 over requests and httpx: {url} paid for with {amount}\n")


async def got(url: str, account: LocalAccount) -> httpx.Response:
    paying = register_exact_evm_client(x402Client(), account)
    async with x402HttpxClient(paying, timeout=60) as client:
        return await client.get(url)


def judge(answer: Any, url: str, amount: str, payer: str) -> Any:
    hold(f"{url}: answered {answer.status_code} {answer.text[:300]}", answer.status_code == 200)
    settlement = decode_payment_response_header(answer.headers["PAYMENT-RESPONSE"])
    hold("it is settled", settlement.success, settlement.network == "eip155:84532")
    hold(f"{url} costs {amount}", settlement.amount == amount)
    hold("the payer is told", str(settlement.payer).lower() == payer.lower())
    return answer


if __name__ == "__main__":
    main(sys.argv[1])
