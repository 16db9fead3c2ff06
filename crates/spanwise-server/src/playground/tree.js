// Draws the span tree of a reading as SVG: words in a row, constants above them, joins above those. Hovering or focusing a
// node shows its details; arrow keys move through the tree.

import { svg, percent, textWidth } from "./dom.js";

const LEVEL = 64, LABEL = 38, GAP = 16, MARGIN = 14, WORDS = 34;
const FONTS = { name: "600 13px system-ui, sans-serif", type: "11px system-ui, sans-serif", word: "15px system-ui, sans-serif" };

// Nodes in a list, children before parents; nothing recurses on the depth of the tree.
function flatten(tree) {
  const nodes = [], todo = [[tree, -1]];
  while (todo.length) {
    const [source, parent] = todo.pop();
    const at = nodes.length;
    nodes.push({ ...source, children: [], parent });
    if (parent >= 0) nodes[parent].children.push(at);
    for (const child of source.children) todo.push([child, at]);
  }
  for (const node of nodes) node.children.sort((a, b) => nodes[a].span[0] - nodes[b].span[0]);
  return nodes;
}

// A join of one part with null words is the same as the part: it is not drawn.
function simplify(nodes) {
  const parts = (node) => node.children.filter((child) => nodes[child].category !== "null");
  const skip = new Set();
  nodes.forEach((node, at) => {
    if (node.category === "join" && parts(node).length === 1) skip.add(at);
  });
  const real = (at) => {
    while (skip.has(at)) at = parts(nodes[at])[0];
    return at;
  };
  const drawn = new Map();
  const root = real(0);
  const todo = [root];
  while (todo.length) {
    const at = todo.pop();
    const children = parts(nodes[at]).map(real);
    drawn.set(at, { ...nodes[at], children });
    todo.push(...children);
  }
  return { drawn, root };
}

const label = (node) => (node.category === "join" ? node.type || "join" : node.constant);
const typeLine = (node) => (node.category === "join" ? "" : (node.type || "").replaceAll("->", "→"));

// A word, and what it was read as.
const shown = (token) => (token.read_as ? `${token.text} → ${token.read_as}` : token.text);

// Heights from the leaves up; places from the words.
function place(drawn, root, tokens) {
  const order = [], todo = [root];
  while (todo.length) {
    const at = todo.pop();
    order.push(at);
    todo.push(...drawn.get(at).children);
  }
  for (const at of order.reverse()) {
    const node = drawn.get(at);
    node.level = node.children.length ? 1 + Math.max(...node.children.map((child) => drawn.get(child).level)) : 0;
    node.width = Math.max(textWidth(label(node), FONTS.name), textWidth(typeLine(node), FONTS.type)) + 22;
  }
  const leaf = new Array(tokens.length).fill(null);
  for (const node of drawn.values()) {
    if (!node.children.length) for (let at = node.span[0]; at < node.span[1]; at++) leaf[at] = node;
  }
  // Words get their own width; a leaf that is wider than its words pushes them apart.
  let x = MARGIN;
  const words = [];
  for (let at = 0; at < tokens.length; ) {
    const node = leaf[at];
    const end = node ? node.span[1] : at + 1;
    const sizes = tokens.slice(at, end).map((token) => textWidth(shown(token), FONTS.word));
    const own = sizes.reduce((sum, size) => sum + size, 0) + 9 * (sizes.length - 1);
    const space = Math.max(own, node ? node.width : 0);
    let left = x + (space - own) / 2;
    if (node) Object.assign(node, { x: x + space / 2, left, right: left + own });
    for (const size of sizes) {
      words.push({ x: left + size / 2, aligned: Boolean(node) });
      left += size + 9;
    }
    x += space + (node ? GAP : 10);
    at = end;
  }
  const width = x - GAP + MARGIN;
  // Parents are centered over their parts, and no two labels of one level touch.
  const levels = [];
  for (const at of order) {
    const node = drawn.get(at);
    if (node.children.length) {
      const parts = node.children.map((child) => drawn.get(child).x);
      node.x = (Math.min(...parts) + Math.max(...parts)) / 2;
    }
    (levels[node.level] ??= []).push(node);
  }
  let right = width, left = 0;
  for (const level of levels) {
    level.sort((a, b) => a.x - b.x);
    level.forEach((node, at) => {
      const before = level[at - 1];
      if (before) node.x = Math.max(node.x, before.x + (before.width + node.width) / 2 + 8);
      left = Math.min(left, node.x - node.width / 2 - 4);
      right = Math.max(right, node.x + node.width / 2 + 4);
    });
  }
  return { words, width: right - left, left, levels: levels.length };
}

