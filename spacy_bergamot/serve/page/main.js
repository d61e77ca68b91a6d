// The page: what is typed, chosen and addressed. #text=…&language=es fills in a note, #concept=ID and
// #mention=3 open a view, #text=…&mention=0 does both; what is behind the # is never sent as it is.

import { setKey } from "./api.js";
import { showConcept } from "./concept.js";
import { byId, make } from "./dom.js";
import { EXAMPLES } from "./examples.js";
import { codeOf, loadInfo } from "./info.js";
import { showMention } from "./mention.js";
import { link, linkSoon, options, shown } from "./note.js";
import { startSearch } from "./search.js";

let running;
const prompt = [...byId("view").childNodes];

const address = () => new URLSearchParams(location.hash.slice(1));

async function route() {
  running?.abort();
  running = new AbortController();
  const at = address();
  const entity = at.has("mention") ? shown.ents[Number(at.get("mention"))] : undefined;
  document.querySelectorAll(".mention[aria-current]").forEach((one) => one.removeAttribute("aria-current"));
  try {
    if (at.has("concept")) await showConcept(at.get("concept"), running.signal);
    else if (entity) {
      document.querySelector(`.mention[href="#mention=${Number(at.get("mention"))}"]`)?.setAttribute("aria-current", "true");
      await showMention(entity, shown.text, options(), running.signal);
    } else return;
    byId("detail").scrollTop = 0;
    byId("detail").focus({ preventScroll: matchMedia("(min-width: 62rem)").matches });
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("view").replaceChildren(make("p", { class: "bad", text: error.message }));
  }
}

function example(code) {
  byId("note").value = EXAMPLES[code];
  byId("language").value = code;
  linkSoon(0);
}

async function start() {
  try {
    await loadInfo();
  } catch (error) {
    byId("key-form").hidden = error.status !== 401;
    if (error.status !== 401) {
      byId("status").textContent = error.message;
      byId("status").classList.add("bad");
    }
    return;
  }
  byId("key-form").hidden = true;
  await addressed();
}

/** Close the view of a mention: another text may not have it. */
function closeMention() {
  if (!address().has("mention")) return;
  history.replaceState(null, "", location.pathname);
  byId("view").replaceChildren(...prompt);
}

/** Fill in the note that the address has, and open what it names. */
async function addressed() {
  const at = address();
  if (at.has("text")) byId("note").value = at.get("text");
  if (at.has("language")) byId("language").value = codeOf(at.get("language"));
  const code = codeOf(at.get("example"));
  if (EXAMPLES[code]) example(code);
  if (["text", "language", "example"].some((key) => at.has(key)) || !shown.answer) await link();
  route();
}

byId("note").addEventListener("input", () => {
  closeMention();
  linkSoon();
});
for (const id of ["language", "aliases", "least", "groups"]) {
  byId(id).addEventListener("change", () => linkSoon(0));
}
byId("example").addEventListener("change", (event) => {
  closeMention();
  if (event.target.value) example(event.target.value);
  event.target.value = "";
});
byId("clear").addEventListener("click", () => {
  closeMention();
  byId("note").value = "";
  byId("note").focus();
  linkSoon(0);
});
byId("names").addEventListener("change", (event) => {
  document.body.classList.toggle("no-names", !event.target.checked);
});
byId("copy").addEventListener("click", async () => {
  await navigator.clipboard.writeText(JSON.stringify(shown.answer, null, 1));
  byId("status").textContent = "Copied.";
});
byId("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  setKey(byId("key").value.trim());
  start();
});
addEventListener("hashchange", addressed);
addEventListener("click", (event) => { // an address that is there already makes no change
  if (event.target.closest("a")?.hash === (location.hash || undefined)) route();
});
byId("detail").addEventListener("keydown", (event) => {
  if (event.key === "Escape") (document.querySelector(".mention[aria-current]") ?? byId("note")).focus();
});
startSearch((id) => { location.hash = `concept=${encodeURIComponent(id)}`; });
start();
