// Draws the chart of a reading as a heat map: a row for the first word of a span, a column for its last. Spans in the tree
// have a ring.

import { svg, percent, textWidth } from "./dom.js";

const FONT = "12px system-ui, sans-serif";

// The constants and joins of each span with their posterior probabilities, and the sum of those.
function cells(reply) {
  const found = new Map();
  for (const { span, constant, probability } of reply.chart) {
    const key = span.join("-");
    const cell = found.get(key) || { span, sum: 0, parts: [] };
    cell.sum += probability;
    cell.parts.push({ constant, probability });
    found.set(key, cell);
  }
  for (const cell of found.values()) cell.parts.sort((a, b) => b.probability - a.probability);
  return [...found.values()];
}

function inTree(tree) {
  const spans = new Set(), todo = tree ? [tree] : [];
  while (todo.length) {
    const node = todo.pop();
    const parts = node.children.filter((child) => child.category !== "null");
    if (node.category === "constant" || parts.length > 1) spans.add(node.span.join("-"));
    todo.push(...node.children);
  }
  return spans;
}

export function drawHeat(reply, onCell) {
  const words = reply.tokens.map((token) => (token.text.length > 12 ? `${token.text.slice(0, 11)}…` : token.text));
  const n = words.length;
  const size = Math.max(13, Math.min(30, Math.floor(380 / n)));
  const side = Math.max(...words.map((word) => textWidth(word, FONT))) + 10;
  const up = side * 0.72 + 8;
  const width = side + n * size + side * 0.6, height = up + n * size + 6;
  const picture = svg("svg", { class: "heat", viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Probability of every span" });
  words.forEach((word, at) => {
    const x = side + at * size + size / 2 + 3, y = up - 6;
    picture.append(svg("text", { x: side - 6, y: up + at * size + size / 2 + 4, "text-anchor": "end" }, word));
    picture.append(svg("text", { transform: `translate(${x} ${y}) rotate(-45)` }, word));
    picture.append(svg("rect", { class: "ground", x: side + at * size, y: up + at * size, width: (n - at) * size, height: size, rx: 3 }));
  });
  const ringed = inTree(reply.tree);
  for (const cell of cells(reply)) {
    const [start, end] = cell.span;
    const x = side + (end - 1) * size, y = up + start * size;
    const text = reply.tokens.slice(start, end).map((token) => token.text).join(" ");
    const show = () => onCell({ text, sum: Math.min(1, cell.sum), parts: cell.parts.slice(0, 3) });
    picture.append(svg("rect", {
      class: "cell", x, y, width: size, height: size, rx: 3, tabindex: cell.sum > 0.02 ? "0" : null, "fill-opacity": Math.max(0.04, Math.min(1, cell.sum)).toFixed(3),
      role: "img", "aria-label": `${text}: ${percent(Math.min(1, cell.sum))}`,
      onmouseenter: show, onfocus: show, onmouseleave: () => onCell(null), onblur: () => onCell(null),
    }));
    if (ringed.has(cell.span.join("-"))) {
      picture.append(svg("rect", { class: "ring", x: x + 3, y: y + 3, width: size - 6, height: size - 6, rx: 2 }));
    }
  }
  return picture;
}
