// Checks and draws CLEVR scenes, and has some samples. Positions follow the coordinates where the scene has them, and the
// ranks of the compact text otherwise.

import { svg } from "./dom.js";

const COLORS = {
  gray: "#7f8587", red: "#b8403a", blue: "#3c63b5", green: "#3f8a4a", brown: "#8a5a3c", purple: "#7b4aa0", cyan: "#3a9fa6", yellow: "#d3b23a",
};
const AXES = { right: [1, 0, 0], left: [-1, 0, 0], front: [0, -1, 0], behind: [0, 1, 0] };

const thing = (size, color, material, shape, x, y) => ({ size, color, material, shape, "3d_coords": [x, y, 0] });
const scene = (...objects) => ({ directions: AXES, objects });

export const SAMPLES = [
  ["Six things", scene(
    thing("large", "green", "rubber", "cube", -2.4, 1.6), thing("small", "red", "metal", "sphere", -1.1, -1.4),
    thing("large", "blue", "metal", "cylinder", 0.6, 2.0), thing("small", "yellow", "rubber", "cylinder", 2.3, 0.6),
    thing("small", "red", "rubber", "cube", 1.0, -0.8), thing("large", "gray", "metal", "sphere", 2.6, -2.2))],
  ["A row of spheres", scene(
    thing("small", "cyan", "metal", "sphere", -2.6, 0.4), thing("small", "purple", "rubber", "sphere", -1.0, 0.1),
    thing("large", "red", "metal", "sphere", 0.9, 0.7), thing("small", "green", "rubber", "cube", 2.5, -0.9))],
  ["Three cubes", scene(
    thing("large", "brown", "rubber", "cube", -1.8, -1.0), thing("large", "blue", "metal", "cube", 0.2, 1.5),
    thing("small", "yellow", "metal", "cube", 1.9, -0.9))],
];

// The objects of a scene with their positions; throws what is wrong with it.
export function readScene(value) {
  if (typeof value === "string") return compact(value);
  if (!value || typeof value !== "object" || !Array.isArray(value.objects)) throw new Error("expected an object with a list `objects`, or a text");
  if (value.objects.length === 0) throw new Error("the list `objects` is empty");
  return value.objects.map((object, at) => {
    for (const field of ["size", "color", "material", "shape"]) {
      if (typeof object?.[field] !== "string") throw new Error(`objects[${at}] has no text \`${field}\``);
    }
    const coords = object["3d_coords"];
    const dot = (axis) => (Array.isArray(axis) && Array.isArray(coords) ? axis.reduce((sum, part, i) => sum + part * (coords[i] || 0), 0) : null);
    const right = dot(value.directions?.right), front = dot(value.directions?.front);
    const count = (name) => value.relationships?.[name]?.[at]?.length ?? at;
    return { ...object, x: right ?? count("left"), depth: front ?? count("behind") };
  });
}

function compact(text) {
  return text.split("***").map((part, at) => {
    const [shape, material, size, color, left, front] = part.trim().split(/\s+/);
    if (front === undefined) throw new Error(`object ${at}: expected \`shape material size color left_rank front_rank\``);
    return { shape, material, size, color, x: Number(left), depth: -Number(front) };
  });
}

function spread(values, low, high) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return values.map((value) => (most === least ? (low + high) / 2 : low + ((value - least) / (most - least)) * (high - low)));
}

// A color, lighter or darker.
function shade(hex, by) {
  const part = (at) => Math.max(0, Math.min(255, Math.round(parseInt(hex.slice(at, at + 2), 16) * (1 + by) + (by > 0 ? 40 * by : 0))));
  return `rgb(${part(1)} ${part(3)} ${part(5)})`;
}

function solid(object, x, y, r) {
  const color = COLORS[object.color] || "#999999";
  const light = shade(color, 0.28), dark = shade(color, -0.3);
  const shine = object.material === "metal";
  const parts = [svg("ellipse", { cx: x, cy: y + r * 0.12, rx: r * 1.08, ry: r * 0.32, fill: "#000", opacity: 0.13 })];
  if (object.shape === "sphere") {
    parts.push(svg("circle", { cx: x, cy: y - r * 0.85, r, fill: color }));
    parts.push(svg("path", { d: `M${x - r} ${y - r * 0.85}a${r} ${r} 0 0 0 ${2 * r} 0a${r} ${r * 0.75} 0 0 1 ${-2 * r} 0z`, fill: dark, opacity: 0.55 }));
    parts.push(svg("ellipse", { cx: x - r * 0.35, cy: y - r * 1.3, rx: r * 0.24, ry: r * 0.16, fill: "#fff", opacity: shine ? 0.85 : 0.25 }));
  } else if (object.shape === "cylinder") {
    const w = r * 0.85, h = r * 1.6, e = r * 0.28;
    parts.push(svg("path", { d: `M${x - w} ${y - h}V${y - e * 0.3}a${w} ${e} 0 0 0 ${2 * w} 0V${y - h}z`, fill: color }));
    parts.push(svg("path", { d: `M${x + w * 0.25} ${y - h}V${y + e * 0.66}Q${x + w} ${y + e * 0.4} ${x + w} ${y - e * 0.3}V${y - h}z`, fill: dark, opacity: 0.5 }));
    parts.push(svg("ellipse", { cx: x, cy: y - h, rx: w, ry: e, fill: light }));
    if (shine) parts.push(svg("rect", { x: x - w * 0.66, y: y - h * 0.86, width: w * 0.16, height: h * 0.72, rx: 2, fill: "#fff", opacity: 0.6 }));
  } else {
    const w = r * 0.95, d = r * 0.42;
    parts.push(svg("path", { d: `M${x - w} ${y - 1.5 * r}h${w * 1.4}v${1.5 * r}h${-w * 1.4}z`, fill: color }));
    parts.push(svg("path", { d: `M${x - w} ${y - 1.5 * r}l${w * 0.6} ${-d}h${w * 1.4}l${-w * 0.6} ${d}z`, fill: light }));
    parts.push(svg("path", { d: `M${x + w * 0.4} ${y - 1.5 * r}l${w * 0.6} ${-d}v${1.5 * r}l${-w * 0.6} ${d}z`, fill: dark }));
    if (shine) parts.push(svg("rect", { x: x - w * 0.82, y: y - 1.38 * r, width: w * 0.14, height: r * 1.1, rx: 2, fill: "#fff", opacity: 0.6 }));
  }
  return parts;
}

export function drawScene(value) {
  const objects = readScene(value);
  const xs = spread(objects.map((object) => object.x), 70, 490);
  const ys = spread(objects.map((object) => object.depth), 110, 232);
  const picture = svg("svg", { class: "scene", viewBox: "0 0 560 270", role: "img", "aria-label": objects.map((o) => `${o.size} ${o.color} ${o.material} ${o.shape}`).join(", ") });
  picture.append(svg("rect", { class: "floor", width: 560, height: 270, rx: 10 }));
  const order = objects.map((_, at) => at).sort((a, b) => ys[a] - ys[b]);
  for (const at of order) {
    const object = objects[at];
    const r = (object.size === "large" ? 34 : 19) * (0.82 + (0.3 * (ys[at] - 110)) / 122);
    const group = svg("g", {}, svg("title", {}, `${object.size} ${object.color} ${object.material} ${object.shape}`), solid(object, xs[at], ys[at], r));
    picture.append(group);
  }
  return picture;
}
