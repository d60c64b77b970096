// @vscode/prompt-tsx under Node: messages in a PrioritizedList, the oldest pruned first.
//
// Reads {workload, budget, runs, shortest, batch} from standard input, writes what worker.py writes.
// The library brings no tokenizer; it gets tiktoken's WebAssembly build, the same algorithm.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(`${process.cwd()}/package.json`);
const { OutputMode, PrioritizedList, PromptElement, SystemMessage, UserMessage, AssistantMessage, renderPrompt } =
  require("@vscode/prompt-tsx");
const { get_encoding } = require("tiktoken");

const { workload, budget, runs, shortest, batch } = JSON.parse(readFileSync(0, "utf8"));
const encoding = get_encoding("o200k_base");
const PRIMING = 3;
const readings = { calls: 0, characters: 0 };

const count = (text) => {
  readings.calls += 1;
  readings.characters += [...text].length;
  return encoding.encode_ordinary(text).length;
};
const quietCount = (text) => encoding.encode_ordinary(text).length;

const tokenizer = (counter) => ({
  mode: OutputMode.OpenAI,
  tokenLength: (part) => counter(part.text ?? ""),
  countMessageTokens: (message) => 4 + counter(text(message)),
});

const text = (message) =>
  typeof message.content === "string"
    ? message.content
    : message.content.map((part) => part.text ?? "").join("");

class Chat extends PromptElement {
  render() {
    const { system, context, history, question } = this.props.workload;
    const turns = history.map(([role, said]) =>
      vscpp(role === "user" ? UserMessage : AssistantMessage, {}, said),
    );
    return vscpp(
      vscppf,
      {},
      vscpp(SystemMessage, {}, system),
      vscpp(SystemMessage, {}, context),
      vscpp(PrioritizedList, { priority: history.length, descending: false }, ...turns),
      vscpp(UserMessage, {}, question),
    );
  }
}

const endpoint = { modelMaxPromptTokens: budget - PRIMING };
const render = async (texts, counter = quietCount) =>
  (await renderPrompt(Chat, { workload: texts }, endpoint, tokenizer(counter), undefined, undefined, OutputMode.OpenAI))
    .messages;

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const copied = () => JSON.parse(JSON.stringify(workload));
const mean = async (run, times) => {
  const started = cpu();
  for (let time = 0; time < times; time += 1) await run(time);
  return (cpu() - started) / times;
};
const cold = async (times) => {
  const texts = Array.from({ length: times }, copied);
  return mean((time) => render(texts[time]), times);
};
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

const messages = await render(workload);
if ((await cold(1)) < 0.5) await cold(batch); // Node compiles what has run a few times
const times = (await cold(1)) > shortest ? 1 : batch;
const coldRuns = [];
for (let run = 0; run < runs; run += 1) coldRuns.push(await cold(times));
const repeat = Math.max(1, Math.round(shortest / Math.max(await mean(() => render(workload), 1), 1e-6)));
const warmRuns = [];
for (let run = 0; run < runs; run += 1) warmRuns.push(await mean(() => render(workload), repeat));
await render(copied(), count);

console.log(
  JSON.stringify({
    cold: coldRuns,
    warm: median(warmRuns),
    calls: readings.calls,
    characters: readings.characters,
    peak_bytes: null,
    messages: messages.map((message) => [message.role, text(message)]),
  }),
);
