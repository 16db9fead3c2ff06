// Tests the playground in Chromium: typing, clicking, tables, judgements, keyboard navigation, phone width and dark colors.
//
//   node tools/playground_test.mjs --url http://127.0.0.1:8080 [--out DIRECTORY] [--chromium PATH]
//
// The server must be running; a model named or about `geo`, `clevr` or `scan` is tested as such, others in general. Screenshots go to
// --out. Needs Node 20, Chromium (Debian: apt-get install chromium), and npm to fetch puppeteer-core into a temporary
// directory the first time.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";

const options = { url: "http://127.0.0.1:8080", out: join(tmpdir(), "spanwise-playground"), chromium: "" };
for (let at = 2; at + 1 < process.argv.length; at += 2) options[process.argv[at].replace(/^--/, "")] = process.argv[at + 1];

function stop(message) {
  console.error(message);
  process.exit(2);
}

function puppeteer() {
  const home = join(tmpdir(), "spanwise-puppeteer");
  const require = createRequire(join(home, "index.js"));
  try {
    return require("puppeteer-core");
  } catch {
    mkdirSync(home, { recursive: true });
    try {
      execFileSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", home, "puppeteer-core@24"], { stdio: "ignore" });
    } catch {
      stop(`puppeteer-core is missing and npm could not install it into ${home}`);
    }
    return require("puppeteer-core");
  }
}

const known = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = options.chromium || known.find(existsSync);
if (!executablePath) stop("Chromium is missing: apt-get install chromium, or name it with --chromium");
const models = await fetch(`${options.url}/v1/models`).then((reply) => reply.json()).catch(() => stop(`no server answers at ${options.url}: start one with spanwise serve`));
mkdirSync(options.out, { recursive: true });

