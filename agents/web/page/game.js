// A game's page: what is asked of the server, and what the person does. All that is known of the game is what the
// server last said of it.

import { byId, el, forgetGame, picture, rememberGame, request } from "/page/page.js";
import {
  aimAt, showHand, showHead, showLog, showMoves, showOver, showSeats, showStatus, showTable, showWhere,
} from "/page/table.js";

const id = location.pathname.split("/").pop();
const api = `/api/games/${id}`;

let seen = null; // what the server last said
let hint = null;
let selected = null; // a tile that waits for its end
let end = null; // an end that waits for its tile
let isBusy = false; // a request is under way
let passed = 0; // the round whose end has been read
let timer = 0;
let columns = fittingColumns();

// What the server is asked.

function fittingColumns() {
  const width = Math.min(document.documentElement.clientWidth, 1400) - 24;
  const room = width > 950 ? width - 380 : width;
  return Math.max(11, Math.min(34, Math.floor(room / (room < 560 ? 27 : 33)) - 1));
}

async function ask(what, data = undefined) {
  if (isBusy) return;
  isBusy = true;
  clearTimeout(timer);
  const slow = setTimeout(() => say("Still thinking. The first time, the engine is compiled, which takes a minute."), 4000);
  refreshActions();
  try {
    const answer = await request(`${api}${what}?columns=${columns}`, data && { position: seen.position, ...data });
    say("");
    isBusy = false;
    if (what === "/hint") take({ ...seen }, answer);
    else take(answer, null);
  } catch (error) {
    isBusy = false;
    await recover(error);
  } finally {
    clearTimeout(slow);
    isBusy = false;
    refreshActions();
  }
}

/** After a refusal: what the server says now is what holds. */
async function recover(error) {
  say(error.message);
  if (error.status === 404 || error.status === 410) forgetGame(id);
  if (error.status === 409 || error.status === 422) {
    try {
      take(await request(`${api}?columns=${columns}`), null);
      say(error.message);
    } catch (again) {
      say(again.message);
    }
  }
}

