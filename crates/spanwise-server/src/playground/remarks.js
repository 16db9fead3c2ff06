// What to say about how words were read: corrections, words that were not read, and the question back where an answer was
// withheld.

import { el } from "./dom.js";

const KINDS = {
  number: "a number", name: "a name", negation: "a negation", question: "a second question", unknown: "an unknown word", content: "a word with a meaning of its own",
};
const WHY = { part: " (a part of the name)", folded: " (apart from case, accents or punctuation)", meaning: " (a similar meaning)" };

// The kind of each unread word, by its place.
export function unreadKinds(reply) {
  const kinds = new Map();
  for (const { span, kind } of reply.unread || []) {
    for (let at = span[0]; at < span[1]; at++) kinds.set(at, `not read: ${KINDS[kind] ?? kind}`);
  }
  return kinds;
}

// Sentences, one for corrections and one for words that were not read.
export function remarks(reply) {
  const corrections = (reply.corrections || []).map(({ from, to, kind }) => `“${from}” as “${to}”${WHY[kind] ?? ""}`);
  const unread = (reply.unread || []).map(({ words, kind }) => `“${words}” (${KINDS[kind] ?? kind})`);
  const found = [];
  if (corrections.length) found.push(el("p", { class: "remark corrections" }, `I read ${corrections.join(", ")}.`));
  if (unread.length) {
    const verb = reply.program === null ? "The best program leaves out" : "The program leaves out";
    found.push(el("p", { class: "remark left-out" }, `${verb} ${unread.join(", ")}.`));
  }
  return found;
}

// The question back with its choices. A choice that is a program shows its value, if there is an executor.
export function choices(reply, evaluate) {
  const { question, choices: all = [] } = reply.clarification || {};
  if (!question) return [];
  const arePrograms = all.includes(reply.guess?.program);
  const item = (choice) => {
    if (!arePrograms || !evaluate) return el("li", { "data-program": arePrograms ? choice : null }, el("code", {}, choice));
    const value = el("span", { class: "soft" });
    const show = async () => {
      value.textContent = await evaluate(choice).catch((problem) => problem.message);
    };
    return el("li", { "data-program": choice }, el("button", { type: "button", class: "choice", onclick: show }, choice), " ", value);
  };
  return [el("p", { class: "question" }, question), ...(all.length ? [el("ul", { class: "choices" }, all.map(item))] : [])];
}
