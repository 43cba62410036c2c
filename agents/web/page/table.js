// How a position looks: the parts of the game's page, made from what the server says of it.

import { byId, el, picture } from "/page/page.js";

const plural = (number, what) => `${number} ${what}${Math.abs(number) === 1 ? "" : "s"}`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

export function showHead(seen) {
  document.title = seen.is_to_decide ? `Your move · ${seen.short}` : seen.short;
  byId("title").textContent = seen.short;
  byId("length").textContent = `${capital(seen.length)} · round ${seen.round}`;
  byId("sheet").textContent = seen.sheet;
  byId("rules").textContent = seen.rules;
}

export function showSeats(seen) {
  const others = seen.seats.filter((seat) => !seat.is_you);
  byId("seats").replaceChildren(...others.map((seat) => el(
    "li",
    { class: `seat${seat.is_mover && !seen.pending ? " mover" : ""}` },
    el("div", { class: "seat-head" }, nameOf(seat), scoreOf(seat, seen)),
    seen.pending ? null : el(
      "div",
      { class: "tiles", role: "img", "aria-label": heldBy(seat) },
      ...seat.tiles.map((tile) => picture(tile.svg)),
      ...Array.from({ length: seat.num_hidden }, () => picture(seen.back)),
    ),
    el(
      "p",
      { class: "seat-foot" },
      seat.is_partner ? el("span", { class: "chip" }, "your partner") : null,
      seen.pending ? null : plural(seat.count, "tile"),
      seen.pending ? null : lackingOf(seat),
    ),
  )));
  const own = seen.seats[0];
  byId("own-head").replaceChildren(...[nameOf(own), lackingOf(own), scoreOf(own, seen)].filter(Boolean));
  byId("own").classList.toggle("mover", own.is_mover);
}

function heldBy(seat) {
  const shown = seat.tiles.map((tile) => tile.tile).join(", ");
  const hidden = `${plural(seat.num_hidden, "tile")} face down`;
  return shown ? `${shown}, and ${hidden}` : hidden;
}

function nameOf(seat) {
  return el("strong", { class: "name", title: seat.name }, capital(seat.name));
}

function scoreOf(seat, seen) {
  const share = Math.max(0, Math.min(1, seat.score / seen.target));
  const fresh = seat.round_points ? el("span", { class: "fresh" }, `${seat.round_points > 0 ? "+" : ""}${seat.round_points} this round`) : null;
  const meter = el("progress", { max: 100, value: Math.round(100 * share), "aria-label": `${plural(seat.score, "point")} of ${seen.target}` });
  return el("span", { class: "score" }, fresh, el("b", { title: plural(seat.score, "point") }, seat.score), meter);
}

function lackingOf(seat) {
  if (!seat.lacking.length) return null;
  return el("span", { class: "chip lacking" }, `${seat.is_you ? "you showed" : "has"} no ${seat.lacking.join(", ")}`);
}

export function showTable(seen) {
  const shown = seen.pending ?? seen;
  byId("table").replaceChildren(picture(shown.table));
  const facts = [];
  if (!seen.pending) {
    facts.push(el("span", {}, el("b", {}, seen.boneyard), " in the boneyard"));
    if (seen.ends.length) facts.push(el("span", {}, "ends ", el("b", {}, seen.ends.map((end) => end.number).join(" · "))));
    if (seen.count !== null && seen.ends.length) facts.push(el("span", {}, "count ", el("b", {}, seen.count)));
  }
  byId("facts").replaceChildren(...facts);
}

export function showStatus(seen, text) {
  byId("status").textContent = text;
  byId("own").setAttribute("aria-busy", String(!seen.is_to_decide && !seen.is_over));
}

/** The hand as buttons; choose(tile) is called for tiles that fit, refuse(tile) for others. */
export function showHand(seen, { selected, end, choose, refuse, aim }) {
  byId("hand").replaceChildren(...seen.seats[0].tiles.map(({ tile, svg }) => {
    const moves = seen.moves.filter((move) => move.tile === tile && (end === null || move.end === end));
    const fits = moves.length > 0;
    return el("button", {
      type: "button",
      class: `tile${fits ? "" : " unfit"}`,
      "data-tile": tile,
      "aria-label": tileLabel(tile, moves, seen),
      "aria-pressed": moves.length > 1 ? String(selected === tile) : null,
      "aria-disabled": fits ? null : "true",
      title: tileLabel(tile, moves, seen),
      click: () => (fits ? choose(tile, moves) : refuse(tile)),
      pointerenter: () => aim(moves),
      pointerleave: () => aim(null),
      focus: () => aim(moves),
      blur: () => aim(null),
    }, picture(svg));
  }));
}

function tileLabel(tile, moves, seen) {
  if (!seen.is_to_decide) return tile;
  if (!moves.length) return `${tile}, does not fit`;
  if (moves.length > 1) return `${tile}, fits ${moves.length} ends`;
  return labelOf(moves[0]);
}

export function labelOf(move) {
  return move.points ? `${move.label}, scores ${plural(move.points, "point")}` : move.label;
}

/** The ends that a chosen tile can be laid on. */
export function showWhere(tile, moves, { play, cancel, aim }) {
  byId("where").hidden = !tile;
  byId("where").replaceChildren(...(tile ? [
    el("span", { class: "where-title" }, `${tile} goes on the`),
    ...moves.map((move) => el("button", {
      type: "button",
      class: "primary",
      "aria-label": labelOf(move),
      click: () => play(move),
      pointerenter: () => aim([move]),
      pointerleave: () => aim(null),
      focus: () => aim([move]),
    }, move.label.replace(`${tile} on the `, ""), move.points ? el("b", { class: "points" }, ` +${move.points}`) : null)),
    el("button", { type: "button", click: cancel }, "Cancel"),
  ] : []));
}

