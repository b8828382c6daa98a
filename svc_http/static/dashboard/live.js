// What changed while the page is open. One tab of a browser holds the stream of the workspace (Web Locks), the
// others hear of it (BroadcastChannel). New rows wait behind a button; counts move at once; a pause stops all.

import { $, $$, make, memory, say } from "./shell.js";

const HIDDEN = 30_000, QUIET = 5_000, AGAIN = 30_000; // milliseconds: hidden, between announcements, after a refusal

const { live: address, home } = document.body.dataset;
const channel = new BroadcastChannel(`svc-live:${home}`), place = `live:${home}`;
const sign = $('[data-act="pause"]'), counts = new Map();
let paused = false, source = null, release = null, timer, spoken = 0;

/** The group of a row (`reports`, `osint`), from its address in the API. */
const groupOf = (row) => row.links?.self?.split("/")[3] ?? "";

function hear(row) {
  const group = groupOf(row);
  dispatchEvent(new CustomEvent("svc:change", { detail: row }));
  if (paused || row.changeType !== "created" || !group) return;
  counts.set(group, (counts.get(group) ?? 0) + 1);
  const count = counts.get(group);
  for (const link of $$(`[data-counts="${CSS.escape(group)}"]`)) $(".count", link).textContent = `+${count}`;
  const waiting = $(`[data-waiting="${CSS.escape(group)}"]`);
  if (!waiting) return;
  const button = make("button", { type: "button", class: "waiting" }, `${count} new`);
  button.addEventListener("click", () => location.reload());
  waiting.replaceChildren(button);
  waiting.hidden = false;
  announce(`${count} new`);
}

/** At most one announcement in five seconds; the last one says it all. */
function announce(text) {
  clearTimeout(timer);
  timer = setTimeout(() => { spoken = Date.now(); say(text); }, Math.max(0, spoken + QUIET - Date.now()));
}

function show() {
  if (!sign) return;
  sign.hidden = false;
  sign.setAttribute("aria-pressed", String(paused));
  sign.textContent = paused ? "Paused" : "Live";
  sign.title = paused ? "Press to be told of new rows." : "New rows are told as they come. Press to pause.";
}

export function pause() {
  paused = !paused;
  show();
  if (paused) close(); else lead();
}

// -- the stream ----------------------------------------------------------------------------------

function open(free) {
  const mark = memory.get(place);
  source = new EventSource(mark ? `${address}?after=${encodeURIComponent(mark)}` : address);
  source.addEventListener("change", ({ data, lastEventId }) => {
    const row = JSON.parse(data);
    memory.set(place, lastEventId);
    hear(row);
    channel.postMessage(row);
  });
  source.addEventListener("error", () => {
    if (source?.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    memory.set(place, ""); // a position that is no longer one: begin with what comes
    setTimeout(() => { free(); lead(); }, AGAIN);
  });
}

function close() {
  source?.close();
  source = null;
  release?.();
  release = null;
}

/** Waits to become the tab that holds the stream, as long as this one is looked at. */
function lead() {
  if (source || release || paused || document.hidden) return;
  const waiting = new AbortController();
  release = () => waiting.abort();
  navigator.locks?.request(`svc-live:${home}`, { signal: waiting.signal }, () => new Promise((free) => {
    release = free;
    open(() => { close(); free(); });
  })).catch(() => { /* given up before it was our turn */ });
}

let hidden;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hidden);
  if (document.hidden) hidden = setTimeout(close, HIDDEN); else lead();
});
channel.addEventListener("message", ({ data }) => hear(data));
addEventListener("pagehide", close);
addEventListener("pageshow", ({ persisted }) => { if (persisted) lead(); });
show();
lead();
