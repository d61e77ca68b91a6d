// The search box: a list of concepts while somebody types, by arrow keys, Enter and Escape.

import { ask } from "./api.js";
import { byId, make } from "./dom.js";
import { languageName } from "./info.js";

const PAUSE = 150;
let timer;
let running;

export function startSearch(go) {
  const input = byId("search");
  const list = byId("found");
  const chosen = () => list.querySelector("[aria-selected=true]");

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(item) {
    chosen()?.setAttribute("aria-selected", "false");
    item.setAttribute("aria-selected", "true");
    input.setAttribute("aria-activedescendant", item.id);
    item.scrollIntoView({ block: "nearest" });
  }

  function open(item) {
    close();
    go(item.dataset.id);
  }

  async function look() {
    running?.abort();
    running = new AbortController();
    const text = input.value.trim();
    if (!text) return close();
    try {
      const found = await ask(`v1/search?limit=12&q=${encodeURIComponent(text)}`, undefined, running.signal);
      list.replaceChildren(...found.concepts.map(row));
      if (!found.concepts.length) list.replaceChildren(remark("Nothing is named so."));
    } catch (error) {
      if (error.name === "AbortError") return;
      list.replaceChildren(remark(error.message));
    }
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  const remark = (text) => make("li", { text, role: "presentation" });

  function row(one, number) {
    const where = one.language ? languageName(one.language) : "id";
    const other = one.alias === one.name ? where : `${one.name} · ${where}`;
    const item = make("li", { role: "option", id: `found-${number}`, "aria-selected": "false", "data-id": one.id },
      make("span", { text: one.alias, dir: "auto" }), " ", make("small", { text: `${other} · ${one.id}` }));
    item.addEventListener("mousedown", (event) => { event.preventDefault(); open(item); });
    return item;
  }

  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, PAUSE); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll("[role=option]")];
    const at = items.indexOf(chosen());
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" && items.length) choose(items[(at + 1) % items.length]);
    else if (event.key === "ArrowUp" && items.length) choose(items[(at + items.length - (at < 0 ? 0 : 1)) % items.length]);
    else return;
    event.preventDefault();
  });
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const item = chosen() ?? list.querySelector("[role=option]");
    if (item && !list.hidden) open(item);
    else look();
  });
}
