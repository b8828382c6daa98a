// Looks at pages of the dashboard that differ in shape, in both themes, narrow and wide: axe-core finds no serious
// or critical fault, nothing scrolls sideways, nothing stands in the page that its policy forbids, and they weigh
// what they may.
//
//     node views.js CHROMIUM ADDRESSES FOLDER_OF_PICTURES_OR_-

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import { faults, finish, launch, tab, visitor } from "./browser.js";

const [executablePath, file, pictures] = process.argv.slice(2);
const { demo } = JSON.parse(readFileSync(file, "utf8"));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTHS = [390, 1280], THEMES = ["light", "dark"], SCRIPT_KB = 30, PAGE_KB = 40, REQUESTS_MAX = 11, LATER_MAX = 2;
const ROWS = ["reports", "incidents", "entities", "markets", "ledger/subjects", "profiles", "keys"];

const browser = await launch(executablePath);
const context = await visitor(browser, demo.origin, demo.tokens.rosa);

/** The pages of the first rows of lists, and what deletes a profile. */
async function rowPaths(page) {
  const paths = [];
  for (const group of ROWS) {
    await page.goto(`${demo.origin}/dashboard/w/${demo.home}/${group}`, { waitUntil: "load" });
    const href = await page.evaluate(() => document.querySelector("main tbody a[href^='/dashboard/']")?.getAttribute("href"));
    if (href) paths.push(href);
    else faults.push(`views: no row of ${group} has a page`);
    if (href && group === "profiles") paths.push(`${href.split("?")[0]}/delete`, `${href.split("?")[0]}/edit`);
  }
  return paths;
}

async function look(page, path, width, theme) {
  const where = `${path.replace(demo.home, "…").slice(0, 60)} at ${width} px, ${theme}`;
  await page.setViewport({ width, height: 844 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
  await page.goto(`${demo.origin}${path}`, { waitUntil: "load" });
  await page.evaluate(() => document.querySelectorAll("main details").forEach((node) => { node.open = true; }));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  if (wide > width) faults.push(`${where}: is ${wide} px wide`);
  const inline = await page.evaluate(() => document.querySelectorAll("[style], style, script:not([src])").length);
  if (inline) faults.push(`${where}: ${inline} inline styles or scripts`);
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => (await axe.run()).violations);
  for (const { id, impact, nodes } of violations) {
    if (!["serious", "critical"].includes(impact)) continue;
    faults.push(`${where}: ${impact} ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  }
  const name = path.replace(`/dashboard/w/${demo.home}/`, "").replace(/\W+/g, "-").slice(0, 60);
  if (pictures !== "-") await page.screenshot({ fullPage: true, path: `${pictures}/${name}-${width}-${theme}.png` });
}

/** What a first page and the next ones take: bytes as they may be sent (gzip), and requests. */
async function weigh() {
  const own = await visitor(browser, demo.origin, demo.tokens.rosa);
  const page = await tab(own, demo.origin, "weight");
  const bodies = [];
  page.on("response", async (response) => {
    const path = new URL(response.url()).pathname;
    if (response.fromCache() || !response.url().startsWith(demo.origin) || path.endsWith("/live")) return;
    bodies.push({ path, body: await response.buffer().catch(() => Buffer.alloc(0)) });
  });
  const kilobytes = (matches) => bodies.filter(({ path }) => matches(path))
    .reduce((sum, { body }) => sum + gzipSync(body).length, 0) / 1024;
  for (const [at, group] of ["news", "reports", "entities"].entries()) {
    bodies.length = 0;
    await page.goto(`${demo.origin}/dashboard/w/${demo.home}/${group}`, { waitUntil: "networkidle2" });
    const [html, script] = [kilobytes((path) => path.startsWith("/dashboard")), kilobytes((path) => path.endsWith(".js"))];
    const most = at ? LATER_MAX : REQUESTS_MAX;
    console.log(`  ${group}: ${bodies.length} requests, ${html.toFixed(1)} KB of HTML, ${script.toFixed(1)} KB of scripts`);
    if (bodies.length > most) faults.push(`${group}: ${bodies.length} requests: ${bodies.map(({ path }) => path.split("/").at(-1)).join(" ")}`);
    if (html > PAGE_KB) faults.push(`${group}: ${html.toFixed(1)} KB`);
    if (script > SCRIPT_KB) faults.push(`${group}: ${script.toFixed(1)} KB of scripts`);
  }
}

const page = await tab(context, demo.origin, "views");
const paths = [...demo.paths, ...(await rowPaths(page))];
for (const path of paths) {
  for (const width of WIDTHS) {
    for (const theme of THEMES) await look(page, path, width, theme);
  }
}
await weigh();
await finish(browser, `${paths.length} pages of the dashboard`);