const { default: launcher = {}, launch = launcher.launch } = puppeteer();
const browser = await launch.call(launcher, { executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
let n_checks = 0;
const check = (is, message) => {
  n_checks += 1;
  assert.ok(is, message);
};

async function open({ width = 1180, height = 900, dark = false, hash = "" } = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.problems = [];
  page.on("pageerror", (error) => page.problems.push(String(error)));
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("request", (request) => request.url().startsWith(options.url) || page.problems.push(`requests another server: ${request.url()}`));
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.goto(`${options.url}/${hash}`);
  await page.waitForFunction(() => document.querySelector("#foot").textContent !== "");
  return page;
}

const settled = (page) => page.waitForFunction(() => {
  const shown = ["result", "nothing"].some((id) => !document.getElementById(id).hidden);
  return (shown && !document.getElementById("result").classList.contains("stale")) || document.getElementById("status").textContent;
}, { timeout: 60000 });
const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
const count = (page, selector) => page.$$eval(selector, (found) => found.length);
const picture = (page, name) => page.screenshot({ path: join(options.out, `${name}.png`), fullPage: true });
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth);
const clean = (page, what) => check(page.problems.length === 0, `${what}: ${page.problems.join("; ")}`);

async function general(model) {
  const hash = models.models.length > 1 ? `#m=${encodeURIComponent(model.name)}` : "";
  const page = await open({ hash });
  check(await page.$eval("#uncalibrated", (found) => found.hidden) === (model.calibrated || model.withhold_below !== null), "a model without a threshold says so");
  // The threshold is not what is tested here.
  await page.$eval("#always", (box) => box.checked || box.click());
  check(await count(page, "#examples button") === model.examples.length, "every example has a button");
  if (!model.examples.length) return page.close();
  await page.click("#examples button");
  await settled(page);
  const utterance = model.examples[0];
  check((await page.$eval("#utterance", (input) => input.value)) === utterance, "the example is in the field");
  const reply = await fetch(`${options.url}/v1/parse`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ utterance, model: model.name, k: 5, execute_alternatives: true, always_answer: true }) }).then((found) => found.json());
  check((await text(page, "#program")).replace(/\s/g, "") === reply.program.replace(/\s/g, ""), "the program is shown");
  const words = await page.$$eval("#tree .word", (found) => found.map((word) => word.firstChild.data));
  assert.deepEqual(words, reply.tokens.map((token) => (token.read_as ? `${token.text} → ${token.read_as}` : token.text)), "the words are under the tree");
  const leaves = new Set(reply.tokens.filter((token) => token.constant).map((token) => token.span.join("-")));
  check(await count(page, "#tree .node.constant") === leaves.size, "each constant has a node");
  check(await count(page, "#heat .cell") >= leaves.size, "the chart has cells");
  check(await count(page, "#others li") >= 1, "alternatives are listed");
  const shown = await text(page, "#answer");
  check(!/[[\]{}"]/.test(shown) || typeof reply.answer === "string", `the answer is readable, not JSON: ${shown}`);
  if (Array.isArray(reply.answer)) check(await count(page, "#answer .item, #answer .soft") >= 1, "a list is shown as items");
  await picture(page, `${model.name}-light`);
  // Pointer and keys show the details of nodes.
  await page.hover("#tree .node.constant");
  check((await text(page, "#detail")).includes("%"), "hovering shows the probability");
  await page.$eval("#tree .node[tabindex='0']", (node) => node.focus());
  const root = await text(page, "#detail");
  await page.keyboard.press("ArrowDown");
  check((await text(page, "#detail")) !== root || leaves.size === 1, "arrow keys move down");
  if (reply.alternatives.length) {
    await page.click("#others button");
    check(await page.$eval("#others .open", (found) => !found.hidden), "an alternative opens");
  }
  // The address restores the utterance.
  const link = await page.evaluate(() => location.hash);
  check(link.includes("u="), "the utterance is in the address");
  check(link.includes("a=1"), "the choice to answer always is in the address");
  clean(page, "light");
  await page.close();
  const again = await open({ hash: link, dark: true });
  await settled(again);
  check((await text(again, "#program")).length > 0, "a link restores the parse");
  await picture(again, `${model.name}-dark`);
  const back = await again.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await again.click("#theme");
  check((await again.evaluate(() => getComputedStyle(document.body).backgroundColor)) !== back, "the button changes the colors");
  clean(again, "dark");
  await again.close();
  const phone = await open({ width: 360, height: 720, hash: link });
  await settled(phone);
  check(await fits(phone), "nothing is wider than a phone");
  await picture(phone, `${model.name}-phone`);
  clean(phone, "phone");
  await phone.close();
}

async function typing(model) {
  const page = await open({ hash: models.models.length > 1 ? `#m=${encodeURIComponent(model.name)}` : "" });
  await page.$eval("#always", (box) => box.checked || box.click());
  await page.type("#utterance", model.examples[0]);
  await settled(page);
  check(await count(page, "#tree .node") > 0, "typing alone is enough");
  await page.$eval("#utterance", (input) => (input.value = ""));
  await page.type("#utterance", "?");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.getElementById("nothing").hidden || !document.getElementById("result").hidden);
  await settled(page);
  if (await page.$eval("#nothing", (found) => !found.hidden)) {
    check((await text(page, "#reason")).length > 5, "a reason is shown");
    check(await count(page, "#unknown .w") === 1, "the words are shown");
    await picture(page, `${model.name}-nothing`);
  }
  clean(page, "typing");
  await page.close();
}

