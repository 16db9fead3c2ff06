// Sends requests to a server over many connections and compares its throughput with the bare parser.
//
//   node tools/load_test.mjs --model runs/geo --utterances questions.txt [--connections 64] [--rounds 3]
//                            [--repeat 4] [--overload 10] [--spanwise target/release/spanwise] [--port 18080]
//
// Each round runs the bare parser (`spanwise parse < FILE`) and then the server, on the same utterances; since the
// machine may be busy with other work, ratios are taken within a round. Needs Node 18 or later and nothing else.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import http from "node:http";

const options = { connections: 64, rounds: 3, repeat: 4, overload: 10, spanwise: "target/release/spanwise", port: 18080 };
for (let at = 2; at < process.argv.length; at += 2) {
  const name = process.argv[at].replace(/^--/, "");
  const value = process.argv[at + 1];
  options[name] = /^\d+$/.test(value) ? Number(value) : value;
}
if (!options.model || !options.utterances) {
  console.error("expected --model DIRECTORY and --utterances FILE (one a line)");
  process.exit(2);
}
const lines = readFileSync(options.utterances, "utf8").split("\n").filter((line) => line.trim());
const utterances = Array.from({ length: options.repeat }, () => lines).flat();

const run = (args, input) => new Promise((done, fail) => {
  const child = spawn(options.spanwise, args, { stdio: ["pipe", "pipe", "inherit"] });
  let size = 0;
  child.stdout.on("data", (data) => (size += data.length));
  child.on("error", fail).on("close", (code) => (code === 0 ? done(size) : fail(new Error(`spanwise ended with ${code}`))));
  child.stdin.end(input);
});

// The time of loading is subtracted; it is measured with a single utterance.
async function bare() {
  const time = async (input) => {
    const start = performance.now();
    await run(["parse", options.model], input);
    return performance.now() - start;
  };
  const alone = await time(`${utterances[0]}\n`);
  const all = await time(`${utterances.join("\n")}\n`);
  return (utterances.length - 1) / ((all - alone) / 1000);
}

async function startServer(more = []) {
  const args = ["serve", options.model, "--addr", `127.0.0.1:${options.port}`, "--quiet", ...more];
  const child = spawn(options.spanwise, args, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  child.stderr.on("data", (data) => (log += data));
  const ended = new Promise((done) => child.on("close", done));
  for (let tries = 0; ; tries++) {
    const reply = await request("GET", "/readyz").catch(() => ({ status: 0 }));
    if (reply.status === 200) break;
    if (tries > 600 || child.exitCode !== null) throw new Error(`the server did not start: ${log}`);
    await new Promise((done) => setTimeout(done, 100));
  }
  return { stop: async () => (child.kill("SIGTERM"), ended) };
}

function request(method, path, body, agent) {
  return new Promise((done, fail) => {
    const sent = http.request({ host: "127.0.0.1", port: options.port, method, path, agent, headers: body ? { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) } : {} }, (reply) => {
      let size = 0;
      reply.on("data", (data) => (size += data.length)).on("end", () => done({ status: reply.statusCode, size }));
    });
    sent.on("error", fail);
    sent.end(body);
  });
}

// Every connection sends its next utterance as soon as it has the reply to the last one.
async function load(connections, texts, seconds = Infinity) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const times = [], statuses = {};
  let next = 0;
  const start = performance.now();
  const connection = async () => {
    while (next < texts.length && performance.now() - start < seconds * 1000) {
      const body = JSON.stringify({ utterance: texts[next++] });
      const begun = performance.now();
      const { status } = await request("POST", "/v1/parse", body, agent).catch((error) => ({ status: error.code || "error" }));
      if (status === 200) times.push(performance.now() - begun);
      statuses[status] = (statuses[status] || 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  agent.destroy();
  const took = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? NaN;
  return { rate: times.length / took, p50: at(0.5), p99: at(0.99), statuses };
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const ratios = [];
console.log(`${utterances.length} utterances, ${options.connections} connections, ${options.rounds} rounds`);
for (let round = 1; round <= options.rounds; round++) {
  const alone = await bare();
  const server = await startServer();
  await load(8, utterances.slice(0, 64));
  const { rate, p50, p99, statuses } = await load(options.connections, utterances);
  const code = await server.stop();
  ratios.push(rate / alone);
  console.log(`round ${round}: bare ${alone.toFixed(0)}/s, server ${rate.toFixed(0)}/s (${((100 * rate) / alone).toFixed(0)} %), p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (${(p99 / p50).toFixed(1)}x), ${JSON.stringify(statuses)}, exit ${code}`);
}
console.log(`median ratio ${(100 * median(ratios)).toFixed(0)} %`);
if (options.overload > 0) {
  const server = await startServer(["--queue", String(options.connections)]);
  const flood = await load(options.connections * options.overload, Array.from({ length: 20 }, () => utterances).flat(), 10);
  const after = await load(8, utterances.slice(0, 64));
  const code = await server.stop();
  console.log(`overload ${options.overload}x, queue ${options.connections}: served ${flood.rate.toFixed(0)}/s, p99 ${flood.p99.toFixed(0)} ms, ${JSON.stringify(flood.statuses)}; after it ${JSON.stringify(after.statuses)}, exit ${code}`);
}
{
  // A shutdown under full load: every request is either answered or refused because the port is closed.
  const server = await startServer();
  const loading = load(options.connections, Array.from({ length: 20 }, () => utterances).flat(), 6);
  await new Promise((done) => setTimeout(done, 2000));
  const code = await server.stop();
  const { statuses } = await loading;
  const lost = Object.entries(statuses).filter(([status]) => !["200", "503", "ECONNREFUSED"].includes(status));
  console.log(`SIGTERM under load: ${JSON.stringify(statuses)}, ${lost.length ? "LOST requests" : "nothing lost"}, exit ${code}`);
}