function say(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

/** Something new is known. */
function take(answer, advice) {
  const hadFocus = focusPlace();
  hint = advice ?? (hint?.position === answer.position ? hint : null);
  seen = answer;
  selected = end = null;
  seen.pending = seen.round_over && (seen.is_over || passed !== seen.round_over.round) ? seen.round_over : null;
  if (seen.failure) say(seen.failure);
  show();
  restoreFocus(hadFocus);
  remember();
  goOn();
}

function remember() {
  const others = seen.seats.filter((seat) => !seat.is_you).map((seat) => seat.name).join(", ");
  const scores = seen.seats.map((seat) => seat.score).join(" : ");
  const state = seen.is_over ? "over" : `round ${seen.round}`;
  rememberGame({ id, title: seen.short, text: `${others} · ${scores} · ${state}` });
}

/** Others move by themselves, one move at a time, so that they can be watched. */
function goOn() {
  clearTimeout(timer);
  if (!seen.is_over && !seen.is_to_decide && !seen.pending) {
    timer = setTimeout(() => ask("/advance", {}), 1000 * seen.pace);
  }
}

// What is shown.

function show() {
  showHead(seen);
  showSeats(seen);
  showTable(seen);
  showLog(seen);
  showOver(seen, overButtons());
  showChoice();
  refreshActions();
}

function showChoice() {
  const moves = selected ? seen.moves.filter((move) => move.tile === selected) : [];
  showHand(seen, { selected, end, choose: chooseTile, refuse: refuseTile, aim });
  showWhere(selected, moves, { play, cancel, aim });
  showMoves(seen, hint, { play, aim });
  showStatus(seen, statusText());
  aim(null);
}

function statusText() {
  if (seen.pending) return "";
  if (!seen.is_to_decide) {
    const mover = seen.seats.find((seat) => seat.is_mover);
    return mover ? `${mover.name} is thinking …` : "";
  }
  if (selected) return `On which end does ${selected} go?`;
  if (end !== null) return `Which tile goes on the ${seen.ends.find((each) => each.end === end).name}?`;
  const [only] = seen.moves;
  if (only.word === "draw") return "Nothing fits. Draw a tile.";
  if (only.word === "pass") return "Nothing fits, and there is nothing to draw. Pass.";
  return seen.ends.length ? "Your move" : "You lead";
}

function overButtons() {
  if (!seen.pending) return [];
  if (!seen.is_over) return [el("button", { type: "button", class: "primary", id: "next", click: nextRound }, "Next round")];
  return [
    el("a", { class: "button primary", href: "/" }, "New game"),
    el("button", { type: "button", click: () => openReplay(0) }, "Step through the game"),
    el("a", { class: "button", href: `${api}/record`, download: "dominoes-record.txt" }, "Download the record"),
  ];
}

function refreshActions() {
  if (!seen) return;
  const words = seen.moves.map((move) => move.word);
  const may = seen.is_to_decide && !isBusy;
  const actions = [
    ["draw", "Draw a tile", words.includes("draw"), () => playWord("draw"), true],
    ["pass", "Pass", words.includes("pass"), () => playWord("pass"), true],
    ["hint", "Hint", may && seen.moves.length > 1, () => ask("/hint", {})],
    ["undo", "Undo", seen.can_undo && !isBusy, () => ask("/undo", {})],
    ["redo", "Redo", seen.can_redo && !isBusy, () => ask("/redo", {})],
  ];
  const place = document.activeElement?.id;
  byId("actions").replaceChildren(...actions
    .filter(([name, , can]) => can || !["draw", "pass", "redo"].includes(name))
    .map(([name, text, can, click, isMain]) => el("button", {
      type: "button", id: name, class: isMain ? "primary" : null, "aria-disabled": can && !isBusy ? null : "true",
      click: () => { if (can && !isBusy) click(); },
    }, isBusy && name === "hint" && seen.is_to_decide ? "Thinking …" : text)));
  if (place && byId("actions").contains(byId(place))) byId(place).focus();
  document.body.classList.toggle("busy", isBusy);
  byId("play").dataset.waits = isBusy ? "server" : waitsFor();
  byId("play").dataset.position = seen.position;
}

/** What is waited for: the person's move, or that he has read how a round ended, others, or nothing any more. */
function waitsFor() {
  if (seen.is_over) return "over";
  if (seen.pending) return "next";
  return seen.is_to_decide ? "move" : "others";
}

function aim(moves) {
  const fixed = selected ? seen.moves.filter((move) => move.tile === selected) : seen.moves.filter((move) => move.end === end && end !== null);
  aimAt(moves ?? (fixed.length ? fixed : null));
}

// What the person does.

function play(move) {
  if (seen.is_to_decide) ask("/move", { action: move.action });
}

function playWord(word) {
  const move = seen.moves.find((each) => each.word === word);
  if (move) play(move);
}

function chooseTile(tile, moves) {
  if (moves.length === 1) {
    play(moves[0]);
    return;
  }
  selected = selected === tile ? null : tile;
  end = null;
  showChoice();
  const first = byId("where").querySelector("button");
  (selected && first ? first : byId("hand").querySelector(`[data-tile="${tile}"]`)).focus({ preventScroll: true });
}

function refuseTile(tile) {
  byId("status").textContent = seen.is_to_decide ? `${tile} does not fit.` : statusText();
}

function chooseEnd(number) {
  if (!seen.is_to_decide) return;
  const moves = seen.moves.filter((move) => move.end === number && (!selected || move.tile === selected));
  if (moves.length === 1) play(moves[0]);
  else if (moves.length) {
    end = end === number ? null : number;
    showChoice();
  } else byId("status").textContent = "No tile of yours fits there.";
}

function cancel() {
  const tile = selected;
  selected = end = null;
  showChoice();
  byId("hand").querySelector(`[data-tile="${tile}"]`)?.focus();
}

function nextRound() {
  passed = seen.pending?.round ?? passed;
  seen.pending = null;
  show();
  restoreFocus("hand");
  goOn();
}

// Focus stays with what the person is doing, though all of it is drawn anew.

function focusPlace() {
  const active = document.activeElement;
  if (!active || active === document.body) return seen ? "hand" : "";
  return ["hand", "where", "actions", "moves", "over"].find((place) => byId(place).contains(active)) ?? "";
}

function restoreFocus(place) {
  if (!place || !byId("replay").hidden) return;
  if (seen.pending) byId("over-title").focus({ preventScroll: true });
  else if (place === "moves" && seen.is_to_decide) byId("moves").querySelector("button")?.focus({ preventScroll: true });
  else if (seen.is_to_decide) {
    const first = byId("hand").querySelector("button:not([aria-disabled])");
    (first ?? byId("draw") ?? byId("pass"))?.focus({ preventScroll: true });
  } else byId("hand").querySelector("button")?.focus({ preventScroll: true });
}

// Keys.

const KEYS = {
  h: () => byId("hint")?.click(),
  u: () => byId("undo")?.click(),
  r: () => byId("redo")?.click(),
  d: () => playWord("draw"),
  p: () => playWord("pass"),
  n: () => byId("next")?.click(),
};

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || !seen || !byId("play") || byId("play").hidden) return;
  if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) && byId("hand").contains(event.target)) {
    walk(event);
    return;
  }
  if (event.key === "Escape" && (selected || end !== null)) cancel();
  if (!byId("keys").checked || event.target.matches("input, select, textarea")) return;
  const number = "123456789".indexOf(event.key);
  if (number >= 0 && seen.is_to_decide && number < seen.moves.length) play(seen.moves[number]);
  else KEYS[event.key]?.();
}