// Replies that no model need give: an answer that is withheld, a word that is corrected, words that are not read.
async function withholding(model) {
  const hash = models.models.length > 1 ? `#m=${encodeURIComponent(model.name)}` : "";
  const utterance = model.examples[0];
  const ask = (body) => fetch(`${options.url}/v1/parse`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ utterance, model: model.name, chart: true, ...body }) }).then((found) => found.json());
  const [answered, withheld] = [await ask({ always_answer: true }), await ask({ abstain_below: 1 })];
  check(withheld.program === null && withheld.guess.program === answered.program, "a withheld answer has a guess");
  withheld.clarification = { question: "do you mean this or that?", choices: [withheld.guess.program, "that()"] };
  const last = answered.tokens.length - 1;
  for (const reply of [answered, withheld]) {
    reply.corrections = [{ span: [0, 1], from: reply.tokens[0].text, to: "Corrected", kind: "spelling" }];
    reply.tokens[0].read_as = "Corrected";
    reply.unread = [{ span: [last, last + 1], words: reply.tokens[last].text, kind: "number" }];
    reply.tokens[last].unread = true;
  }
  const page = await open({ hash });
  const asked = [];
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    if (!request.url().endsWith("/v1/parse")) return request.continue();
    const body = JSON.parse(request.postData());
    asked.push(body);
    request.respond({ status: 200, contentType: "application/json", body: JSON.stringify(body.always_answer ? answered : withheld) });
  });
  await page.$eval("#always", (box) => box.checked && box.click());
  await page.$eval("#utterance", (input, text) => (input.value = text), utterance);
  await page.click("#ask .primary");
  await page.waitForFunction(() => !document.getElementById("nothing").hidden);
  check(!asked.at(-1).always_answer, "by default nothing is said about the threshold");
  check((await text(page, "#nothing-title")) === "I cannot answer this", "a withheld answer leads with that");
  check((await text(page, "#reason")).length > 5, "and says why");
  check((await text(page, "#clarification .question")).includes("do you mean"), "it asks back");
  check(await count(page, "#clarification .choices li") === 2, "with the choices");
  check((await text(page, "#clarification .left-out")).includes("(a number)"), "unread words are said in a sentence");
  check(await count(page, "#unknown .w.unread") === 1 && await count(page, "#unknown .corrected") === 1, "and marked");
  if (model.executor) {
    await page.click("#clarification .choice");
    await page.waitForFunction(() => document.querySelector("#clarification .choices .soft").textContent !== "");
  }
  await picture(page, `${model.name}-withheld`);
  await page.click("#guess");
  await page.waitForFunction(() => !document.getElementById("result").hidden);
  check(asked.at(-1).always_answer === true, "the button asks for the guess");
  check((await text(page, "#remarks .corrections")).includes("as “Corrected”"), "a correction is said");
  check((await text(page, "#remarks .left-out")).includes("(a number)"), "and what is left out");
  check(await count(page, "#tree .word.unread") === 1 && await count(page, "#tree .word.corrected") === 1, "the tree marks both");
  check((await text(page, "#tree .word.corrected")).includes("→ Corrected"), "with what was read");
  check(await count(page, "#tokens .w.unread") === 1 && await count(page, "#tokens .corrected") === 1, "and so does the list of words");
  check(!(await page.$eval("#always", (box) => box.checked)), "a guess is for one question only");
  await page.click("#always");
  await page.waitForFunction(() => location.hash.includes("a=1"));
  check(asked.at(-1).always_answer === true, "the box answers always");
  await picture(page, `${model.name}-corrected`);
  clean(page, "withholding");
  await page.close();
}

