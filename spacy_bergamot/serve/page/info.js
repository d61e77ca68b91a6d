// What is served: asked once, when the page opens.

import { ask } from "./api.js";
import { byId, make, option } from "./dom.js";
import { EXAMPLES } from "./examples.js";

let languages = {};
let groups = {};

export const languageName = (code) => languages[code]?.name ?? (code || "No language");
export const languageNames = () => Object.values(languages).filter((one) => one.iso).map((one) => one.name);
export const languageTag = (code) => languages[code]?.iso ?? undefined;
/** The code of a language by either code; nothing for one of which no name is known. */
export const codeOf = (given) =>
  Object.values(languages).find((one) => one.code === given || one.iso === given)?.code ?? "";
export const groupName = (id) => groups[id]?.name ?? id;
/** The class of a group's colour: that of its place among the groups, by frequency. */
export const hueOf = (id) => `c${(groups[id]?.place ?? 7) % 8}`;

export async function loadInfo() {
  const info = await ask("v1/info");
  languages = Object.fromEntries(info.languages.map((one) => [one.code, one]));
  groups = Object.fromEntries(info.semantic_groups.map((one, place) => [one.id, { ...one, place }]));
  const count = (number) => number.toLocaleString("en");
  byId("about").textContent =
    `${info.pipeline} · ${count(info.provenance.concepts)} concepts · ` +
    `${count(info.provenance.aliases)} names in ${info.languages.length} languages`;
  const known = info.languages.filter((one) => one.iso && one.code);
  for (const id of ["language", "aliases"]) {
    byId(id).replaceChildren(byId(id).firstElementChild, ...known.map((one) => option(one.code, one.name)));
  }
  const first = byId("example").firstElementChild;
  const examples = known.filter((one) => EXAMPLES[one.code]);
  byId("example").replaceChildren(first, ...examples.map((one) => option(one.code, one.name)));
  byId("groups").replaceChildren(byId("groups").firstElementChild, ...info.semantic_groups.map((one) =>
    make("label", { class: "check", title: `${count(one.count)} concepts` },
      make("input", { type: "checkbox", value: one.id, name: "group" }),
      make("span", { class: `swatch ${hueOf(one.id)}`, "aria-hidden": "true" }),
      make("span", { text: one.name }))));
  byId("least").disabled = !info.calibrated;
  byId("least").placeholder = info.settings.min_probability?.toFixed(2) ?? "none";
  return info;
}
