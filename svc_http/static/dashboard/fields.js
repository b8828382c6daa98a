// Fields of forms: an id is picked from what a search finds, changes are marked, and not lost by leaving the page.

import { $$, icon, make } from "./shell.js";

const WAIT = 150, SHORTEST = 2; // milliseconds, characters
const address = document.body.dataset.palette;

const isId = (text, prefixes) => prefixes.some((prefix) => text.startsWith(`${prefix}_`));

/** The rows of these kinds (prefixes of their ids) that a search finds. */
async function search(q, prefixes, signal) {
  const answer = await fetch(`${address}?${new URLSearchParams({ q })}`, { signal });
  const { entries } = answer.ok ? await answer.json() : { entries: [] };
  return entries.filter(({ id }) => id && isId(id, prefixes));
}

/** Makes a combobox of a text input: `take` gets the id of the row that is chosen. */
function combobox(input, prefixes, take) {
  const list = make("ul", { class: "choices", role: "listbox", id: `${input.id}-list`, "aria-label": "Rows" });
  let rows = [], chosen = -1, asked = new AbortController(), timer;
  list.hidden = true;
  input.after(list);
  const roles = { role: "combobox", "aria-controls": list.id, "aria-autocomplete": "list", "aria-expanded": "false" };
  for (const [name, value] of Object.entries(roles)) input.setAttribute(name, value);

  const choose = (at) => {
    chosen = at;
    [...list.children].forEach((option, index) => option.setAttribute("aria-selected", index === at));
    input.setAttribute("aria-activedescendant", list.children[at]?.id ?? "");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const close = () => { list.hidden = true; choose(-1); input.setAttribute("aria-expanded", "false"); };
  const accept = (row) => {
    take(row.id);
    close();
    input.dispatchEvent(new Event("input", { bubbles: true }));
    asked.abort();
  };
  const show = (entries) => {
    rows = entries;
    list.replaceChildren(...entries.map((row, at) => {
      const words = [make("span", { class: "cut" }, row.label), make("small", {}, row.id)];
      const option = make("li", { role: "option", id: `${list.id}-${at}` }, icon(row.picture), ...words);
      option.addEventListener("pointerdown", (event) => { event.preventDefault(); accept(row); });
      return option;
    }));
    list.hidden = !entries.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    choose(-1);
  };
  input.addEventListener("input", () => {
    asked.abort();
    clearTimeout(timer);
    const text = input.value.trim();
    if (text.length < SHORTEST || isId(text, prefixes)) { close(); return; }
    asked = new AbortController();
    const { signal } = asked;
    timer = setTimeout(async () => {
      const entries = await search(text, prefixes, signal).catch(() => []);
      if (!signal.aborted) show(entries);
    }, WAIT);
  });
  input.addEventListener("keydown", (event) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (list.hidden) return;
    if (move) choose((chosen + move + rows.length) % rows.length);
    else if (event.key === "Enter" && chosen >= 0) accept(rows[chosen]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
  input.addEventListener("blur", close);
}

if (address) {
  for (const input of $$("input[data-prefixes]")) {
    combobox(input, input.dataset.prefixes.split(" "), (id) => { input.value = id; });
  }
  for (const area of $$("textarea[data-prefixes]")) {
    const names = { class: "in", id: `${area.id}-add`, placeholder: "Search to add one", autocomplete: "off" };
    const input = make("input", names), prefixes = area.dataset.prefixes.split(" ");
    const add = (id) => {
      area.value = [...area.value.split("\n").filter(Boolean), id].join("\n");
      area.hidden = !area.value;
      input.value = "";
      area.dispatchEvent(new Event("input", { bubbles: true }));
    };
    area.labels[0].htmlFor = input.id;
    area.before(input);
    area.hidden = !area.value;
    combobox(input, prefixes, add);
    // An id that was typed whole is taken as it is.
    input.addEventListener("change", () => { if (isId(input.value.trim(), prefixes)) add(input.value.trim()); });
  }
}

// -- an interval by its length -------------------------------------------------------------------

const PRESETS = [["24 h", 1], ["7 days", 7], ["30 days", 30]];
const text = (at) => new Date(at).toISOString().slice(0, 19);
for (const group of $$('[data-kind="interval"]')) {
  const [start, end] = $$("input", group);
  const buttons = PRESETS.map(([label, days]) => {
    const button = make("button", { type: "button", class: "chip" }, label);
    button.addEventListener("click", () => {
      [start.value, end.value] = [text(Date.now() - days * 86_400_000), text(Date.now())];
      start.dispatchEvent(new Event("input", { bubbles: true }));
      if (start.form?.matches(".filters")) start.form.requestSubmit();
    });
    return button;
  });
  group.append(make("span", { class: "row" }, ...buttons));
}

// -- a filter names what is set --------------------------------------------------------------------

for (const form of $$("main form[method=get]")) {
  form.addEventListener("formdata", ({ formData }) => {
    for (const name of new Set(formData.keys())) if (!formData.getAll(name).some(Boolean)) formData.delete(name);
  });
}

// -- what was changed ----------------------------------------------------------------------------

const differs = (field) => {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.options) return !(field.selectedOptions[0]?.defaultSelected ?? true) && field.selectedIndex > 0;
  return field.value !== field.defaultValue;
};
for (const form of $$("main form[method=post]")) {
  let sent = false;
  const changed = () => [...form.elements].filter((field) => field.name && field.type !== "hidden" && differs(field));
  form.addEventListener("input", ({ target }) => {
    target.closest(".field")?.classList.toggle("changed", differs(target));
  });
  form.addEventListener("submit", () => { sent = true; });
  addEventListener("beforeunload", (event) => { if (!sent && changed().length) event.preventDefault(); });
}