// A table as a database gives it, whatever the model is: sorting, counting, units, files, SQL, and texts that are no HTML.
async function tables(model) {
  const utterance = model.examples[0];
  const base = await fetch(`${options.url}/v1/parse`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ utterance, model: model.name, k: 2, always_answer: true, log: false }) }).then((found) => found.json());
  const names = ["<img src=x onerror=document.title=1>", "=1+2", "Ärzte, Die", 'say "hi"', "10 cc", "9 below"];
  const rows = Array.from({ length: 120 }, (_, at) => [names[at] ?? `track ${at}`, 60 + ((at * 37) % 120) / 4, at === 3 ? null : 1000 + at * 1000, 1978 + (at % 3), at % 2 === 0]);
  const answer = { columns: ["name", "minutes", "sold", "year", "<b>live</b>"], rows };
  const sql = "with n1(key) as (\n  select id from track where name <> '<script>'\n)\nselect * from n1";
  const reply = { ...base, answer, answer_info: { truncated: true, total_rows: 1240, units: ["", "min", "USD"] }, denotation: "..", sql, id: "0123", error: undefined };
  reply.alternatives = [{ program: "other(1)", probability: 0.1, posterior: 0.1, score: 0, answer: 12345, answer_info: { units: ["km"] }, denotation: "12345" }];
  const page = await open({ hash: models.models.length > 1 ? `#m=${encodeURIComponent(model.name)}` : "" });
  const judged = [];
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const json = (status, body) => request.respond({ status, contentType: "application/json", body: JSON.stringify(body).replace('"BIG"', "12345678901234567890") });
    if (request.url().endsWith("/v1/parse")) return json(200, reply);
    if (!request.url().endsWith("/v1/feedback")) return request.continue();
    const body = JSON.parse(request.postData());
    judged.push(body);
    return body.program === "bad(" ? json(422, { error: { code: "bad_program", message: "a parenthesis is open", hint: "" } }) : json(200, body);
  });
  await page.evaluate(() => {
    window.files = [];
    URL.createObjectURL = (blob) => (window.files.push(blob), "data:,");
    HTMLAnchorElement.prototype.click = function () { window.names = [...(window.names ?? []), this.download]; };
    window.copied = [];
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => window.copied.push(text) } });
  });
  await page.$eval("#utterance", (input, text) => (input.value = text), utterance);
  await page.click("#ask .primary");
  await page.waitForSelector("#answer table");
  const column = (at) => page.$$eval("#answer tbody tr", (found, at) => found.map((row) => row.children[at].textContent), at);
  check((await text(page, "#answer .count")) === "first 50 of 1,240", "the count says what is shown of how many");
  check((await column(0)).length === 50 && (await column(0))[0] === names[0], "texts are shown as they are");
  check(await count(page, "#answer td img") === 0 && (await page.title()) === "Spanwise playground", "and are no HTML");
  check((await text(page, "#answer thead th:nth-child(5)")) === "<b>live</b>", "nor are names of columns");
  check((await column(1))[1] === "69.25 min" && (await column(2))[49] === "50,000 USD", "numbers have units and thousands apart");
  check((await column(3))[0] === "1978", "years have not");
  check((await column(2))[3] === "", "no value is an empty cell");
  check((await column(4))[0] === "yes", "yes and no are words");
  const sort = (at) => page.click(`#answer th:nth-child(${at + 1}) .sort`);
  const order = (at) => page.$eval(`#answer th:nth-child(${at + 1})`, (head) => head.getAttribute("aria-sort"));
  await sort(2);
  check((await order(2)) === "ascending" && (await column(2))[0] === "1,000 USD", "numbers are sorted by value");
  await sort(2);
  check((await order(2)) === "descending" && (await column(2))[0] === "120,000 USD", "and the other way");
  await page.click("#answer .more");
  check((await column(2)).length === 120 && (await column(2))[119] === "", "what is empty is last in both directions, and there are more rows");
  check((await text(page, "#answer .count")).startsWith("first 120 of 1,240 · sorted among"), "and it says that not all were sorted");
  await sort(2);
  check((await order(2)) === "none" && (await column(0))[0] === names[0], "and back to the order of the answer");
  await page.focus("#answer th:nth-child(4) .sort");
  await page.keyboard.press("Enter");
  check((await order(3)) === "ascending", "keys sort too");
  const [years, tracks] = [await column(3), await column(0)];
  const first = tracks.filter((_, at) => years[at] === "1978");
  assert.deepEqual(first, rows.filter((row) => row[3] === 1978).map((row) => row[0]), "rows that are equal keep their order");
  await sort(0);
  check((await column(0)).indexOf("9 below") < (await column(0)).indexOf("10 cc"), "texts with numbers are in the order of the numbers");
  check((await text(page, "#sql")) === sql && !(await page.$eval("#sql-box", (box) => box.hidden)), "the SQL is beside the program");
  await page.click("#copy-sql");
  await page.waitForFunction(() => window.copied.length);
  check((await page.evaluate(() => window.copied[0])) === sql, "and can be copied");
  await page.click("#csv");
  await page.click("#json");
  const [csv, json] = await page.evaluate(() => Promise.all(window.files.map((file) => file.text())));
  const lines = csv.split("\r\n");
  check(lines.length === 122 && lines[0] === "name,minutes,sold,year,<b>live</b>", "the CSV file has all rows");
  check(lines[2].startsWith("'=1+2,69.25,2000,") && lines[3].startsWith('"Ärzte, Die",') && lines[4].startsWith('"say ""hi""",'), "with quotes, and without formulas");
  check(lines[4].includes(",,"), "no value is an empty field");
  assert.deepEqual(JSON.parse(json), answer, "the JSON file has the answer");
  assert.deepEqual(await page.evaluate(() => window.names), ["answer.csv", "answer.json"]);
  await picture(page, `${model.name}-table`);
  // Judgements.
  check(await page.$eval("#feedback", (found) => !found.hidden), "a reply with an id can be judged");
  const press = (label) => page.evaluate((label) => [...document.querySelectorAll("#feedback button, #others .this-one")].find((button) => button.textContent === label).click(), label);
  const said = (words) => page.waitForFunction((words) => document.querySelector("#feedback .said").textContent.includes(words), {}, words);
  await press("Right");
  await said("Kept as right");
  await press("Wrong");
  await said("Kept as wrong");
  await page.$eval("#feedback input", (input) => (input.value = "bad("));
  await press("Send");
  await said("a parenthesis is open");
  await page.$eval("#feedback input", (input) => (input.value = "other(2)"));
  await press("Send");
  await said("Kept as the right program");
  await page.click("#others button");
  check((await text(page, "#others .open")).includes("12,345 km"), "alternatives have units");
  await press("It is this one");
  await said("the other program");
  await press("Should not be answered");
  await said("without an answer");
  const bodies = [{ verdict: "right" }, { verdict: "wrong" }, { verdict: "wrong", program: "bad(" }, { verdict: "wrong", program: "other(2)" }, { verdict: "wrong", program: "other(1)" }, { verdict: "unanswerable" }];
  assert.deepEqual(judged, bodies.map((body) => ({ id: "0123", ...body })));
  await page.click("#theme");
  await picture(page, `${model.name}-table-other-colors`);
  await page.setViewport({ width: 360, height: 720 });
  check(await fits(page), "a table is not wider than a phone");
  await picture(page, `${model.name}-table-phone`);
  // Without an id there is nothing to judge; numbers of any length stay exact.
  Object.assign(reply, { id: undefined, answer: { columns: ["n"], rows: [["BIG"], [1]] }, answer_info: undefined, sql: undefined });
  await page.setViewport({ width: 1180, height: 900 });
  await page.click("#ask .primary");
  await page.waitForFunction(() => document.querySelectorAll("#answer tbody tr").length === 2);
  check((await column(0))[0] === "12,345,678,901,234,567,890", "a long number keeps its digits");
  check((await text(page, "#answer .count")) === "2 rows", "all rows are counted");
  check(await page.$eval("#feedback", (found) => found.hidden) && await page.$eval("#sql-box", (found) => found.hidden), "no id, no buttons; no SQL, no box");
  page.problems = page.problems.filter((problem) => !problem.includes("422"));
  clean(page, "tables");
  await page.close();
}

