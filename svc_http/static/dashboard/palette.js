// The palette: pages and acts by what is typed, and rows that a search finds. Opened by ⌘K, `/` or the search link.

import { $, icon, make, memory, say } from "./shell.js";

const RECENT = 5, WAIT = 150, SHORTEST = 2; // entries, milliseconds, characters

const dialog = $("#palette"), input = $("input", dialog), list = $("#palette-list");
const address = document.body.dataset.palette, place = `recent:${document.body.dataset.home}`;
let entries = [], chosen = -1, asked = new AbortController(), timer;

const load = async (query, signal) => {
  const answer = await fetch(`${address}?${new URLSearchParams(query)}`, { signal });
  return answer.ok ? (await answer.json()).entries : [];
};
const options = () => [...list.querySelectorAll('[role="option"]')];

function choose(at) {
  const all = options();
  chosen = all.length ? (at + all.length) % all.length : -1;
  all.forEach((option, index) => option.setAttribute("aria-selected", index === chosen));
  all[chosen]?.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", all[chosen]?.id ?? "");
}

/** What the frame around the page has: what its buttons do, and the other workspaces. */
function around() {
  const rows = [
    ["Change colour scheme", "theme dark light mode", '[data-act="theme"]', "sun-moon"],
    ["Change density", "compact rows spacing", '[data-act="density"]', "layers"],
    ["Your account", "profile password passkey sessions", ".me a", "key-round"],
    ["Sign out", "log out logout leave", '.me form button', "log-out"],
  ];
  const acts = rows.map(([label, words, at, picture]) => ({ label, words, picture, press: $(at) }));
  const spaces = [...document.querySelectorAll(".space li a:not([aria-current])")].map((press) =>
    ({ label: `Switch to ${press.textContent}`, words: "workspace", picture: "chevrons-up-down", press }));
  return [...acts, ...spaces].filter(({ press }) => press).map((entry) => ({ ...entry, group: "Here" }));
}

/** Shows entries ({group, label, href, picture, detail}) under the names of their groups. */
function show(entries, isDone = true) {
  let group = "";
  const shown = Object.values(Object.groupBy(entries, (entry) => entry.group)).flat();
  const nodes = shown.flatMap((entry, at) => {
    const link = make("li", { role: "option", id: `entry-${at}`, "data-href": entry.href ?? "", "aria-selected": "false" },
      icon(entry.picture), make("span", { class: "cut" }, entry.label), make("small", {}, entry.detail ?? ""));
    link.addEventListener("click", () => follow(entry));
    const head = entry.group === group ? [] : [make("li", { class: "grp", role: "presentation" }, entry.group)];
    group = entry.group;
    return [...head, link];
  });
  const nothing = isDone ? "Nothing here by that name" : "Searching";
  list.replaceChildren(...nodes, ...(nodes.length ? [] : [make("li", { class: "grp", role: "presentation" }, nothing)]));
  choose(0);
  say(shown.length ? `${shown.length} entries` : nothing);
}

function follow(entry) {
  if (entry.press) {
    dialog.close();
    return entry.press.click();
  }
  const past = recent().filter(({ href }) => href !== entry.href);
  memory.set(place, JSON.stringify([{ ...entry, group: "Opened last" }, ...past].slice(0, RECENT)));
  location.href = entry.href;
}

// What was kept is only offered where the page is still one that this person has.
const isOurs = (entry) => new URL(entry.href, location.origin).origin === location.origin;
const recent = () => { try { return JSON.parse(memory.get(place) ?? "[]").filter(isOurs); } catch { return []; } };

async function update() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (...texts) => words.every((word) => texts.join(" ").toLowerCase().includes(word));
  const named = entries.filter(({ label }) => fits(label));
  const fitting = [...named, ...entries.filter((entry) => !named.includes(entry) && fits(entry.label, entry.detail, entry.words))];
  const near = words.length ? fitting.slice(0, 8) : [...recent(), ...fitting];
  const isSearch = input.value.trim().length >= SHORTEST;
  show(near, !isSearch);
  asked.abort();
  clearTimeout(timer);
  if (!isSearch) return;
  asked = new AbortController();
  const { signal } = asked;
  timer = setTimeout(async () => {
    const rows = await load({ q: input.value.trim() }, signal).catch(() => []);
    if (!signal.aborted) show([...near, ...rows]);
  }, WAIT);
}

input.addEventListener("input", update);
dialog.addEventListener("keydown", (event) => {
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (move) choose(chosen + move);
  else if (event.key === "Enter" && chosen >= 0 && !event.isComposing) options()[chosen].click();
  else return;
  event.preventDefault();
});
dialog.addEventListener("click", ({ target }) => { if (target === dialog) dialog.close(); });

/** Shows what fits what is typed; asks for the pages and forms once. */
export async function fill() {
  if (!entries.length) entries = [...(await load({}).catch(() => [])), ...around()];
  update();
}
