// Draws a sequence of SCAN actions as a list of steps and as a path on a grid. It starts facing up; walking, running and
// jumping move one step forward.

import { el, svg } from "./dom.js";

const MOST = 400;
const SIGNS = { WALK: "w", RUN: "r", JUMP: "j", LOOK: "l" };

export function actions(text) {
  const list = (text || "").trim().split(/\s+/);
  return list.length && list.every((action) => /^I_(WALK|RUN|JUMP|LOOK|TURN_LEFT|TURN_RIGHT)$/.test(action)) ? list : null;
}

function way(list) {
  let [x, y, dx, dy] = [0, 0, 0, -1];
  const points = [[0, 0]], marks = [];
  for (const action of list) {
    if (action === "I_TURN_LEFT") [dx, dy] = [dy, -dx];
    else if (action === "I_TURN_RIGHT") [dx, dy] = [-dy, dx];
    else {
      // Looking does not move.
      if (action !== "I_LOOK") {
        [x, y] = [x + dx, y + dy];
        points.push([x, y]);
      }
      marks.push([x, y, SIGNS[action.slice(2)]]);
    }
  }
  return { points, marks, facing: [dx, dy] };
}

export function drawPath(text) {
  const list = actions(text);
  if (!list) return null;
  const { points, facing } = way(list.slice(0, MOST));
  const xs = points.map((point) => point[0]), ys = points.map((point) => point[1]);
  const [x0, x1, y0, y1] = [Math.min(...xs) - 1, Math.max(...xs) + 1, Math.min(...ys) - 1, Math.max(...ys) + 1];
  const unit = Math.max(9, Math.min(34, 300 / Math.max(x1 - x0, y1 - y0)));
  const at = ([x, y]) => [(x - x0) * unit, (y - y0) * unit];
  const [width, height] = at([x1, y1]);
  const picture = svg("svg", { class: "path-view", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `The way of ${list.length} actions` });
  for (let x = x0; x <= x1; x++) picture.append(svg("path", { class: "grid", d: `M${at([x, 0])[0]} 0V${height}` }));
  for (let y = y0; y <= y1; y++) picture.append(svg("path", { class: "grid", d: `M0 ${at([0, y])[1]}H${width}` }));
  picture.append(svg("path", { class: "way", d: points.map((point, n) => `${n ? "L" : "M"}${at(point).join(" ")}`).join("") }));
  const [sx, sy] = at(points[0]), [ex, ey] = at(points[points.length - 1]);
  const angle = (Math.atan2(facing[0], -facing[1]) * 180) / Math.PI;
  picture.append(svg("circle", { class: "from", cx: sx, cy: sy, r: 5 }));
  picture.append(svg("path", { class: "to", d: "M0 -9L6.500 6L0 3L-6.500 6Z", transform: `translate(${ex} ${ey}) rotate(${angle})` }));
  return picture;
}

export function listSteps(text) {
  const list = actions(text);
  if (!list) return null;
  const word = { I_TURN_LEFT: "↰ left", I_TURN_RIGHT: "↱ right" };
  // Repetitions of one action are listed once.
  const runs = [];
  for (const action of list) {
    const last = runs[runs.length - 1];
    if (last && last[0] === action) last[1] += 1;
    else runs.push([action, 1]);
  }
  const shown = runs.slice(0, 60).map(([action, n]) =>
    el("span", { class: word[action] ? "turn" : "" }, `${word[action] || action.slice(2).toLowerCase()}${n > 1 ? ` × ${n}` : ""}`));
  if (runs.length > 60) shown.push(el("span", {}, `and ${runs.length - 60} more`));
  return el("div", { class: "steps" }, shown);
}
