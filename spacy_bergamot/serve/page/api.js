// The service's answers. A key is kept in this tab's memory alone.

let key = "";
export const setKey = (value) => { key = value; };

export class Problem extends Error {
  constructor(status, message, retryAfter) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export async function ask(path, body, signal) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const how = { headers, signal };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    Object.assign(how, { method: "POST", body: JSON.stringify(body) });
  }
  let answer;
  try {
    answer = await fetch(path, how);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, "The service does not answer.");
  }
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const wait = Number(answer.headers.get("retry-after")) || 0;
  throw new Problem(answer.status, said.error ?? `The service answers ${answer.status}.`, wait);
}
