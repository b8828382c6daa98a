// What the dashboard's scripts do, on the page of all components: keys, palette, fields, tabs, live rows. And that
// the page holds without scripts, with text of 200 %, from right to left, on paper and in forced colours.
//
//     node kit.js CHROMIUM URL

import puppeteer from "puppeteer-core";
import { STILL } from "./browser.js";

const [executablePath, url] = process.argv.slice(2);
const faults = [];
// What ends the run early is often what follows from a fault before it.
process.on("uncaughtExceptionMonitor", () => faults.forEach((fault) => console.error(fault)));
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"];
const launch = (...more) => puppeteer.launch({ executablePath, args: [...flags, ...more] });

async function open(browser, address = url, width = 1280) {
  const page = await browser.newPage();
  for (const act of ["waitForSelector", "focus", "click", "type", "evaluate", "$eval", "$"]) page[act] = again(page[act].bind(page));
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  page.on("pageerror", (error) => faults.push(error.message));
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures(STILL);
  await page.goto(address, { waitUntil: "load" });
  // The scripts have run when the buttons that need them are there.
  if (await page.evaluate(() => true).catch(() => false)) await ready(page);
  return page;
}

const ready = (page) => page.waitForSelector("[data-act=theme]:not([hidden])");

/** Does once more what met the end of a page, because another one was on its way. */
const again = (act) => async (...values) => {
  for (let left = 5; ; left -= 1) {
    try {
      return await act(...values);
    } catch (error) {
      if (left === 1 || !/context was destroyed/.test(error.message)) throw error;
    }
  }
};

/** Waits until what the page says is so. */
async function expect(page, sentence, condition, ...values) {
  try {
    await page.waitForFunction(condition, { timeout: 30_000, polling: 100 }, ...values);
  } catch {
    faults.push(`not so: ${sentence}`);
  }
}
const reaches = (page, tail) => expect(page, `a page at ?${tail}`, (text) => location.search === `?${text}`, tail);
const wide = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

// -- keys ----------------------------------------------------------------------------------------

const browser = await launch();
let page = await open(browser);
await page.keyboard.press("j");
await page.keyboard.press("j");
await page.keyboard.press("k");
await expect(page, "j j k stands on the first row", () => document.activeElement.textContent.startsWith("M 5.4"));
await page.keyboard.press("x");
await expect(page, "x selects", () => document.querySelectorAll("[data-selected]").length === 1);
await page.keyboard.press("t");
await expect(page, "t changes the colours", () => document.documentElement.dataset.theme === "dark");
await page.reload({ waitUntil: "load" });
await expect(page, "the colours stay", () => document.documentElement.dataset.theme === "dark");
await page.keyboard.press("g");
await page.keyboard.press("r");
await reaches(page, "Reports");
await ready(page);
await page.keyboard.press("c");
await page.keyboard.press("k");
await reaches(page, "create");
await ready(page);
await page.keyboard.press("?");
await expect(page, "? shows every key", () => document.querySelectorAll("#keys[open] dt").length === 17);
await page.focus("#keys input");
await page.keyboard.press("Space"); // a pointer would meet the transition from the page before
await expect(page, "single keys can be switched off", () => localStorage.getItem("keys") === "off");
await page.keyboard.press("Escape");
await expect(page, "Escape closes", () => !document.querySelector("#keys[open]"));
await page.evaluate(() => { delete document.documentElement.dataset.theme; });
await page.keyboard.press("t");
await page.keyboard.press("?");
await expect(page, "single keys are off", () => !document.documentElement.dataset.theme && !document.querySelector("#keys[open]"));
await page.evaluate(() => localStorage.clear());
await page.focus("#f-name");
await page.keyboard.type("?t/");
await expect(page, "keys are typed in a field", () => document.querySelector("#f-name").value.includes("?t/"));
await expect(page, "a change is marked", () => document.querySelector("#f-name").closest(".changed"));
let asked = "";
page.on("dialog", (dialog) => { asked = dialog.type(); dialog.accept(); });
await page.goto(url, { waitUntil: "load" });
if (asked !== "beforeunload") faults.push("a changed form is left without a word");
await ready(page);

// -- palette and fields --------------------------------------------------------------------------

