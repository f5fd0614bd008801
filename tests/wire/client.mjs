// Calls stubs with a real Node SDK, as client.py does with those of Python.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [kind, folder, scaleText, spreadText] = process.argv.slice(2);
const [scale, spread] = [Number(scaleText), Number(spreadText)];
const { default: Sdk } = await import(pathToFileURL(createRequire(`${folder}/x.js`).resolve(kind === "openai" ? "openai" : "@anthropic-ai/sdk")).href);
const timer = globalThis.setTimeout;
if (scale !== 1) globalThis.setTimeout = (act, ms, ...more) => timer(act, ms / scale, ...more);
const sleep = (seconds) => new Promise((done) => timer(done, seconds * 1000));

async function call(url, stream, timeout) {
  let events = 0;
  const options = { apiKey: "sk-none", ...(timeout ? { timeout: timeout * 1000 } : {}) };
  const messages = [{ role: "user", content: "hello" }];
  try {
    const answer =
      kind === "openai"
        ? await new Sdk({ ...options, baseURL: `${url}/v1` }).chat.completions.create({ model: "gpt-4o", messages, stream })
        : await new Sdk({ ...options, baseURL: url }).messages.create({ model: "claude-sonnet-4", max_tokens: 1000, messages, stream });
    if (stream) for await (const _ of answer) events += 1;
    return "none";
  } catch (error) {
    return error.constructor.name + (events ? " after events" : "");
  }
}

async function job(job, start) {
  await sleep(start);
  const one = (i) => call(`${job.url}/c/${job.client}${i}`, job.stream, job.timeout);
  const late = () => sleep(job.most).then(() => "waiting");
  return Promise.all(Array.from({ length: job.calls }, (_, i) => Promise.race([one(i), late()])));
}

const jobs = JSON.parse(readFileSync(0, "utf8"));
await call("http://127.0.0.1:1", false);
const ended = await Promise.all(jobs.map((one, i) => job(one, (i * spread) / jobs.length)));
process.stdout.write(JSON.stringify(ended), () => process.exit(0));
