// What versions of OpenAI's client, and the AI SDK's provider for its like, make of an answer, of
// one that fails, and of a refusal.
//
//     node openai.js ORIGIN KEY VERSION...

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { streamText } from "ai";

const [origin, key, ...versions] = process.argv.slice(2);
const baseURL = `${origin}/api/v1`;
const model = "svc-agent";
const asking = (content) => ({ model, messages: [{ role: "user", content }], stream: true });

function hold(truth, promise) {
  if (!truth) throw new Error(promise);
}

for (const version of versions) {
  const { default: OpenAI } = await import(version);
  const client = new OpenAI({ baseURL, apiKey: key, maxRetries: 0 });
  const completions = client.chat.completions;
  const models = [];
  for await (const { id } of client.models.list()) models.push(id);
  hold(models.join() === "svc-agent", `${version}: the agent is the only model`);
  hold((await client.models.retrieve("svc-agent")).object === "model", "and is read by its id");

  const { data, response } = await completions
    .create({ ...asking("Who struck?"), stream_options: { include_usage: true } })
    .withResponse();
  const chunks = [];
  for await (const chunk of data) chunks.push(chunk);
  hold(/^thr_/.test(response.headers.get("x-thread-id")), `${version}: the thread is told`);
  hold(chunks[0].choices[0].delta.role === "assistant", "the first has the role");
  hold(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created}`)).size === 1, "one completion");
  const choices = chunks.flatMap((chunk) => chunk.choices);
  hold(choices.map((choice) => choice.finish_reason).filter(Boolean).join() === "stop", "one end");
  hold(choices.every((choice) => !choice.delta.tool_calls), "no tool is the client's");
  const { prompt_tokens, completion_tokens, total_tokens } = chunks.at(-1).usage;
  hold(chunks.at(-1).choices.length === 0, "usage has no choice");
  hold(total_tokens === prompt_tokens + completion_tokens && total_tokens > 0, "and adds up");

  const streaming = completions.stream ?? client.beta.chat.completions.stream;
  const owner = completions.stream ? completions : client.beta.chat.completions;
  const final = await streaming.call(owner, asking("Who struck?")).finalChatCompletion();
  hold(final.choices[0].message.content.includes("[1]"), "the helper gives the whole answer");

  const failure = await (async () => {
    for await (const _ of await completions.create(asking("Please fail.")));
  })().catch((error) => error);
  hold(failure instanceof OpenAI.APIError && failure.code === "UPSTREAM_UNAVAILABLE",
    "a failure is told");

  const nobody = new OpenAI({ baseURL, apiKey: "nobody", maxRetries: 0 });
  const refused = await nobody.chat.completions.create(asking("Who?")).catch((error) => error);
  hold(refused instanceof OpenAI.AuthenticationError && refused.status === 401, "a refusal is told");
  console.log(`${version}: answered, failed and refused as promised`);
}

const provider = createOpenAICompatible({ name: "svc", baseURL, apiKey: key, includeUsage: true });
const answer = streamText({ model: provider(model), prompt: "Who struck?" });
const kinds = [];
for await (const part of answer.fullStream) kinds.push(part.type);
hold((await answer.text).includes("[1]") && (await answer.finishReason) === "stop", "it is whole");
hold(!kinds.some((kind) => kind.startsWith("tool") || kind === "error"), "and tells of no tool");
hold((await answer.usage).totalTokens > 0, "usage is counted");
console.log("@ai-sdk/openai-compatible: answered as promised");