function walk(event) {
  const tiles = [...byId("hand").querySelectorAll("button")];
  const place = tiles.indexOf(event.target);
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const next = step === undefined ? (event.key === "Home" ? 0 : tiles.length - 1) : (place + step + tiles.length) % tiles.length;
  tiles[next].focus();
  event.preventDefault();
}

// A game that is over, step by step.

let shown = -1;
let wanted = 0;
let isFetching = false;

function openReplay(number) {
  byId("play").hidden = true;
  byId("replay").hidden = false;
  byId("replay-slider").max = seen.result.num_positions - 1;
  go(number);
  byId("replay-slider").focus();
}

function closeReplay() {
  byId("replay").hidden = true;
  byId("play").hidden = false;
  restoreFocus("over");
}

async function go(number) {
  wanted = Math.max(0, Math.min(seen.result.num_positions - 1, number));
  byId("replay-slider").value = wanted;
  if (isFetching) return; // the last one wanted is shown in the end
  isFetching = true;
  try {
    while (shown !== wanted) {
      const number = wanted;
      const position = await request(`${api}/positions/${number}?columns=${Math.min(columns < 16 ? columns : columns + 10, 40)}`);
      byId("replay-picture").replaceChildren(picture(position.svg));
      byId("replay-text").textContent = position.text;
      byId("replay-slider").setAttribute("aria-valuetext", `${number + 1} of ${seen.result.num_positions}. ${position.text}`);
      shown = number;
    }
  } catch (error) {
    say(error.message);
  }
  isFetching = false;
}

// The beginning.

async function begin() {
  byId("table").addEventListener("click", (event) => {
    const place = event.target.closest("[data-end]");
    if (place) chooseEnd(Number(place.dataset.end));
  });
  document.addEventListener("keydown", pressed);
  byId("replay-close").addEventListener("click", closeReplay);
  byId("replay-slider").addEventListener("input", (event) => go(Number(event.target.value)));
  byId("replay-first").addEventListener("click", () => go(0));
  byId("replay-back").addEventListener("click", () => go(wanted - 1));
  byId("replay-next").addEventListener("click", () => go(wanted + 1));
  byId("replay-last").addEventListener("click", () => go(seen.result.num_positions - 1));
  let resizing = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      const fitting = fittingColumns();
      if (fitting === columns || isBusy) return;
      columns = fitting;
      shown = -1;
      if (byId("replay").hidden) ask("");
      else go(wanted);
    }, 200);
  });
  document.addEventListener("visibilitychange", () => { // another tab may have gone on with it
    if (document.visibilityState === "visible" && seen && !isBusy && !seen.is_over) ask("");
  });
  byId("play").hidden = false;
  await ask("");
}

begin();
