// The note: linked while it is typed, its mentions marked, its concepts listed.

import { Problem, ask } from "./api.js";
import { byId, linkTo, make, percent, table } from "./dom.js";
import { groupName, hueOf, languageNames } from "./info.js";

const PAUSE = 300; // milliseconds without a key
const AGAIN = 3000; // milliseconds until a service that did not answer is asked again
const NIL = "NIL";

export const shown = { text: "", ents: [], answer: null };
let timer;
let running;

export function options() {
  const chosen = [...document.querySelectorAll("input[name=group]:checked")].map((one) => one.value);
  const wanted = { semantic_groups: chosen };
  if (byId("language").value) wanted.language = byId("language").value;
  if (byId("aliases").value) wanted.languages = [byId("aliases").value];
  const least = byId("least");
  if (least.value !== "" && least.checkValidity()) wanted.min_probability = Number(least.value);
  return wanted;
}

export function linkSoon(pause = PAUSE) {
  clearTimeout(timer);
  byId("linked").classList.add("stale");
  timer = setTimeout(link, pause);
}

export async function link() {
  clearTimeout(timer);
  running?.abort();
  running = new AbortController();
  const text = byId("note").value;
  const wanted = options();
  const filters = wanted.semantic_groups.length + Boolean(wanted.languages) + ("min_probability" in wanted);
  byId("filtered").textContent = filters ? `(${filters} set)` : "";
  if (!text.trim()) {
    draw("", null, { ents: [] });
    say("");
    return;
  }
  try {
    const answer = await ask("v1/link", { text, candidates: true, ...wanted }, running.signal);
    const [document_] = answer.documents;
    if (document_.error) throw new Problem(500, document_.error);
    draw(text, answer, document_);
    const linked = document_.ents.filter((one) => one.kb_id !== NIL).length;
    const many = document_.ents.length;
    say(many ? `${many} ${many > 1 ? "mentions" : "mention"}, ${linked} linked`
      : `No mention found. There are names in: ${languageNames().join(", ")}.`);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === 503) linkSoon(1000 * (error.retryAfter || 1));
    if (error.status === 0) linkSoon(AGAIN);
    if (error.status === 401) byId("key-form").hidden = false;
    say(error.message, true);
  }
}

function say(text, bad = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("bad", bad);
}

function draw(text, answer, found) {
  Object.assign(shown, { text, ents: found.ents, answer });
  const box = byId("linked");
  box.classList.remove("stale");
  box.replaceChildren(...marked(text, found.ents));
  const labels = [...new Set(found.ents.map((one) => one.label))];
  byId("legend").replaceChildren(...labels.map((label) => make("li", {},
    make("span", { class: `swatch ${hueOf(label)}`, "aria-hidden": "true" }), groupName(label))));
  if (found.ents.some((one) => one.kb_id === NIL)) {
    byId("legend").append(make("li", { text: "dashed: not linked" }));
  }
  byId("list").replaceChildren(...concepts(found.ents));
  byId("list-title").hidden = !byId("list").childElementCount;
  byId("copy").hidden = !answer || !navigator.clipboard;
}

/** Return the text in pieces. Offsets count code points; strings here count UTF-16 units. */
function marked(text, ents) {
  const points = Array.from(text);
  const part = (start, end) => points.slice(start, end).join("");
  const pieces = [];
  let at = 0;
  ents.forEach((entity, number) => {
    if (entity.start < at) return; // one that overlaps another
    pieces.push(part(at, entity.start), mention(entity, number));
    if (entity.name && entity.name.toLowerCase() !== entity.text.toLowerCase()) {
      pieces.push(make("span", { class: `name ${hueOf(entity.label)}`, text: entity.name, dir: "auto", "aria-hidden": "true" }));
    }
    at = entity.end;
  });
  pieces.push(part(at));
  return pieces;
}

function mention(entity, number) {
  const nil = entity.kb_id === NIL;
  const best = entity.candidates?.[0];
  const sure = !nil && best?.probability !== undefined ? `, ${percent(best.probability)}` : "";
  const about = entity.attributes?.length ? `, ${entity.attributes.join(", ")}` : "";
  const said = `${nil ? "not linked" : `${entity.name} ${entity.kb_id}${sure}`}${about}`;
  return make("a", {
    class: `mention ${hueOf(entity.label)}${nil ? " nil" : ""}`, href: `#mention=${number}`,
    title: said, "aria-label": `${entity.text}: ${said}`, text: entity.text,
  });
}

function concepts(ents) {
  const byId_ = new Map();
  for (const entity of ents) {
    if (entity.kb_id === NIL) continue;
    const known = byId_.get(entity.kb_id) ?? { ...entity, texts: new Map(), probability: undefined };
    const about = entity.attributes?.length ? ` (${entity.attributes.join(", ")})` : "";
    const text = entity.text + about;
    known.texts.set(text, (known.texts.get(text) ?? 0) + 1);
    const best = entity.candidates?.[0]?.probability;
    if (best !== undefined) known.probability = Math.max(best, known.probability ?? 0);
    byId_.set(entity.kb_id, known);
  }
  if (!byId_.size) return [];
  const calibrated = [...byId_.values()].some((one) => one.probability !== undefined);
  const sure = (one) => make("td", { class: "number", text: percent(one.probability) });
  const rows = [...byId_.values()].map((one) => {
    const texts = [...one.texts].map(([text, times]) => (times > 1 ? `${text} ×${times}` : text));
    return make("tr", {},
      make("td", {}, linkTo(one.kb_id, one.name ?? one.kb_id), make("small", { text: one.kb_id })),
      make("td", { text: texts.join(", "), dir: "auto" }), ...(calibrated ? [sure(one)] : []));
  });
  const heads = [["Concept"], ["In the note"], ...(calibrated ? [["Probability", "number"]] : [])];
  return [table(heads, rows)];
}