await page.keyboard.down("Control");
await page.keyboard.press("k");
await page.keyboard.up("Control");
await expect(page, "the palette has pages", () => document.querySelectorAll("#palette[open] [role=option]").length === 8);
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await reaches(page, "News");
await ready(page);
await page.keyboard.press("/");
await page.keyboard.type("hospital"); // at once, while its script is on its way: these are no keys of the page
await expect(page, "the palette finds a row", () => document.querySelector("#palette-list").textContent.includes("Hospital ransomware"));
for (let left = "hospital".length; left; left -= 1) await page.keyboard.press("Backspace");
await expect(page, "what was opened last is first", () => document.querySelector("#palette .grp")?.textContent === "Opened last");
const type = async (words) => {
  await page.$eval("#palette input", (input) => { input.value = ""; });
  await page.type("#palette input", words);
};
await type("log out");
await expect(page, "the palette has what the frame has", () => document.querySelector("#palette [role=option]")?.textContent === "Sign out");
await type("harbour");
await expect(page, "it says that nothing has the name", () => document.querySelector("#palette-list").textContent === "Nothing here by that name");
await type("theme");
await expect(page, "the palette offers the colours", () => document.querySelector("#palette [role=option]")?.textContent.startsWith("Change colour scheme"));
await page.keyboard.press("Enter");
await expect(page, "an act of the frame is done", () => document.documentElement.dataset.theme === "dark");
await page.keyboard.press("/");
await expect(page, "the palette is open", () => document.querySelector("#palette[open]"));
await page.keyboard.press("Escape");
await expect(page, "the palette is closed", () => !document.querySelector("#palette[open]"));
const isOpenAgain = await page.evaluate(() => {
  const dialog = document.querySelector("#palette");
  const slash = () => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }));
  slash();
  dialog.close(); // its field has the focus until the next frame
  slash();
  const { open } = dialog;
  dialog.close();
  return open;
});
if (!isOpenAgain) faults.push("a key right after the palette was closed is lost");
await page.type("#f-profile", "hosp");
await expect(page, "a pick offers rows", () => document.querySelector("#f-profile-list [role=option]"));
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await expect(page, "a pick takes the id", () => document.querySelector("#f-profile").value === "prf_01j8z0k2v9");
await page.type("#f-webhooks-add", "whk_01j8z0k2v9");
await page.keyboard.press("Tab");
await expect(page, "an id that is typed whole is added", () => document.querySelector("#f-webhooks").value === "whk_01j8z0k2v9");
await page.evaluate(() => [...document.querySelectorAll(".chip")].find((chip) => chip.textContent === "7 days").click());
await expect(page, "an interval is filled", () => [...document.querySelectorAll("[data-kind=interval] input")].every((input) => input.value));
await page.evaluate(() => [...document.querySelectorAll("[data-tabs] .seg button")][1].click());
await expect(page, "a tab shows its text", () => document.querySelector("#code-1").hidden && !document.querySelector("#code-2").hidden);
await page.close();

// -- live: one stream a browser ------------------------------------------------------------------

let streams = 0;
const [first, second] = [await open(browser), await open(browser)];
for (const tab of [first, second]) {
  tab.on("request", (request) => { streams += new URL(request.url()).pathname.endsWith("/live"); });
  await tab.bringToFront();
  await tab.goto(`${url}?live`, { waitUntil: "load" });
}
const counts = () => Number.parseInt(document.querySelector("[data-counts=reports] .count").textContent || "0", 10) > 1;
for (const tab of [first, second]) await expect(tab, "both tabs hear of rows", counts);
if (streams !== 1) faults.push(`two tabs hold ${streams} streams`);
await expect(second, "new rows wait behind a button", () => /\d new/.test(document.querySelector("[data-waiting=reports] button")?.textContent));
await expect(second, "they are announced", () => document.querySelector("#spoken").textContent.endsWith(" new"));
await first.close();
await second.evaluate(() => { document.querySelector("[data-counts=reports] .count").textContent = ""; });
await expect(second, "the other tab takes the stream over", counts);
await second.click("[data-act=pause]");
await expect(second, "a pause is shown", () => document.querySelector("[data-act=pause]").textContent === "Paused");
await second.close();

// -- other ways of looking -----------------------------------------------------------------------

for (const width of [390, 1280]) {
  const plain = await browser.newPage();
  await plain.setJavaScriptEnabled(false);
  await plain.setViewport({ width, height: 900 });
  await plain.goto(url, { waitUntil: "load" });
  if (await plain.$$eval("[data-copy]:not([hidden]), [data-act]:not([hidden])", (nodes) => nodes.length)) faults.push("a button that needs a script is there without");
  await plain.close();
  const large = await launch("--blink-settings=defaultFontSize=32");
  const zoomed = await open(large, url, width);
  if (await wide(zoomed) > 0) faults.push(`at 200 % and ${width} px it scrolls sideways`);
  await large.close();
  const turned = await open(browser, url, width);
  await turned.evaluate(() => { document.documentElement.dir = "rtl"; });
  if (await wide(turned) > 0) faults.push(`from right to left at ${width} px it scrolls sideways`);
  await turned.close();
}
page = await open(browser, url, 390);
await page.click("[popovertarget=rail]");
await expect(page, "the menu opens on a narrow screen", () => document.querySelector("#rail:popover-open a").offsetWidth > 0);
await browser.close();
console.log(`kit: ${faults.length} faults`);
for (const fault of faults) console.error(fault);
process.exit(faults.length ? 1 : 0);
