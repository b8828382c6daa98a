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

/** Shows entries ({group, label, href, picture, detail}) under the names of their groups. */
function show(shown) {
  let group = "";
  const nodes = shown.flatMap((entry, at) => {
    const link = make("li", { role: "option", id: `entry-${at}`, "data-href": entry.href, "aria-selected": "false" },
      icon(entry.picture), make("span", { class: "cut" }, entry.label), make("small", {}, entry.detail ?? ""));
    link.addEventListener("click", () => follow(entry));
    const head = entry.group === group ? [] : [make("li", { class: "grp", role: "presentation" }, entry.group)];
    group = entry.group;
    return [...head, link];
  });
  list.replaceChildren(...nodes);
  choose(0);
  say(shown.length ? `${shown.length} entries` : "Nothing found");
}

function follow(entry) {
  const past = recent().filter(({ href }) => href !== entry.href);
  memory.set(place, JSON.stringify([{ ...entry, group: "Opened last" }, ...past].slice(0, RECENT)));
  location.href = entry.href;
}

// What was kept is only offered where the page is still one that this person has.
const isOurs = (entry) => typeof entry?.href === "string" && entry.href.startsWith("/dashboard/");
const recent = () => { try { return JSON.parse(memory.get(place) ?? "[]").filter(isOurs); } catch { return []; } };

async function update() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ label, detail }) => words.every((word) => `${label} ${detail}`.toLowerCase().includes(word));
  const fitting = entries.filter(fits);
  const near = words.length ? fitting.slice(0, 8) : [...recent(), ...fitting];
  show(near);
  asked.abort();
  clearTimeout(timer);
  if (input.value.trim().length < SHORTEST) return;
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

export async function open() {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  if (!entries.length) entries = await load({}).catch(() => []);
  update();
}