/** The legal moves as a list of buttons, with what the hint thinks of them. */
export function showMoves(seen, hint, { play, aim }) {
  byId("choices").hidden = Boolean(seen.pending);
  byId("advice").textContent = hint ? hint.text : "";
  const opinions = new Map((hint?.moves ?? []).map((move) => [move.action, move]));
  const values = [...opinions.values()].map((move) => move.value ?? move.probability).filter((value) => value !== null);
  byId("moves").replaceChildren(...seen.moves.map((move, place) => {
    const opinion = opinions.get(move.action);
    const isBest = hint?.best === move.action;
    return el("li", {}, el(
      "button",
      {
        type: "button",
        class: isBest ? "best" : null,
        "aria-label": [labelOf(move), opinion ? spoken(opinion, isBest) : ""].filter(Boolean).join(", "),
        click: () => play(move),
        pointerenter: () => aim([move]),
        pointerleave: () => aim(null),
        focus: () => aim([move]),
        blur: () => aim(null),
      },
      el("span", { class: "number", "aria-hidden": "true" }, place + 1),
      el("span", { class: "label" }, capital(move.label), move.count ? el("small", { class: move.points ? "scores" : null }, move.count) : null),
      opinion ? opinionOf(opinion, isBest, values) : null,
    ));
  }));
}

function spoken(opinion, isBest) {
  const told = isBest ? ["the hint"] : [];
  if (opinion.value !== null) told.push(`worth ${opinion.value.toFixed(1)} points`);
  if (opinion.probability !== null) told.push(`played with ${Math.round(100 * opinion.probability)} percent`);
  return told.join(", ");
}

function opinionOf(opinion, isBest, values) {
  let text = isBest ? "★" : "";
  let share = null;
  if (opinion.value !== null) {
    const low = Math.min(...values);
    const range = Math.max(...values) - low;
    text = `${opinion.value >= 0 ? "+" : "−"}${Math.abs(opinion.value).toFixed(1)}`;
    share = range ? (opinion.value - low) / range : 1;
  } else if (opinion.probability !== null) {
    text = `${Math.round(100 * opinion.probability)} %`;
    share = opinion.probability;
  }
  return el(
    "span",
    { class: "opinion" },
    el("b", {}, text),
    share === null ? null : el("progress", { max: 100, value: Math.round(100 * share), "aria-hidden": "true" }),
  );
}

/** Marks the places on the table where moves would lay their tile; null: none. */
export function aimAt(moves) {
  for (const place of byId("table").querySelectorAll("[data-end]")) {
    const isAimed = Boolean(moves) && moves.some((move) => String(move.end) === place.dataset.end);
    place.classList.toggle("aim", isAimed);
  }
}

/** New lines of the log are added, so that they are read out; after an undo it is written anew. */
export function showLog(seen) {
  const log = byId("log");
  const isPart = [...log.children].every((line, place) => {
    const entry = seen.log[place];
    return entry && line.dataset.number === String(entry.number) && line.textContent === entry.text;
  });
  if (!isPart) log.replaceChildren();
  for (const entry of seen.log.slice(log.children.length)) {
    log.append(el("li", { class: `log-${entry.kind}`, "data-number": entry.number }, entry.text));
  }
  log.scrollTop = log.scrollHeight;
}

/** How a round, or the game, ended. */
export function showOver(seen, buttons) {
  const { pending, result } = seen;
  byId("over").hidden = !pending;
  byId("own").hidden = Boolean(pending);
  if (!pending) {
    byId("over").replaceChildren();
    return;
  }
  const title = result?.text || pending.winner;
  const lines = [`Round ${pending.round}: ${pending.ending}`, result?.text ? pending.winner : "", result?.help ?? ""];
  const seed = result ? el("p", { class: "note" }, "Seed ", el("code", {}, result.seed)) : "";
  byId("over").replaceChildren(
    el(
      "div",
      { class: "ask" },
      el("h2", { id: "over-title", tabindex: "-1" }, title),
      el("div", { class: "actions" }, ...buttons),
    ),
    el("p", { class: "note" }, lines.filter(Boolean).join(" ")),
    overTable(pending),
    seed,
  );
}

function overTable(over) {
  const head = ["", "pips", ...over.columns, "score"];
  return el(
    "table",
    { class: "results" },
    el("thead", {}, el("tr", {}, ...head.map((text) => (text ? el("th", { scope: "col" }, text) : el("td"))))),
    el("tbody", {}, ...over.rows.flatMap((row) => [
      el(
        "tr",
        { class: row.is_winner ? "winner" : null },
        el("th", { scope: "row" }, capital(row.name)),
        el("td", {}, row.pips),
        ...row.booked.map((points) => el("td", {}, points)),
        el("td", {}, el("b", {}, row.score)),
      ),
      el("tr", { class: "held" }, el("td", { colspan: head.length }, el(
        "div",
        { class: "tiles", role: "img", "aria-label": `left in hand: ${row.tiles.map((tile) => tile.tile).join(", ") || "nothing"}` },
        ...(row.tiles.length ? row.tiles.map((tile) => picture(tile.svg)) : [el("span", { class: "note" }, "no tile left")]),
      ))),
    ])),
  );
}
