// Opens the page on which operations are tried, as a machine a quarter as fast would: it is there
// soon, its console is quiet, and an operation can be filled in and sent.
//
//     node trial.js CHROMIUM URL FOLDER_OF_PICTURES_OR_-

import { faults, finish, launch, tab } from "./browser.js";

const [executablePath, url, pictures] = process.argv.slice(2);
const SLOWNESS = 4;
const SECONDS_MAX = 4; // it takes 1.6 to 2.4, by what else runs on the machine

const browser = await launch(executablePath);
const page = await tab(browser, new URL(url).origin, "trial");
page.on("console", (message) => {
  if (message.type() === "warn") faults.push(`trial: ${message.text()}`);
});
const session = await page.createCDPSession();
// Seconds of this page's own work, whatever else the machine does meanwhile.
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const worked = async () => {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value;
};
const shows = (selector, words = "") => page.waitForFunction((css, text) => {
  const part = document.querySelector("openapi-explorer")?.shadowRoot?.querySelector(css);
  return part?.textContent.includes(text) && part;
}, { timeout: 60_000 }, selector, words);

// The lesser of two loads: what else runs on the machine makes one of them cold.
const work = [];
for (let load = 0; load < 2; load += 1) {
  await page.goto("about:blank");
  const before = await worked();
  await page.goto(url, { waitUntil: "load" });
  await shows("#link-overview");
  work.push(await worked() - before);
}
const seconds = SLOWNESS * Math.min(...work);
if (seconds > SECONDS_MAX) faults.push(`trial: is there after ${seconds.toFixed(1)} s`);

// Without a key the answer is a refusal, which comes from the service itself. The page is opened
// anew: one that is open already follows the new address by scrolling, and writes it over.
await page.goto("about:blank");
await page.goto(`${url}#?route=get-/reports`, { waitUntil: "load" });
await (await shows("[part~=btn-try]")).click();
await shows("#the-main-body", "Response Status: 401").catch(() => faults.push("trial: shows no answer"));
if (pictures !== "-") await page.screenshot({ path: `${pictures}/trial.png` });
await finish(browser, `trial: there after ${seconds.toFixed(1)} s at ${SLOWNESS} times the work`);
