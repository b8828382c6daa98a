// Looks at pages in Chromium, narrow and light, wide and dark: nothing scrolls sideways, nothing is
// loaded that is not there or not allowed, and axe-core finds no serious or critical fault.
//
//     node look.js CHROMIUM FOLDER_OF_PICTURES_OR_- URL...

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const [executablePath, pictures, ...urls] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const looks = [[390, "light"], [1100, "dark"]];
const faults = [];

const browser = await puppeteer.launch({
  executablePath,
  args: [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
  ],
});
for (const [at, url] of urls.entries()) {
  for (const [width, scheme] of looks) {
    const where = `${new URL(url).pathname.slice(0, 40)} at ${width} px, ${scheme}`;
    const page = await browser.newPage();
    const own = new URL(url).origin;
    page.on("console", (said) => {
      // A browser says so of every page that is refused, which is what that page is there for.
      if (said.type() === "error" && !/status of 4\d\d/.test(said.text())) {
        faults.push(`${where}: ${said.text()}`);
      }
    });
    page.on("request", (asked) => {
      if (!asked.url().startsWith("data:") && new URL(asked.url()).origin !== own) {
        faults.push(`${where}: asks ${asked.url()}`);
      }
    });
    await page.setViewport({ width, height: 844 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.goto(url, { waitUntil: "load" });
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) faults.push(`${where}: is ${wide} px wide`);
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await axe.run()).violations);
    for (const { id, impact, nodes } of found) {
      const line = `${where}: ${impact} ${id}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`;
      if (["serious", "critical"].includes(impact)) faults.push(line);
      else console.log(`  (${line})`);
    }
    if (pictures !== "-") await page.screenshot({ fullPage: true, path: `${pictures}/${at}-${width}-${scheme}.png` });
    await page.close();
  }
}
await browser.close();
console.log(`${urls.length} pages, ${faults.length} faults`);
for (const fault of faults) console.error(fault);
process.exit(faults.length ? 1 : 0);
