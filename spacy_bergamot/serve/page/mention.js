// The view of a mention: its candidates with scores, what was dropped, and why it is not linked.

import { ask } from "./api.js";
import { byId, linkTo, make, percent, table } from "./dom.js";
import { groupName, languageName, languageTag } from "./info.js";

const NIL = "NIL";
const BY = { exact: "same name", lexical: "3-grams", dense: "language model" };
const SHOWN = 10;

export async function showMention(entity, context, options, signal) {
  const found = await ask("v1/explain", {
    mention: entity.text, label: entity.label, context, ...options,
  }, signal);
  const parts = [
    make("h2", { text: `“${entity.text}”`, dir: "auto" }),
    make("p", { class: "quiet", text: [groupName(entity.label), ...(entity.attributes ?? [])].join(" · ") }),
    decision(found),
  ];
  if (found.looked_up !== entity.text.toLowerCase()) {
    parts.push(make("p", { class: "quiet", text: `Looked up as “${found.looked_up}”`, dir: "auto" }));
  }
  if (found.candidates.length) {
    const calibrated = found.candidates.some((one) => one.probability !== undefined);
    const heads = [["Concept"], ["By the name"], ["Score", "number"]];
    if (calibrated) heads.push(["Probability", "number"]);
    parts.push(make("h3", { text: "Candidates" }),
      table(heads, found.candidates.map((one) => candidate(one, found.decision, calibrated))));
  }
  if (found.dropped.length) parts.push(...dropped(found.dropped));
  byId("view").replaceChildren(...parts);
}

function decision(found) {
  if (found.decision === NIL) {
    return make("p", { class: "decision nil", text: `Not linked: ${found.reason}.` });
  }
  const best = found.candidates.find((one) => one.concept_id === found.decision);
  return make("p", { class: "decision" }, "Linked to ", linkTo(best.concept_id, best.name));
}

function candidate(one, chosen, calibrated) {
  const parts = Object.entries(one.scores)
    .map(([name, value]) => `${BY[name] ?? name} ${value.toFixed(3)}`).join("\n");
  const probability = () => make("td", { class: "number" },
    make("meter", { min: 0, max: 1, value: one.probability, "aria-hidden": "true" }),
    ` ${percent(one.probability)}`);
  return make("tr", { class: one.concept_id === chosen ? "chosen" : "" },
    make("td", {}, linkTo(one.concept_id, one.name), make("small", { text: one.concept_id })),
    make("td", {}, make("span", { text: one.alias, dir: "auto", lang: languageTag(one.language) }),
      make("small", { text: `${languageName(one.language)}, ${one.source}` })),
    make("td", { class: "number", title: parts, text: one.score.toFixed(3) }),
    ...(calibrated ? [probability()] : []));
}

function dropped(all) {
  const items = all.slice(0, SHOWN).map((one) => make("li", {},
    linkTo(one.concept_id, one.name),
    make("small", { text: ` ${one.score.toFixed(3)}, ${one.reason}` })));
  const more = all.length - items.length;
  const rest = more > 0 ? [make("p", { class: "quiet", text: `and ${more} more` })] : [];
  return [make("h3", { text: "Dropped by filters" }), make("ul", {}, ...items), ...rest];
}
