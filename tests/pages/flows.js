// What people do on the dashboard, from the first link to the last sign-out, as a browser does it.
//
//     node flows.js CHROMIUM ADDRESSES [NAME]
//
// ADDRESSES is a file with what serve_dashboard.py printed; with a NAME only flows that have it in theirs run.

import { readFileSync } from "node:fs";
import { faults, finish, launch, tab, visitor } from "./browser.js";

const [executablePath, file, only = ""] = process.argv.slice(2);
const { demo, empty } = JSON.parse(readFileSync(file, "utf8"));
const below = (tail) => `${demo.origin}/dashboard/w/${demo.home}${tail}`;
const PASSWORD = demo.password;
const browser = await launch(executablePath);

// -- what a person does on a page ----------------------------------------------------------------

/** A person at work; what is expected and does not come is a fault of the flow. */
class Person {
  constructor(page, flow) { Object.assign(this, { page, flow }); }

  static async at(flow, origin = demo.origin, token = "", options = {}) {
    const context = await visitor(browser, origin, token);
    return new Person(await tab(context, origin, flow, options), flow);
  }

  go(address) { return this.page.goto(address, { waitUntil: "load" }); }

  /** Fills in the fields of the form of the page, by their names. */
  async fill(values) {
    for (const [name, value] of Object.entries(values)) {
      const field = await this.page.$(`main [name="${name}"]:not([type=hidden])`);
      const tag = await field.evaluate((node) => node.tagName);
      if (tag === "SELECT") await field.select(value);
      else await field.type(value);
    }
  }

  /** Presses a button or a link by what stands on it, and waits for the page that follows. */
  async press(words, within = "main") {
    for (const node of await this.page.$$(`${within} :is(button, a)`)) {
      const label = await node.evaluate((each) => each.getAttribute("aria-label") ?? each.textContent.trim());
      if (label === words) {
        await Promise.all([this.page.waitForNavigation({ waitUntil: "load" }), node.evaluate((each) => each.click())]);
        return;
      }
    }
    throw new Error(`there is no ${words} on ${this.page.url()}`);
  }

  /** The first row of the page whose words are so. */
  async row(pattern) {
    for (const row of await this.page.$$("main tbody tr")) {
      if (pattern.test(await row.evaluate((node) => node.innerText.trim()))) return row;
    }
    throw new Error(`there is no row of ${pattern} on ${this.page.url()}`);
  }

  words(within = "body") { return this.page.$eval(within, (node) => node.innerText); }

  async expect(sentence, condition) {
    if (!(await condition)) faults.push(`${this.flow}: not so: ${sentence} (${this.page.url()})`);
  }

  async sees(words, within = "body") {
    await this.expect(`shows ${words}`, (await this.words(within)).includes(words));
  }

  async isAt(path) {
    await this.expect(`is at ${path}`, new URL(this.page.url()).pathname === path);
  }
}

async function choosePassword(person, handle) {
  await person.page.waitForSelector('[name="password"]');
  await person.fill({ handle, password: PASSWORD });
  await person.press("Go in");
}

async function signIn(person, handle, password = PASSWORD) {
  await person.go(`${demo.origin}/dashboard/sign-in`);
  await person.fill({ handle, password });
  await person.press("Sign in");
}

// -- flows ---------------------------------------------------------------------------------------