// A server that keeps a log: typing alone is kept once the question is whole, and a judgement reaches the server.
async function judging(model) {
  const page = await open({ hash: models.models.length > 1 ? `#m=${encodeURIComponent(model.name)}` : "" });
  check(await page.$eval("#kept", (found) => !found.hidden), "the page says that questions are kept");
  const logged = [];
  page.on("request", (request) => request.url().endsWith("/v1/parse") && logged.push(JSON.parse(request.postData()).log !== false));
  await page.$eval("#always", (box) => box.checked || box.click());
  await page.type("#utterance", model.examples[0]);
  await settled(page);
  await page.waitForFunction(() => !document.getElementById("feedback").hidden, { timeout: 20000 });
  check(logged.filter(Boolean).length === 1 && logged.at(-1), "only the whole question is kept");
  await page.click("#feedback .judge button");
  await page.waitForFunction(() => document.querySelector("#feedback .said").textContent === "Kept as right.", { timeout: 20000 });
  clean(page, "judging");
  await page.close();
}

async function scenes(model) {
  const page = await open({ hash: models.models.length > 1 ? `#m=${encodeURIComponent(model.name)}` : "" });
  check(await count(page, "#scene-view svg g") > 2, "the scene is drawn");
  await page.type("#utterance", "How many things are there?");
  await page.keyboard.press("Enter");
  await settled(page);
  const before = await text(page, "#answer");
  await page.click("#scene-edit");
  await page.$eval("#scene-text", (box) => (box.value = "cube rubber large red 0 1***sphere metal small blue 1 0"));
  await page.click("#scene-use");
  await page.waitForFunction((old) => document.querySelector("#answer").textContent !== old, {}, before);
  check((await text(page, "#answer")) === "2", "an edited scene is used");
  check(await count(page, "#scene-view svg g") === 2, "and drawn");
  await page.$eval("#scene-text", (box) => (box.value = "{\"objects\": []}"));
  await page.click("#scene-use");
  check((await text(page, "#scene-problem")).includes("empty"), "a broken scene is reported");
  await page.close();
}

try {
  for (const model of models.models) {
    await general(model);
    if (model.examples.length) await typing(model);
    if (model.examples.length) await withholding(model);
    if (model.examples.length) await tables(model);
    if (model.examples.length && models.feedback) await judging(model);
    if (model.executor === "clevr") await scenes(model);
  }
  console.log(`${n_checks} checks passed; screenshots are in ${options.out}`);
} finally {
  await browser.close();
}
