// Answers: numbers as people write them, tables that can be sorted, and files to download. All texts become text nodes.

import { el } from "./dom.js";

const FIRST = 50;
const MORE = 200;
const MAX_DECIMALS = 4;
const GROUPED_FROM = 5;
// What spreadsheets would run.
const FORMULA = /^[=+\-@\t\r＝＋－＠]/;

const isNumber = (value) => typeof value === "number" || typeof value === "bigint";
const unitOf = (info, column) => info?.units?.[column] ?? "";

// JSON with whole numbers of any length: those that are not exact as a number become a BigInt.
export function parseJson(text) {
  return JSON.parse(text, (key, value, context) =>
    typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "") ? BigInt(context.source) : value);
}

export function writeJson(value) {
  return JSON.stringify(value, (key, it) => (typeof it === "bigint" ? (JSON.rawJSON ? JSON.rawJSON(String(it)) : String(it)) : it), 1);
}

// The style of a column: thousands apart from five digits on, so that years stay as they are, and the same decimals.
export function styleOf(numbers) {
  const style = { grouped: false, decimals: 0 };
  for (const number of numbers) {
    const match = /^-?(\d+)(?:\.(\d+))?$/.exec(String(number));
    if (!match) continue;
    if (match[1].length >= GROUPED_FROM) style.grouped = true;
    const shown = match[2] ? Number(number).toFixed(MAX_DECIMALS).split(".")[1].replace(/0+$/, "") : "";
    style.decimals = Math.max(style.decimals, shown.length);
  }
  return style;
}

export function written(number, style) {
  const text = String(number);
  if (!/^-?\d+(\.\d+)?$/.test(text)) return text;
  const { grouped, decimals } = style;
  if (typeof number === "bigint") return number.toLocaleString("en-US", { useGrouping: grouped });
  const shown = number.toLocaleString("en-US", { useGrouping: grouped, minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  // So small that nothing would be left of it.
  return number !== 0 && !/[1-9]/.test(shown) ? text : shown;
}

// A typed answer on one line.
export function plain(answer) {
  if (Array.isArray(answer)) return answer.map(plain).join(", ");
  if (answer !== null && typeof answer === "object") return answer.rows.map(plain).join("; ");
  return { true: "yes", false: "no", null: "", "": "(empty)" }[answer] ?? String(answer);
}

// A single value with its unit.
export function single(answer, info) {
  const unit = unitOf(info, 0);
  return isNumber(answer) && unit ? `${written(answer, styleOf([answer]))} ${unit}` : plain(answer);
}

const kind = (value) => (value === null ? 3 : isNumber(value) ? 0 : typeof value === "boolean" ? 1 : 2);
const collator = new Intl.Collator(undefined, { numeric: true });

// Numbers by value, then yes and no, then texts; what is empty is last in both directions.
function compare(one, other) {
  const [left, right] = [kind(one), kind(other)];
  if (left !== right) return left - right;
  if (left === 3) return 0;
  if (left === 2) return collator.compare(plain(one), plain(other));
  return one < other ? -1 : one > other ? 1 : 0;
}

export function sorted(rows, column, direction) {
  if (!direction) return rows;
  const order = (one, other) => {
    const [left, right] = [one[column], other[column]];
    const isEmpty = left === null || right === null;
    return isEmpty ? compare(left, right) : direction * compare(left, right);
  };
  // Sorting is stable: rows that are equal stay in the order of the answer.
  return rows.slice().sort(order);
}

export function rowCount(shown, have, info) {
  const total = Math.max(have, info?.total_rows ?? 0);
  const exact = info?.total_rows !== undefined || !info?.truncated;
  const count = (n) => n.toLocaleString("en-US");
  if (shown === total && exact) return total === 0 ? "no rows" : total === 1 ? "1 row" : `${count(total)} rows`;
  return `first ${count(shown)} of ${exact ? "" : "more than "}${count(total)}`;
}

// A table with column names to sort by, a count, and a button for more rows.
export function drawTable(answer, info) {
  const { columns, rows } = answer;
  const state = { column: -1, direction: 0, shown: Math.min(FIRST, rows.length) };
  const styles = columns.map((_, at) => {
    const values = rows.map((row) => row[at]).filter((value) => value !== null);
    return values.length && values.every(isNumber) ? styleOf(values) : null;
  });
  const cell = (value, at) => {
    const unit = unitOf(info, at);
    const text = isNumber(value) && (styles[at] || unit) ? written(value, styles[at] ?? styleOf([value])) : value === "" ? "" : plain(value);
    return el("td", { class: styles[at] && "number" }, text, isNumber(value) && unit ? el("span", { class: "unit" }, ` ${unit}`) : null);
  };
  const body = el("tbody");
  const count = el("span", { class: "count", role: "status" });
  const more = el("button", { type: "button", class: "quiet more" });
  const heads = columns.map((name, at) => {
    const button = el("button", { type: "button", class: "sort", onclick: () => turn(at) }, el("span", {}, name || "(no name)"), el("i", { class: "arrow", "aria-hidden": "true" }));
    return el("th", { scope: "col", class: styles[at] && "number", "aria-sort": "none" }, button);
  });
  function turn(at) {
    state.direction = state.column === at ? { 0: 1, 1: -1, "-1": 0 }[state.direction] : 1;
    state.column = at;
    draw();
  }
  function draw() {
    heads.forEach((head, at) => {
      const direction = at === state.column ? state.direction : 0;
      head.setAttribute("aria-sort", { 0: "none", 1: "ascending", "-1": "descending" }[direction]);
    });
    const shown = sorted(rows, state.column, state.direction).slice(0, state.shown);
    body.replaceChildren(...shown.map((row) => el("tr", {}, row.map(cell))));
    const isPart = state.direction && info?.truncated;
    count.textContent = rowCount(shown.length, rows.length, info) + (isPart ? " · sorted among the rows that were read" : "");
    const left = rows.length - state.shown;
    more.hidden = left <= 0;
    more.textContent = left > MORE ? `Show ${MORE} more` : `Show ${left.toLocaleString("en-US")} more`;
  }
  more.addEventListener("click", () => {
    state.shown = Math.min(rows.length, state.shown + MORE);
    draw();
  });
  draw();
  return el("div", { class: "rows" },
    el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Rows of the answer" }, el("table", { class: "table" }, el("thead", {}, el("tr", {}, heads)), body)),
    el("div", { class: "below" }, count, more));
}

// ---- files

function field(value) {
  if (value === null) return "";
  if (isNumber(value) || typeof value === "boolean") return String(value);
  const text = typeof value === "string" ? value : plain(value);
  const guarded = (FORMULA.test(text) ? "'" : "") + text;
  return /[,"\r\n]|^ | $/.test(text) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

// The same as `--format csv`: RFC 4180, and no text that a spreadsheet would run.
export function csv(answer) {
  const isTable = answer !== null && typeof answer === "object" && !Array.isArray(answer);
  const rows = isTable ? [answer.columns, ...answer.rows] : [["value"], ...(Array.isArray(answer) ? answer : [answer]).map((item) => [item])];
  return rows.map((row) => (row.length === 1 && field(row[0]) === "" ? '""' : row.map(field).join(",")) + "\r\n").join("");
}

export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