const FLOWS = {
  async "the first link makes the owner, once"(flow) {
    const [{ origin, link }] = empty;
    const ada = await Person.at(flow, origin);
    await ada.go(link);
    await choosePassword(ada, "ada");
    await ada.expect("is in", new URL(ada.page.url()).pathname.startsWith("/dashboard/w/"));
    await ada.sees("API keys", "nav");
    const late = await Person.at(flow, origin);
    await late.go(link);
    await late.page.waitForSelector("[role=alert]");
    await late.sees("svc users link");
    await late.expect("keeps no token in its address", !late.page.url().includes(link.split("#")[1]));
  },

  async "the first link, by keyboard alone"(flow) {
    const [, { origin, link }] = empty;
    const person = await Person.at(flow, origin);
    const { page } = person;
    await person.go(link);
    await page.waitForSelector('[name="password"]');
    const focused = (name) => page.evaluate(() => document.activeElement?.getAttribute("name")).then((at) => at === name);
    const reach = async (name) => {
      for (let step = 0; step < 20 && !(await focused(name)); step += 1) await page.keyboard.press("Tab");
      await person.expect(`Tab reaches ${name}`, focused(name));
    };
    await reach("handle");
    await page.keyboard.type("ada");
    await reach("password");
    await page.keyboard.type(PASSWORD);
    await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.keyboard.press("Enter")]);
    await person.expect("is in", new URL(page.url()).pathname.startsWith("/dashboard/w/"));
    await page.keyboard.press("Tab");
    await person.expect("the first stop skips to the content", page.evaluate(() => document.activeElement.className === "skip"));
    await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.keyboard.press("c").then(() => page.keyboard.press("k"))]);
    await person.expect("c k opens the form of a key", new URL(page.url()).pathname.endsWith("/keys/new"));
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await reach("name");
    await page.keyboard.type("Laptop");
    await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.keyboard.press("Enter")]);
    await person.expect("a key is shown", page.$(".secret code"));
  },

  async "a wrong password, then the right one, then out"(flow) {
    const rosa = await Person.at(flow);
    await rosa.go(below("/keys"));
    await rosa.isAt("/dashboard/sign-in");
    await rosa.fill({ handle: "rosa", password: "not the password at all" });
    await rosa.press("Sign in");
    await rosa.sees("The handle or the password is not right.");
    await rosa.expect("the handle is kept", rosa.page.$eval('[name="handle"]', (node) => node.value === "rosa"));
    await rosa.fill({ password: PASSWORD });
    await rosa.press("Sign in");
    await rosa.isAt(`/dashboard/w/${demo.home}/keys`);
    await rosa.press("Sign out", "nav");
    await rosa.isAt("/dashboard/sign-in");
    await rosa.page.goBack();
    await rosa.go(below("/keys"));
    await rosa.isAt("/dashboard/sign-in");
  },

  async "a member is invited, and becomes an admin in an open tab"(flow) {
    const rosa = await Person.at(flow, demo.origin, demo.tokens.rosa);
    await rosa.go(below("/members/invite"));
    await rosa.fill({ role: "member" });
    await rosa.press("Invite");
    const link = (await rosa.words("main")).match(/http\S+#[0-9a-f]{64}/)?.[0];
    if (!link) throw new Error("there is no address in the invitation");
    const bo = await Person.at(flow);
    await bo.go(link);
    await choosePassword(bo, "bo");
    await bo.expect("a member sees no keys", !(await bo.words("nav")).includes("API keys"));
    await bo.go(below("/keys"));
    await bo.sees("Resource not found", "main");
    await bo.go(below("/news"));
    await rosa.go(below("/members"));
    const row = await rosa.row(/^bo\b/i);
    await (await row.$("select")).select("admin");
    await Promise.all([rosa.page.waitForNavigation({ waitUntil: "load" }), row.$eval("button", (node) => node.click())]);
    await bo.page.reload({ waitUntil: "load" });
    await bo.isAt(`/dashboard/w/${demo.home}/news`);
    await bo.sees("API keys", "nav");
    await bo.go(below("/keys"));
    await bo.isAt(`/dashboard/w/${demo.home}/keys`);
    await bo.expect("an admin sees keys", !(await bo.words("main")).includes("not found"));
  },

  async "a session is ended from another browser"(flow) {
    const lost = await Person.at(flow);
    await signIn(lost, "otto");
    await lost.expect("is in", new URL(lost.page.url()).pathname.startsWith("/dashboard/w/"));
    const otto = await Person.at(flow, demo.origin, demo.tokens.otto);
    await otto.go(`${demo.origin}/dashboard/me`);
    await otto.press("End");
    await otto.sees("The session has ended.");
    await lost.page.reload({ waitUntil: "load" });
    await lost.isAt("/dashboard/sign-in");
    await otto.page.reload({ waitUntil: "load" });
    await otto.isAt("/dashboard/me");
  },

  async "a session that was idle for a day is over"(flow) {
    const rosa = await Person.at(flow, demo.origin, demo.tokens.idle);
    await rosa.go(below("/news"));
    await rosa.isAt("/dashboard/sign-in");
  },

  async "a key asks for a fresh sign-in, is shown once and revoked"(flow) {
    const rosa = await Person.at(flow, demo.origin, demo.tokens.stale);
    await rosa.go(below("/keys/new"));
    await rosa.sees("Once more, please");
    await rosa.fill({ password: PASSWORD });
    await rosa.press("Sign in");
    await rosa.isAt(`/dashboard/w/${demo.home}/keys/new`);
    await rosa.fill({ name: "Laptop" });
    await rosa.press("Create");
    const secret = await rosa.page.$eval(".secret code", (node) => node.textContent);
    await rosa.expect("the secret is a key", /^svc_[0-9a-f]{64}$/.test(secret));
    await rosa.page.bringToFront();
    await rosa.page.waitForSelector("[data-act=theme]:not([hidden])");
    // While a page takes the place of another one, a browser lets no click through.
    for (let attempt = 0; attempt < 5 && !(await rosa.page.$(".toast")); attempt += 1) {
      await rosa.page.click(".secret [data-copy]");
      await rosa.page.waitForSelector(".toast", { timeout: 1_000 }).catch(() => {});
    }
    await rosa.expect("it is copied", rosa.page.evaluate(() => navigator.clipboard.readText()).then((text) => text === secret));
    const answer = (key) => fetch(`${demo.origin}/api/v1/reports`, { headers: { authorization: `Bearer ${key}` } });
    await rosa.expect("the key works", answer(secret).then(({ status }) => status === 200));
    await rosa.press("Done");
    await rosa.sees("Laptop", "main");
    await rosa.expect("it is nowhere again", !(await rosa.page.content()).includes(secret));
    await rosa.page.goBack();
    await rosa.expect("nor in the history", !(await rosa.page.content()).includes(secret));
    await rosa.go(below("/keys"));
    await rosa.go(await (await rosa.row(/^Laptop/)).$eval("a", (node) => node.href));
    await rosa.press("Revoke");
    await rosa.sees("Laptop", "main");
    await rosa.press("Revoke");
    await rosa.expect("the key is refused", answer(secret).then(({ status }) => status === 401));
  },

  async "the palette opens pages and finds rows"(flow) {
    const rosa = await Person.at(flow, demo.origin, demo.tokens.rosa);
    const { page } = rosa;
    await rosa.go(below("/news"));
    const title = await page.$eval("main tbody tr td a", (node) => node.textContent.trim());
    const open = async (words) => {
      await page.waitForSelector("[data-act=theme]:not([hidden])");
      await page.keyboard.down("Control");
      await page.keyboard.press("k");
      await page.keyboard.up("Control");
      await page.waitForSelector("#palette[open] [role=option]");
      await page.keyboard.type(words);
    };
    await open("webhook");
    await page.waitForFunction(() => document.querySelector("#palette-list").textContent.toLowerCase().includes("webhook"));
    await page.keyboard.press("Escape");
    await rosa.expect("esc closes it", page.$("#palette:not([open])"));
    await rosa.go(below("/entities"));
    const name = await page.$eval("main tbody tr td a", (node) => node.textContent.trim());
    await open(name);
    await page.waitForFunction((text) => [...document.querySelectorAll("#palette .grp")].some((node) => node.textContent === "Rows")
      && document.querySelector("#palette-list").textContent.includes(text), {}, name);
    await page.keyboard.press("ArrowUp");
    await Promise.all([page.waitForNavigation({ waitUntil: "load" }), page.keyboard.press("Enter")]);
    await rosa.expect("a row is opened", page.url() !== below("/entities") && title);
  },

  async "hostile texts stay texts"(flow) {
    const rosa = await Person.at(flow, demo.origin, demo.tokens.rosa);
    await rosa.go(below("/projects/new"));
    const addresses = await rosa.page.evaluate(async (texts) => {
      const post = (name) => fetch(location.href, { method: "POST", body: new URLSearchParams({ name, description: name }) });
      return (await Promise.all(texts.map(post))).filter(({ redirected }) => redirected).map(({ url }) => url);
    }, demo.texts);
    await rosa.expect("they are stored", addresses.length > demo.texts.length / 2);
    for (const address of [below("/projects?limit=100"), below("/changes"), ...addresses.slice(0, 12)]) {
      await rosa.go(address);
      await rosa.expect("nothing became an element", rosa.page.$$eval("svc-broken, [data-broken]", (nodes) => nodes.length === 0));
    }
  },

  async "without a script: sign in, make a key and a profile, walk a list, search"(flow) {
    const rosa = await Person.at(flow, demo.origin, "", { script: false });
    await signIn(rosa, "rosa");
    await rosa.go(below("/keys/new"));
    await rosa.fill({ name: "Plain" });
    await rosa.press("Create");
    await rosa.expect("the secret is shown", (await rosa.words("main")).match(/svc_[0-9a-f]{64}/));
    await rosa.go(below("/profiles/new"));
    await rosa.fill({ name: "Plain ports", topic: "Strikes at European ports", frequency: "manual" });
    await rosa.press("Create");
    await rosa.sees("Plain ports", "main");
    await rosa.go(below("/news?limit=5"));
    const first = await rosa.words("tbody");
    await rosa.press("Next");
    await rosa.expect("other rows follow", (await rosa.words("tbody")) !== first);
    await rosa.press("First");
    await rosa.expect("and the first again", (await rosa.words("tbody")) === first);
    await rosa.go(below("/search/all"));
    await rosa.fill({ q: "Plain ports" });
    await rosa.press("Show");
    await rosa.sees("Plain ports", "tbody");
    await rosa.press("Sign out", "nav");
    await rosa.isAt("/dashboard/sign-in");
  },
};

for (const [name, flow] of Object.entries(FLOWS)) {
  if (!name.includes(only)) continue;
  const began = performance.now();
  try {
    await flow(name);
  } catch (error) {
    faults.push(`${name}: ${error.message}`);
  }
  console.log(`  ${name}: ${Math.round(performance.now() - began)} ms`);
}
await finish(browser, "flows");
