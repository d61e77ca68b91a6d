// The view of a concept: names by language, codes, parents and children.

import { ask } from "./api.js";
import { byId, linkTo, make } from "./dom.js";
import { languageName, languageTag } from "./info.js";

const SHOWN = 8;

export async function showConcept(id, signal) {
  const path = id.split("/").map(encodeURIComponent).join("/");
  const found = await ask(`v1/concepts/${path}`, undefined, signal);
  const parts = [
    make("h2", { text: found.name, dir: "auto" }),
    make("p", { class: "quiet" }, make("code", { text: found.id })),
    make("p", {}, ...[...found.groups, ...found.types].map((one) =>
      make("span", { class: "chip", text: one.name, title: one.id }))),
  ];
  if (found.definition) parts.push(make("p", { text: found.definition, dir: "auto" }));
  parts.push(make("h3", { text: "Names" }), names(found.names));
  if (Object.keys(found.codes).length) parts.push(make("h3", { text: "Codes" }), codes(found.codes));
  parts.push(...relatives("Broader", found.parents, found.parents.length));
  parts.push(...relatives("Narrower", found.children, found.children_in_all));
  byId("view").replaceChildren(...parts);
}

function names(byLanguage) {
  const list = make("dl");
  const order = Object.keys(byLanguage).sort((a, b) => languageName(a).localeCompare(languageName(b)));
  for (const language of order) {
    const items = byLanguage[language].map((one) =>
      make("li", { dir: "auto", lang: languageTag(language), title: one.sources.join(", "), text: one.name }));
    list.append(make("dt", { text: languageName(language) }), make("dd", {}, ...shortened(items)));
  }
  return list;
}

function codes(bySource) {
  const list = make("dl");
  for (const [source, of] of Object.entries(bySource)) {
    const items = of.map((code) => make("li", {}, make("code", { text: code })));
    list.append(make("dt", { text: source }), make("dd", {}, ...shortened(items)));
  }
  return list;
}

function relatives(title, concepts, inAll) {
  if (!concepts.length) return [];
  const items = concepts.map((one) => make("li", {}, linkTo(one.id, one.name)));
  const more = inAll - concepts.length;
  const rest = more > 0 ? [make("p", { class: "quiet", text: `and ${more} more` })] : [];
  return [make("h3", { text: `${title} (${inAll})` }), ...shortened(items, 20), ...rest];
}

/** Return a list whose end is folded away. */
function shortened(items, most = SHOWN) {
  const parts = [make("ul", { class: "names" }, ...items.slice(0, most))];
  if (items.length > most) {
    const more = `${items.length - most} more`;
    parts.push(make("details", {}, make("summary", { text: more }),
      make("ul", { class: "names" }, ...items.slice(most))));
  }
  return parts;
}
