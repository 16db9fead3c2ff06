// The page: sends the utterance to /v1/parse and shows the reading in the reply. The utterance and the model are in the
// fragment of the address, so that a link restores both.

import { $, el, percent } from "./dom.js";
import { drawTree } from "./tree.js";
import { drawHeat } from "./heat.js";
import { drawPath, listSteps } from "./path.js";
import { SAMPLES, drawScene } from "./scene.js";
import { choices, remarks, unreadKinds } from "./remarks.js";
import { csv, download, drawTable, parseJson, plain, single, writeJson } from "./table.js";
import { choose, judge } from "./feedback.js";

const PAUSE = 350;
// A question that nobody goes on typing is a whole one, and may be kept.
const WHOLE = 1800;
const OTHERS = 5;
const MOST_ITEMS = 40;

const state = { models: [], model: null, scene: null, asked: 0, timer: 0, reply: null, feedback: false };

// ---- requests

function headers() {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function call(path, body) {
  const options = body ? { method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify(body) } : { headers: headers() };
  const response = await fetch(path, options);
  const reply = await response.text().then(parseJson).catch(() => ({}));
  if (response.status === 401) $("token-form").hidden = false;
  if (!response.ok) {
    const { message = `the server replied with status ${response.status}`, hint = "" } = reply.error || {};
    throw new Error(hint ? `${message} — ${hint}` : message);
  }
  return reply;
}

const setStatus = (text) => ($("status").textContent = text);

// ---- models

async function loadModels() {
  const { models, feedback } = await call("/v1/models");
  Object.assign(state, { models, feedback });
  $("kept").hidden = !feedback;
  $("model").replaceChildren(...models.map(({ name }) => el("option", { value: name }, name)));
  $("model").closest("label").hidden = models.length < 2;
}

function chooseModel(name) {
  state.model = state.models.find((model) => model.name === name) || state.models[0];
  const { name: chosen, about, encoder, examples, executor, load_error: problem, metrics, calibrated, withhold_below: limit, ready } = state.model;
  $("model").value = chosen;
  $("about").textContent = about || "";
  $("examples").replaceChildren(...(examples || []).map((text) => el("button", { type: "button", onclick: () => ask(text) }, text)));
  const dev = metrics?.dev?.dev_denotation ?? metrics?.dev?.dev_exact_match;
  $("foot").textContent = [`${chosen}: ${encoder || "not loaded yet"}`, typeof dev === "number" && `${dev.toFixed(1)} % correct on its development set`].filter(Boolean).join(" · ");
  setStatus(problem ? `The newest files of this model do not load; an older version serves. ${problem}` : "");
  $("uncalibrated").hidden = calibrated || !ready || limit !== null;
  // A server may have been told to answer always.
  $("always").checked = calibrated && limit === null;
  const hasScene = executor === "clevr";
  $("scene-card").hidden = !hasScene;
  if (hasScene && !state.scene) useScene(SAMPLES[0][1]);
}

// ---- the scene

function useScene(value) {
  $("scene-problem").textContent = "";
  try {
    $("scene-view").replaceChildren(drawScene(value));
    state.scene = value;
    $("scene-text").value = JSON.stringify(value, null, 1);
    return true;
  } catch (problem) {
    $("scene-problem").textContent = problem.message;
    return false;
  }
}

function setUpScene() {
  $("scene-pick").append(...SAMPLES.map(([name], at) => el("option", { value: at }, name)), el("option", { value: "own", hidden: "" }, "your own"));
  $("scene-pick").addEventListener("change", () => useScene(SAMPLES[$("scene-pick").value][1]) && again());
  $("scene-edit").addEventListener("click", () => {
    const open = $("scene-box").hidden;
    $("scene-box").hidden = !open;
    $("scene-edit").setAttribute("aria-expanded", open);
    if (open) $("scene-text").focus();
  });
  $("scene-use").addEventListener("click", () => {
    const text = $("scene-text").value.trim();
    let value = text;
    if (/^[[{"]/.test(text)) {
      try {
        value = JSON.parse(text);
      } catch (problem) {
        $("scene-problem").textContent = problem.message;
        return;
      }
    }
    if (value?.scenes?.length) value = value.scenes[0];
    if (!useScene(value)) return;
    $("scene-pick").value = "own";
    again();
  });
}

// ---- requests for parses

function ask(text) {
  $("utterance").value = text;
  submit();
}

function again() {
  if ($("utterance").value.trim()) submit();
}

// What is asked while somebody types is not kept: it may be half a question.
async function submit(always = $("always").checked, isTyped = false) {
  clearTimeout(state.timer);
  const utterance = $("utterance").value.trim();
  const number = ++state.asked;
  remember(utterance);
  if (!utterance) {
    setStatus("");
    $("result").hidden = $("nothing").hidden = true;
    return;
  }
  $("result").classList.add("stale");
  try {
    const body = question(utterance, always);
    if (isTyped) body.log = false;
    const reply = await call("/v1/parse", body);
    // A later request may have been answered already.
    if (number !== state.asked) return;
    setStatus("");
    show(reply);
    if (isTyped && state.feedback) state.timer = setTimeout(() => keep(number, reply, always), WHOLE);
  } catch (problem) {
    if (number === state.asked) setStatus(problem.message);
  } finally {
    if (number === state.asked) $("result").classList.remove("stale");
  }
}

function question(utterance, always) {
  const body = { utterance, model: state.model?.name, k: OTHERS, chart: true, execute_alternatives: true };
  if (always) body.always_answer = true;
  else if (state.model?.calibrated && state.model.withhold_below === null) body.always_answer = false;
  if (state.model?.executor === "clevr" && state.scene) body.context = state.scene;
  return body;
}

// Asks again, to be kept; what is shown stays.
async function keep(number, shown, always) {
  const body = { ...question(shown.utterance, always), chart: false, execute: false, execute_alternatives: false };
  const reply = await call("/v1/parse", body).catch(() => ({}));
  const isSame = reply.program === shown.program && reply.guess?.program === shown.guess?.program;
  if (number !== state.asked || !reply.id || !isSame) return;
  shown.id = reply.id;
  showFeedback(shown);
}

function showFeedback(reply) {
  const places = [$("feedback"), $("feedback-nothing")];
  places.forEach((place) => { place.replaceChildren(); place.hidden = true; });
  document.querySelectorAll(".this-one").forEach((button) => button.remove());
  // An answer without a program cannot be corrected.
  if (!reply.id || (reply.program === null && reply.denotation !== null)) return;
  const { bar, tell } = judge(reply, (body) => call("/v1/feedback", { id: reply.id, ...body }));
  const place = places[reply.program === null ? 1 : 0];
  place.replaceChildren(bar);
  place.hidden = false;
  document.querySelectorAll("#others [data-program], #clarification [data-program]").forEach((item) => item.append(choose(item.dataset.program, tell)));
}

function remember(utterance) {
  const fragment = new URLSearchParams();
  if (utterance) fragment.set("u", utterance);
  if (state.model && state.models.length > 1) fragment.set("m", state.model.name);
  if ($("always").checked) fragment.set("a", "1");
  history.replaceState(null, "", fragment.size ? `#${fragment}` : location.pathname);
}

// ---- showing

const NO_PROGRAM = "This model gives answers without a program: nothing says what they rest on.";

function show(reply) {
  state.reply = reply;
  // Some models give answers without programs.
  const alone = reply.program === null && reply.denotation !== null;
  const found = reply.program !== null || alone;
  $("result").hidden = !found;
  $("nothing").hidden = found;
  if (!found) {
    showNothing(reply);
    return showFeedback(reply);
  }
  const said = remarks(reply);
  const limit = state.model?.threshold;
  if (typeof limit === "number" && reply.probability < limit) said.unshift(el("p", { class: "remark guess" }, `This is a guess: the model withholds answers below ${percent(limit)}.`));
  $("remarks").replaceChildren(...said);
  $("remarks").hidden = !said.length;
  const badge = $("probability");
  badge.textContent = percent(reply.probability);
  badge.title = `Calibrated probability that the ${alone ? "answer" : "program"} is right`;
  badge.classList.toggle("low", reply.probability < 0.5);
  $("answer").replaceChildren(...answer(reply));
  const hasRows = isTable(reply.answer) || Array.isArray(reply.answer);
  $("csv").hidden = $("json").hidden = !hasRows;
  $("top").classList.toggle("wide", isTable(reply.answer) && reply.answer.columns.length > 3);
  $("sql-box").hidden = !reply.sql;
  $("sql").textContent = reply.sql ?? "";
  const way = state.model?.executor === "scan" ? drawPath(reply.denotation) : null;
  $("path").replaceChildren(...[way].filter(Boolean));
  $("copy").hidden = alone;
  $("program").replaceChildren(...(alone ? [NO_PROGRAM] : colored(reply.lines.trimEnd())));
  $("tree").replaceChildren(reply.tree ? drawTree(reply, showNode) : el("p", { class: "soft" }, alone ? NO_PROGRAM : "This model has no tree: it does not say which words a program rests on."));
  $("detail").hidden = !reply.tree;
  showNode(null);
  $("heat").replaceChildren(reply.chart?.length ? drawHeat(reply, showCell) : el("p", { class: "soft" }, "This model's search has no posterior probabilities of spans."));
  showCell(null);
  $("others").replaceChildren(...others(reply));
  $("tokens").replaceChildren(...reply.tokens.map(word));
  showFeedback(reply);
}

const isTable = (answer) => answer !== null && typeof answer === "object" && !Array.isArray(answer);

function answer({ answer, answer_info: info, denotation, error, note }) {
  if (error) return [el("span", { class: "bad" }, error)];
  if (answer === null) return [el("span", { class: "soft" }, "Programs of this domain are not evaluated.")];
  const steps = state.model?.executor === "scan" ? listSteps(denotation) : null;
  return [...(steps ? [steps] : value(answer, info)), ...(note ? [el("span", { class: "note" }, note)] : [])];
}

// A typed answer as elements: a list as items, a table as rows, anything else as text.
function value(answer, info) {
  if (Array.isArray(answer)) {
    if (!answer.length) return [el("span", { class: "soft" }, "nothing")];
    const shown = answer.slice(0, MOST_ITEMS).map((item) => el("span", { class: "item" }, single(item, info)));
    const left = Math.max(answer.length, info?.total_rows ?? 0) - shown.length;
    const isOpen = info?.truncated && info.total_rows === undefined;
    return left > 0 || isOpen ? [...shown, el("span", { class: "more" }, left > 0 ? `and ${isOpen ? "more than " : ""}${left.toLocaleString("en-US")} more` : "and more")] : shown;
  }
  if (!isTable(answer)) return [el("span", { class: "plain" }, single(answer, info))];
  return [drawTable(answer, info)];
}

function colored(text) {
  return text.split(/('[^']*'|[\w?]+(?=\()|[(),])/).filter(Boolean).map((part) => {
    const kind = part.startsWith("'") ? "value" : /^[(),]$/.test(part) ? "mark" : /^\w/.test(part) ? "name" : "";
    return kind ? el("span", { class: kind }, part) : part;
  });
}

function showNode(node) {
  if (!node) return $("detail").replaceChildren(el("span", {}, "Point at a node, or move through the tree with Tab and the arrow keys."));
  const share = node.probability === null ? [] : [" · ", percent(node.probability)];
  $("detail").replaceChildren(el("b", {}, node.name), node.type ? ` · ${node.type}` : "", ...share, " · ", el("code", {}, node.program || ""), ` · “${node.words}”`);
}

function showCell(cell) {
  if (!cell) return $("heat-detail").replaceChildren(el("span", {}, "Rows are first words, columns last words; ringed spans are in the tree."));
  const parts = cell.parts.map(({ constant, probability }) => `${constant ?? "join"} ${percent(probability)}`);
  $("heat-detail").replaceChildren(el("b", {}, `“${cell.text}”`), ` · ${parts.join(" · ")}`);
}

function others(reply) {
  if (!reply.alternatives.length) return [el("li", { class: "soft" }, reply.program === null ? "This model gives one answer." : "There is no other program for this utterance.")];
  return reply.alternatives.map((other) => {
    const open = el("div", { class: "open", hidden: "" }, other.answer === null ? "It has no value." : el("span", {}, "Its answer: ", el("b", {}, single(other.answer, other.answer_info))));
    const bar = el("b");
    bar.style.width = `${Math.max(1.5, other.probability * 100)}%`;
    const button = el("button", { type: "button", "aria-expanded": "false", onclick: () => {
      open.hidden = !open.hidden;
      button.setAttribute("aria-expanded", !open.hidden);
    } }, el("span", { class: "meter" }, percent(other.probability), el("i", {}, bar)), el("span", {}, other.program));
    return el("li", { "data-program": other.program }, button, open);
  });
}

function word(token) {
  const isAligned = token.constant !== null;
  const name = token.unread ? "not read" : "null";
  const text = isAligned ? `${token.constant} ${percent(token.probability)}` : token.probability === null ? "" : `${name} ${percent(token.probability)}`;
  const kind = ["w", isAligned && "aligned", token.unread && "unread"].filter(Boolean).join(" ");
  const title = token.read_as ? `read as ${token.read_as}` : token.in_lexicon ? "in the lexicon" : "not in the lexicon";
  return el("span", { class: kind, title }, ...typed(token), el("small", {}, text));
}

// A word, and what it was read as.
function typed(token) {
  if (!token.read_as) return [token.text];
  return [el("u", { class: "corrected" }, token.text), ` → ${token.read_as}`];
}

async function evaluate(program) {
  const body = { program, model: state.model?.name };
  if (state.model?.executor === "clevr" && state.scene) body.context = state.scene;
  const { answer, error } = await call("/v1/execute", body);
  return error ? error : plain(answer) || "nothing";
}

function showNothing(reply) {
  $("reason").textContent = `${reply.reason[0].toUpperCase()}${reply.reason.slice(1)}.`;
  $("guess").hidden = !reply.guess;
  $("clarification").replaceChildren(...choices(reply, state.model?.executor ? evaluate : null), ...remarks(reply));
  const kinds = unreadKinds(reply);
  const unknown = reply.tokens.filter((token) => !token.in_lexicon);
  $("unknown").replaceChildren(
    el("p", { class: "soft" }, unknown.length ? "Dashed words are not in the lexicon of the domain:" : "Every word is in the lexicon of the domain:"),
    el("div", { class: "words" }, reply.tokens.map((token, at) => {
      const kind = ["w", !token.in_lexicon && "unknown", token.unread && "unread"].filter(Boolean).join(" ");
      return el("span", { class: kind, title: kinds.get(at) ?? null }, ...typed(token));
    })));
}

// ---- setting up

async function copy(button, text) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = before), 1200);
}

