// The frame of every page: keys, colours, copying, tabs, times, toasts. Whatever it does makes a page nicer that
// works already. What only some pages need (palette, fields, live rows) is loaded by them.

import { KEYS, listen, single } from "./keys.js";

export const $ = (query, within = document) => within.querySelector(query);
export const $$ = (query, within = document) => [...within.querySelectorAll(query)];
const { body, documentElement: root } = document;

/** An element with its attributes; children are elements or text, never markup. */
export function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

export function icon(name) {
  const space = "http://www.w3.org/2000/svg", node = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `${body.dataset.icons}#${name}`);
  node.setAttribute("class", "i");
  node.setAttribute("aria-hidden", "true");
  node.append(use);
  return node;
}

/** Keeps a choice in this browser; where storage is forbidden, for this page alone. */
export const memory = {
  get(name) { try { return localStorage.getItem(name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, value); } catch { /* not kept */ } },
};

/** Says something to a screen reader, without a toast. */
export const say = (text) => { $("#spoken").textContent = text; };

export function toast(text) {
  const names = { class: "btn quiet icon sm", type: "button", "data-close": "", "aria-label": "Dismiss" };
  const close = make("button", names, icon("x"));
  const node = make("div", { class: "toast" }, icon("circle-check"), make("span", {}, text), close);
  $(".toasts").append(node);
  while ($$(".toast").length > 3) $(".toast").remove();
}

// -- what a key or a button does -----------------------------------------------------------------

const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "")) === "dark";
const choose = (name, value) => { root.dataset[name] = value; memory.set(name, value); };
const rows = () => $$("[data-rows] tbody tr, ul[data-rows] > li");
const row = () => document.activeElement?.closest?.("[data-rows] tbody tr, ul[data-rows] > li");
const step = (distance) => {
  const all = rows(), at = all.indexOf(row());
  const next = all[at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + distance))];
  const target = next && ($("a, button", next) ?? next);
  if (target === next) next?.setAttribute("tabindex", "-1");
  target?.focus();
};

const acts = {
  go: (href) => { location.href = href; },
  palette: () => {
    const dialog = $("#palette");
    if (!dialog) return false;
    if (dialog.open) return;
    // Open before its script is there: what is typed meanwhile is no key of the page.
    dialog.showModal();
    $("input", dialog).select();
    import("./palette.js").then(({ fill }) => fill());
  },
  sheet: () => sheet().showModal(),
  next: () => step(1),
  previous: () => step(-1),
  open: () => {
    const link = row() && $("a", row());
    if (!link || document.activeElement !== link) return false;
    link.click();
  },
  select: () => {
    const node = row();
    if (!node) return false;
    say(node.toggleAttribute("data-selected") ? "Selected" : "Not selected");
  },
  link: () => {
    const links = $$("[data-selected] a:first-of-type").map((link) => link.href);
    copy(links.join("\n") || location.href, `${links.length > 1 ? `${links.length} links` : "Link"} copied`);
  },
  theme: () => choose("theme", isDark() ? "light" : "dark"),
  density: () => choose("density", root.dataset.density === "compact" ? "comfortable" : "compact"),
  back: () => { const crumb = $$(".crumbs a").at(-1); if (!crumb) return false; crumb.click(); },
  pause: () => import("./live.js").then(({ pause }) => pause()),
};

function sheet() {
  const open = $("#keys");
  if (open) return open;
  const names = (keys) => keys.replace("mod+", "⌘ or Ctrl ").split(" ").flatMap((key) => [make("kbd", {}, key), " "]);
  const line = ([keys, label]) => make("div", {}, make("dt", {}, label), make("dd", {}, ...names(keys)));
  const list = make("dl", {}, ...KEYS.map(line));
  const box = make("input", { type: "checkbox" });
  box.checked = single.on;
  box.addEventListener("change", () => { single.on = box.checked; });
  const close = make("form", { method: "dialog" }, make("button", { class: "btn" }, "Close"));
  const title = make("h2", { class: "h", id: "keys-title" }, "Keys");
  const choice = make("label", { class: "check" }, box, make("span", {}, "Keys of one letter"));
  const inner = make("div", { class: "dialog-in" }, title, list, choice, close);
  body.append(make("dialog", { id: "keys", class: "keys", "aria-labelledby": "keys-title" }, inner));
  return $("#keys");
}

