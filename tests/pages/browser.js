// A browser that notes what must not happen on any page: errors, dialogs, requests that leave the origin.

import puppeteer from "puppeteer-core";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
export const faults = [];
// Pages stand still: a busy machine ends a transition between two of them with an error of its own.
export const STILL = [{ name: "prefers-reduced-motion", value: "reduce" }];

export const launch = (executablePath) => puppeteer.launch({ executablePath, args: FLAGS });

/** A new browser of a person, with the session of this token if there is one. */
export async function visitor(browser, origin, token = "") {
  const context = await browser.createBrowserContext();
  await context.overridePermissions(origin, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]).catch(() => {});
  if (token) {
    const cookie = { name: "svc-local", value: token, domain: new URL(origin).hostname, path: "/", httpOnly: true, sameSite: "Lax" };
    await context.setCookie(cookie);
  }
  return context;
}

/** A tab whose faults are noted under a name. */
export async function tab(context, origin, name, { script = true, width = 1280 } = {}) {
  const page = await context.newPage();
  // Each tab behaves as the one in front: a browser lets no other one copy.
  await (await page.createCDPSession()).send("Emulation.setFocusEmulationEnabled", { enabled: true });
  const fault = (text) => faults.push(`${name}: ${page.url().replace(origin, "")}: ${text}`);
  page.on("console", (message) => {
    // A browser says so of every page that is refused, which is what that page is there for.
    if (message.type() === "error" && !/status of [45]\d\d/.test(message.text())) fault(message.text());
  });
  page.on("pageerror", (error) => fault(error.message));
  page.on("dialog", (dialog) => {
    if (dialog.type() !== "beforeunload") fault(`a dialog: ${dialog.message()}`);
    dialog.accept();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && new URL(url).origin !== origin) fault(`asks ${url}`);
  });
  await page.emulateMediaFeatures(STILL);
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height: 900 });
  return page;
}

/** Ends the run: says what was wrong. */
export async function finish(browser, title) {
  await browser.close();
  console.log(`${title}, ${faults.length} faults`);
  for (const fault of faults) console.error(fault);
  process.exit(faults.length ? 1 : 0);
}