// The probability of a node: that of the tree where it has one, else of the program, the alignment or the chart.
function probability(reply, node, isRoot) {
  if (typeof node.probability === "number") return node.probability;
  if (isRoot) return reply.probability;
  if (node.category === "constant") return reply.tokens[node.span[0]]?.probability ?? null;
  const found = (reply.chart || []).find((cell) => cell.constant === null && cell.span[0] === node.span[0] && cell.span[1] === node.span[1]);
  return found ? found.probability : null;
}

export function drawTree(reply, onNode) {
  const { drawn, root } = simplify(flatten(reply.tree));
  const { words, width, left, levels } = place(drawn, root, reply.tokens);
  const height = levels * LEVEL + WORDS + MARGIN;
  const top = (node) => MARGIN + (levels - 1 - node.level) * LEVEL;
  const base = MARGIN + (levels - 1) * LEVEL + LABEL + WORDS;
  const picture = svg("svg", { class: "tree", viewBox: `${left} 0 ${width} ${height}`, width, height, role: "group", "aria-label": `Tree over: ${reply.utterance}` });
  const lines = svg("g"), labels = svg("g");
  const elements = new Map();
  for (const [at, node] of drawn) {
    for (const child of node.children.map((id) => drawn.get(id))) {
      const y = top(node) + LABEL, bend = y + (LEVEL - LABEL), end = top(child), half = (y + bend) / 2;
      lines.append(svg("path", { class: "edge", d: `M${node.x} ${y}C${node.x} ${half} ${child.x} ${half} ${child.x} ${bend}V${end}` }));
    }
    if (!node.children.length) {
      const y = base - 18;
      lines.append(svg("path", { class: "edge", d: `M${node.x} ${top(node) + LABEL}V${y}` }));
      lines.append(svg("path", { class: "under", d: `M${node.left} ${y}H${node.right}` }));
    }
    const share = probability(reply, node, at === root);
    const kind = typeLine(node);
    const show = () => onNode({ name: label(node), words: node.words, type: node.type, program: node.program, probability: share });
    const text = [label(node), node.type && `type ${node.type}`, node.program, share !== null && percent(share)].filter(Boolean).join(", ");
    const group = svg("g", {
      class: `node ${node.category}`, tabindex: at === root ? "0" : "-1", role: "button", "aria-label": text,
      onmouseenter: show, onfocus: show, onclick: show, onmouseleave: () => onNode(null), onblur: () => onNode(null),
      onkeydown: (event) => walk(event, at),
    },
      svg("rect", { x: node.x - node.width / 2, y: top(node), width: node.width, height: LABEL, rx: 9 }),
      svg("text", { class: "name", x: node.x, y: top(node) + (kind ? 16 : 23) }, label(node)),
      kind ? svg("text", { class: "type", x: node.x, y: top(node) + 30 }, kind) : null);
    elements.set(at, group);
    labels.append(group);
  }
  reply.tokens.forEach((token, at) => {
    const kind = ["word", !words[at].aligned && "null", token.unread && "unread", token.read_as && "corrected"].filter(Boolean).join(" ");
    const title = token.unread ? svg("title", {}, "not read") : token.read_as ? svg("title", {}, `read as ${token.read_as}`) : null;
    labels.append(svg("text", { class: kind, x: words[at].x, y: base }, shown(token), title));
  });
  const parents = new Map();
  for (const [at, node] of drawn) node.children.forEach((child) => parents.set(child, at));

  function walk(event, at) {
    const node = drawn.get(at), parent = parents.get(at);
    const row = parent === undefined ? [] : drawn.get(parent).children;
    const next = {
      ArrowUp: parent, ArrowDown: node.children[0],
      ArrowLeft: row[row.indexOf(at) - 1], ArrowRight: row[row.indexOf(at) + 1],
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    elements.forEach((element, id) => element.setAttribute("tabindex", id === next ? "0" : "-1"));
    elements.get(next).focus();
  }

  picture.append(lines, labels);
  return picture;
}