async function copy(text, message) {
  try {
    await navigator.clipboard.writeText(text);
    toast(message);
  } catch { toast("The browser does not let this page copy."); }
}

addEventListener("click", (event) => {
  const control = event.target.closest("[data-act], [data-open], [data-copy], [data-close], a[href]");
  const { act, open, copy: source } = control?.dataset ?? {};
  if (act) acts[act]();
  else if (open && !(event.metaKey || event.ctrlKey) && acts[open]() !== false) event.preventDefault();
  else if (source) copy(document.getElementById(source).textContent, "Copied");
  else if (control?.hasAttribute("data-close")) control.closest(".toast, dialog").remove();
});

// A form that was sent is not sent twice; a page that comes back from the history can be used again.
addEventListener("submit", ({ target, submitter }) => {
  if (target.method !== "post" || !submitter) return;
  submitter.setAttribute("aria-busy", "true");
  setTimeout(() => { submitter.disabled = true; });
});
addEventListener("pageshow", () => $$("[aria-busy]").forEach((button) => {
  button.disabled = false;
  button.removeAttribute("aria-busy");
}));

// -- what a page shows ---------------------------------------------------------------------------

const form = { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" };
const thisYear = new Intl.DateTimeFormat(undefined, form);
const otherYear = new Intl.DateTimeFormat(undefined, { year: "numeric", ...form });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const isNow = (at) => at.getFullYear() === new Date().getFullYear();
const UNITS = [["hour", 3_600_000], ["minute", 60_000], ["second", 1_000]];

/** Times in the reader's zone, UTC on hover; those that may be relative are so within a day. */
export function tell(within = document) {
  for (const time of $$("time[datetime*='T']", within)) {
    const at = new Date(time.dateTime), span = at - Date.now();
    if (Number.isNaN(+at)) continue;
    time.title ||= `${at.toISOString().replace("T", " ").slice(0, 19)} UTC`;
    const [unit, size] = UNITS.find(([, length]) => Math.abs(span) >= length) ?? UNITS.at(-1);
    const near = "relative" in time.dataset && Math.abs(span) < 86_400_000;
    const full = isNow(at) ? thisYear : otherYear;
    time.textContent = near ? relative.format(Math.round(span / size), unit) : full.format(at);
  }
}

function tabs(block) {
  const heads = $$(".head", block), parts = $$("pre", block);
  if (heads.length < 2) return;
  const show = (chosen) => buttons.forEach((button, at) => {
    button.setAttribute("aria-pressed", at === chosen);
    for (const node of [parts[at], copies[at]]) node.hidden = at !== chosen;
  });
  const buttons = heads.map((head, at) => make("button", { type: "button" }, $("b", head).textContent));
  const copies = heads.map((head) => make("span", {}, ...$$(".copy", head)));
  buttons.forEach((button, at) => button.addEventListener("click", () => show(at)));
  heads.slice(1).forEach((head) => head.remove());
  heads[0].replaceChildren(make("span", { class: "seg" }, ...buttons), ...copies);
  show(0);
}

$$("[data-act], [data-close]").forEach((button) => { if (button.dataset.act !== "pause") button.hidden = false; });
if (navigator.clipboard) $$("[data-copy]").forEach((button) => { button.hidden = false; });
for (const node of $$("[data-key]")) {
  node.title ||= `${node.getAttribute("aria-label") ?? node.textContent.trim()} (${node.dataset.key})`;
}
$$("[data-tabs]").forEach(tabs);
tell();
setInterval(() => tell(), 60_000);
listen(acts);
// An id that filters a list is picked when somebody comes to it; what shows at once is made at once.
const fields = () => import("./fields.js");
if ($("textarea[data-prefixes], [data-kind=interval], main form[method=post] [data-kind]")) fields();
else if ($("[data-prefixes]")) addEventListener("focusin", fields, { once: true });
if (body.dataset.live) import("./live.js");
