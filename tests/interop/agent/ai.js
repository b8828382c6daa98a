// What versions of the AI SDK make of an answer, of one that fails, and of a refusal.
//
//     node ai.js ORIGIN KEY VERSION...

const [origin, key, ...versions] = process.argv.slice(2);
const api = `${origin}/api/v1/agent-svc/chat/stream`;

function hold(truth, promise) {
  if (!truth) throw new Error(promise);
}

for (const version of versions) {
  const sdk = await import(version);
  const { DefaultChatTransport, readUIMessageStream } = sdk;
  const threads = [];

  async function ask(messages, text, bearer = key) {
    const transport = new DefaultChatTransport({
      api,
      headers: { authorization: `Bearer ${bearer}` },
      fetch: async (...request) => {
        const response = await fetch(...request);
        threads.push(response.headers.get("x-thread-id"));
        return response;
      },
    });
    const question = { id: `u${messages.length}`, role: "user", parts: [{ type: "text", text }] };
    const asked = [...messages, question];
    const stream = await transport.sendMessages({
      trigger: "submit-message", chatId: `chat-${version}`, messages: asked,
    });
    const [told, read] = stream.tee();
    const chunks = [];
    const errors = [];
    const collected = (async () => {
      for await (const chunk of told) chunks.push(chunk);
    })();
    let answer;
    for await (const message of readUIMessageStream({
      stream: read, onError: (error) => errors.push(error),
    })) answer = message;
    await collected;
    return { messages: [...asked, answer], answer, errors, chunks };
  }

  const first = await ask([], "Who struck?");
  hold(first.errors.length === 0, `${version}: no error, but ${first.errors[0]}`);
  const parts = (type) => first.answer.parts.filter((part) => part.type === type);
  hold(parts("text").length === 1, "one text");
  hold(parts("text").every((part) => part.state === "done" && part.text), "whose part is closed");
  hold(parts("source-url").length === 1 && parts("source-document").length === 1, "two sources");
  hold(parts("dynamic-tool").length === 1, "one tool");
  hold(parts("dynamic-tool").every((part) => part.state === "output-available"), "with its output");
  hold(first.answer.metadata.usage.totalTokens > 0, "usage is counted");
  hold(first.chunks.at(-1).type === "finish", "the last chunk is the end");
  const messages = first.messages;
  hold(!sdk.lastAssistantMessageIsCompleteWithToolCalls({ messages }), "nothing is sent again");

  const second = await ask(messages, "Where?");
  hold(second.errors.length === 0 && second.answer.id !== first.answer.id, "a message of its own");
  hold(/^thr_/.test(threads[0]) && threads[0] === threads[1], "in the same thread");

  const failed = await ask([], "Please fail.");
  hold(String(failed.errors[0]).includes("(UPSTREAM_UNAVAILABLE)"), "a failure is told");
  hold(failed.answer.parts.at(-1).state === "done", "after its text was closed");

  const refused = await ask([], "Who?", "nobody").catch((error) => error);
  hold(JSON.stringify(refused, ["responseBody"]).concat(refused.message).includes("INVALID_API_KEY"),
    "a refusal is told");
  console.log(`${version}: answered, failed and refused as promised`);
}
