// The start page: what to play, and against whom.

import { byId, el, forgetGame, picture, recentGames, request } from "/page/page.js";

const GROUPS = [
  ["given", "Given at the start"],
  ["easy", "Easy"],
  ["medium", "Medium"],
  ["strong", "Strong"],
  ["strongest", "Strongest"],
];

let menu = null;
const chosen = { opponents: [] };

/** Radio buttons that look like buttons. */
function choices(place, name, options, value, change) {
  byId(place).replaceChildren(
    ...options.map(([key, text]) => el(
      "label",
      { class: "choice" },
      el("input", { type: "radio", name, value: key, checked: key === value, change: () => change(key) }),
      el("span", {}, text),
    )),
  );
}

const game = () => menu.games.find((each) => each.name === chosen.game);

function chooseGame(name) {
  chosen.game = name;
  byId("sheet").textContent = game().sheet;
  const { players } = game();
  choosePlayers(players.includes(chosen.numPlayers) ? chosen.numPlayers : players[0]);
}

function choosePlayers(number) {
  chosen.numPlayers = number;
  choices("players", "players", game().players.map((each) => [each, `${each}`]), number, choosePlayers);
  if (!(chosen.seat < number)) chosen.seat = 0;
  const seats = [...Array(number).keys()].map((seat) => [seat, `${seat}`]);
  choices("seats", "seat", seats, chosen.seat, (seat) => { chosen.seat = seat; });
  showOpponents();
}

function titleOf(step) {
  if (game().teams) return ["Opponent, after you", "Your partner", "Opponent, before you"][step];
  if (chosen.numPlayers === 2) return "Opponent";
  return ["First opponent, after you", "Second opponent", "Third opponent"][step];
}

function showOpponents() {
  const agents = menu.agents.filter((agent) => agent.plays.includes(`${chosen.game} ${chosen.numPlayers}`));
  const names = agents.map((agent) => agent.name);
  const { against } = menu.first;
  const boxes = [];
  for (let step = 0; step < chosen.numPlayers - 1; step += 1) {
    const wanted = [chosen.opponents[step], against[Math.min(step, against.length - 1)], "flexible"];
    const name = wanted.find((each) => names.includes(each)) ?? names[0];
    boxes.push(opponentBox(step, agents, name));
  }
  byId("opponents").replaceChildren(...boxes);
}

function opponentBox(step, agents, name) {
  const groups = GROUPS.map(([key, title]) => [title, agents.filter((agent) => agent.strength === key)]);
  const note = el("span", { class: "note", id: `opponent-note-${step}` });
  const select = el(
    "select",
    { id: `opponent-${step}`, "aria-describedby": note.id, change: () => tell(select.value) },
    ...groups.filter(([, members]) => members.length).map(([title, members]) => el(
      "optgroup",
      { label: title },
      ...members.map((agent) => el("option", { value: agent.name, selected: agent.name === name }, agent.name)),
    )),
  );
  const tell = (value) => {
    chosen.opponents[step] = value;
    note.textContent = agents.find((agent) => agent.name === value).meaning;
  };
  tell(name);
  return el("label", { class: "field", for: select.id }, titleOf(step), select, note);
}

function showRecent() {
  const games = recentGames();
  byId("recent").hidden = games.length === 0;
  byId("recent-list").replaceChildren(...games.map((each) => el(
    "li",
    {},
    el("a", { href: `/game/${encodeURIComponent(each.id)}` }, el("strong", {}, each.title ?? "A game"), el("span", {}, each.text ?? "")),
    el("button", {
      class: "quiet",
      "aria-label": `Take ${each.title ?? "the game"} off this list`,
      click: () => { forgetGame(each.id); showRecent(); },
    }, "✕"),
  )));
}

async function deal(event) {
  event.preventDefault();
  const button = byId("deal");
  button.disabled = true;
  button.textContent = "Dealing …";
  byId("error").hidden = true;
  const seed = byId("seed").value.trim();
  try {
    const { id } = await request("/api/games", {
      game: chosen.game,
      num_players: chosen.numPlayers,
      seat: chosen.seat,
      opponents: chosen.opponents.slice(0, chosen.numPlayers - 1),
      episode: document.querySelector("input[name=episode]:checked").value,
      seed: seed === "" ? null : seed,
    });
    location.assign(`/game/${id}`);
  } catch (error) {
    fail(error);
  }
}

function fail(error) {
  byId("error").textContent = error.message;
  byId("error").hidden = false;
  byId("deal").disabled = false;
  byId("deal").textContent = "Deal the tiles";
}

async function begin() {
  showRecent();
  byId("form").addEventListener("submit", deal);
  window.addEventListener("pageshow", () => { byId("deal").disabled = menu === null; byId("deal").textContent = "Deal the tiles"; showRecent(); });
  try {
    menu = await request("/api/menu");
  } catch (error) {
    fail(error);
    return;
  }
  byId("picture").replaceChildren(picture(menu.picture));
  chosen.numPlayers = menu.first.num_players;
  chosen.seat = 0;
  choices("games", "game", menu.games.map((each) => [each.name, each.short]), menu.first.game, chooseGame);
  chooseGame(menu.first.game);
  byId("deal").disabled = false;
}

begin();