function setUpTheme() {
  const root = document.documentElement;
  const saved = localStorage.getItem("theme");
  if (saved) root.dataset.theme = saved;
  $("theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
  });
}

function fromAddress() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  chooseModel(fragment.get("m"));
  if (fragment.get("a") === "1") $("always").checked = true;
  const utterance = fragment.get("u");
  if (utterance) ask(utterance);
}

async function start() {
  try {
    await loadModels();
    fromAddress();
  } catch (problem) {
    setStatus(problem.message);
  }
}

setUpTheme();
setUpScene();
$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
$("utterance").addEventListener("input", () => {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => submit($("always").checked, true), PAUSE);
});
$("model").addEventListener("change", () => {
  chooseModel($("model").value);
  $("utterance").value = "";
  submit();
});
$("always").addEventListener("change", () => submit());
$("guess").addEventListener("click", () => submit(true));
$("share").addEventListener("click", () => copy($("share"), location.href));
$("copy-sql").addEventListener("click", () => copy($("copy-sql"), state.reply?.sql ?? ""));
$("csv").addEventListener("click", () => download("answer.csv", "text/csv;charset=utf-8", csv(state.reply.answer)));
$("json").addEventListener("click", () => download("answer.json", "application/json", writeJson(state.reply.answer)));
$("copy").addEventListener("click", () => copy($("copy"), state.reply?.program ?? ""));
$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("token").value);
  $("token-form").hidden = true;
  start();
});
addEventListener("hashchange", fromAddress);
start();
