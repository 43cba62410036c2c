// What both pages share: elements, requests, and which games this browser has played.

const RECENT = "dominoes-games";
const MOST_RECENT = 12;

/** An element: attributes, properties given by a leading dot, listeners as functions, children. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A picture that the server has drawn, as an element. */
export function picture(svg) {
  const parsed = new DOMParser().parseFromString(
    svg.replace("<svg ", svg.includes("xmlns=") ? "<svg " : '<svg xmlns="http://www.w3.org/2000/svg" '),
    "image/svg+xml",
  );
  return document.importNode(parsed.documentElement, true);
}

export const byId = (id) => document.getElementById(id);

/** A request's answer; an Error with .status if it is refused, without one if the server does not answer. */
export async function request(path, data = undefined) {
  const options = data === undefined ? {} : {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(data),
  };
  let answer;
  try {
    answer = await fetch(path, { ...options, cache: "no-store" });
  } catch {
    throw new Error("The server does not answer. Is dominoes web still running?");
  }
  const told = await answer.json().catch(() => ({}));
  if (answer.ok) return told;
  const error = new Error(told.error ?? `The server answers ${answer.status}.`);
  error.status = answer.status;
  throw error;
}

// This browser's own games: their ids are known to nobody else.

export function recentGames() {
  try {
    const games = JSON.parse(localStorage.getItem(RECENT) ?? "[]");
    return Array.isArray(games) ? games.filter((game) => game && typeof game.id === "string") : [];
  } catch {
    return [];
  }
}

export function rememberGame(game) {
  const others = recentGames().filter((other) => other.id !== game.id);
  keep([game, ...others].slice(0, MOST_RECENT));
}

export function forgetGame(id) {
  keep(recentGames().filter((game) => game.id !== id));
}

function keep(games) {
  try {
    localStorage.setItem(RECENT, JSON.stringify(games));
  } catch {
    // a browser that keeps nothing plays as well
  }
}
