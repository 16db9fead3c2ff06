// Helpers for elements, SVG elements and probabilities as text.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const $ = (id) => document.getElementById(id);
export const el = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// Never 0 or 100 for what is not quite that.
export function percent(share) {
  if (share === null || share === undefined) return "";
  const value = share * 100;
  if (value > 0 && value < 0.1) return "< 0.1 %";
  if (value < 100 && value >= 99.95) return "> 99.9 %";
  return `${value.toFixed(1)} %`;
}

// The width of a text, measured once per text and font.
const canvas = document.createElement("canvas").getContext("2d");
const widths = new Map();
export function textWidth(text, font) {
  const key = `${font}|${text}`;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    canvas.font = font;
    widths.set(key, canvas.measureText(text).width);
  }
  return widths.get(key);
}
