// What clients of x402 make of a request that has a price: each pays with a fresh key, and the
// receipt that it gets is verified with the key that the service publishes.
//
//     node pay.js ORIGIN

import { wrapAxiosWithPaymentFromConfig } from "@x402/axios";
import { ExactEvmScheme } from "@x402/evm";
import {
  extractReceiptFromResponse,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import axios from "axios";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

const [origin] = process.argv.slice(2);

function hold(truth, promise) {
  if (!truth) throw new Error(promise);
}

const { verificationMethod } = await (await fetch(`${origin}/.well-known/did.json`)).json();
const key = verificationMethod[0].publicKeyJwk;

async function judge(name, path, amount, payer, status, headers, response) {
  hold(status === 200, `${name} ${path}: answered ${status}`);
  const settled = decodePaymentResponseHeader(headers.get("payment-response"));
  hold(settled.success && settled.amount === amount, `${path} costs ${amount}`);
  hold(settled.payer.toLowerCase() === payer.toLowerCase(), "the payer is told");
  if (response !== undefined) {
    const payload = await verifyReceiptSignatureJWS(extractReceiptFromResponse(response), key);
    hold(payload.resourceUrl === `${origin}${path}`, "the receipt names the request");
    hold(payload.transaction === settled.transaction, "and the transfer");
  }
  const receipt = headers.get("x-svc-payment-receipt");
  const shown = await (await fetch(`${origin}/api/v1/x402/receipts/${receipt}`)).json();
  hold(shown.data.transaction === settled.transaction, "anybody can look the receipt up");
}

async function pay(path, amount) {
  const account = privateKeyToAccount(generatePrivateKey());
  const schemes = [{ network: "eip155:84532", client: new ExactEvmScheme(account) }];

  const paying = wrapFetchWithPaymentFromConfig(fetch, { schemes });
  let response = await paying(`${origin}${path}`);
  // A recording is being spoken at first; what is not there yet costs nothing.
  for (let second = 0; response.status === 404 && second < 120; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    response = await paying(`${origin}${path}`);
  }
  const { status, headers } = response;
  await judge("fetch", path, amount, account.address, status, headers, response);

  const api = wrapAxiosWithPaymentFromConfig(axios.create(), { schemes });
  const got = await api.get(`${origin}${path}`);
  await judge("axios", path, amount, account.address, got.status, new Headers(got.headers));
  console.log(`@x402/fetch and @x402/axios: ${path} paid for with ${amount}`);
  return response;
}

const { data } = await (await pay("/api/v1/reports?limit=1", "50000")).json();
const report = `/api/v1/reports/${data[0].id}`;
await pay(report, "250000");
await pay(`${report}/signals`, "10000");
await pay(`${report}/audio`, "500000");
