// Every key of the dashboard. Listener, sheet and tooltips are read from this one table.
//
// A row: keys (one after the other), what they do, the act of shell.js. A row without an act presses the link or
// button of the page that bears these keys (`data-key`); where a page has none, they do nothing. What opens the
// menu's pages and forms (`g r`, `c k`) is listed by the server, by what the person may do.

const OWN = [
  ["mod+k", "Search or go to", "palette"],
  ["/", "Search or go to", "palette"],
  ["?", "All keys", "sheet"],
  ["j", "Next row", "next"],
  ["k", "Previous row", "previous"],
  ["o", "Open the row", "open"],
  ["Enter", "Open the row", "open"],
  ["x", "Select the row", "select"],
  ["e", "Edit"],
  [".", "Raw JSON"],
  ["y", "Copy link", "link"],
  ["[", "Previous of the list"],
  ["]", "Next of the list"],
  ["t", "Colours", "theme"],
  ["Escape", "Back, or close", "back"],
];
const PAUSE = 900; // milliseconds between two keys that belong together

const jumps = document.querySelector("#jumps")?.content.querySelectorAll("a") ?? [];
const jump = (link) => [link.dataset.key, link.textContent, "go", link.getAttribute("href")];
export const KEYS = [...OWN, ...[...jumps].map(jump)];

/** Whether keys of one letter act: they can be switched off (WCAG 2.1.4). */
export const single = {
  get on() { try { return localStorage.getItem("keys") !== "off"; } catch { return true; } },
  set on(value) { try { localStorage.setItem("keys", value ? "on" : "off"); } catch { /* for this page alone */ } },
};

// A field that was closed over has the focus until the page is drawn again: nobody types in it.
const typing = (target) => target.checkVisibility() && target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
const busy = () => document.querySelector("dialog[open], :popover-open");

/** Calls the act of each key that is pressed; an act that returns false leaves the key to the browser. */
export function listen(acts) {
  let before = "", at = 0;
  addEventListener("keydown", (event) => {
    const { key, target, altKey } = event, mod = event.metaKey || event.ctrlKey;
    if (event.isComposing || altKey || (mod && key.toLowerCase() !== "k")) return;
    if (!mod && (typing(target) || busy() || !(single.on || ["Enter", "Escape"].includes(key)))) return;
    const pressed = mod ? "mod+k" : event.timeStamp - at < PAUSE && before ? `${before} ${key}` : key;
    before = KEYS.some(([keys]) => keys.startsWith(`${key} `)) ? key : "";
    at = event.timeStamp;
    const row = KEYS.find(([keys]) => keys === pressed);
    const bearer = document.querySelector(`[data-key="${CSS.escape(pressed)}"]:not(template *)`);
    const [, , act, detail] = row ?? [];
    if (act ? acts[act](detail) === false : !bearer || bearer.click()) return;
    event.preventDefault();
  });
}
