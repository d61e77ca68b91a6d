// Elements are made here alone, and all text of them by textContent: a note may hold anything.

export const byId = (id) => document.getElementById(id);

/** Make an element. `what.text` is its text, other keys are properties or attributes. */
export function make(tag, what = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(what)) {
    if (key === "text") element.textContent = value;
    else if (key === "class") element.className = value;
    else if (value !== undefined && value !== null) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

export const option = (value, text) => make("option", { value, text });

export function table(heads, rows) {
  const head = heads.map(([text, kind]) => make("th", { text, scope: "col", class: kind ?? "" }));
  return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
}

export const linkTo = (id, text) =>
  make("a", { href: `#concept=${encodeURIComponent(id)}`, text, dir: "auto" });

export const percent = (value) => {
  const whole = Math.floor(value * 100);
  return whole === 0 && value > 0 ? "<1 %" : `${whole} %`;
};
