// useChat through two turns, with no code beside it.
//
//     node react.js ORIGIN KEY REASON

import { JSDOM } from "jsdom";

const [origin, key, reason] = process.argv.slice(2);
const page = new JSDOM("<!doctype html><div id=root></div>", { url: origin });
const { window } = page;
globalThis.window = window;
globalThis.document = window.document;
Object.defineProperty(globalThis, "navigator", { value: window.navigator, configurable: true });
globalThis.IS_REACT_ACT_ENVIRONMENT = false;

const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
const { Chat, useChat } = await import("@ai-sdk/react");
const { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } = await import("ai");

const statuses = [];
const ends = [];
const threads = [];
const called = [];

const transport = new DefaultChatTransport({
  api: `${origin}/api/v1/agent-svc/chat/stream`,
  headers: { authorization: `Bearer ${key}` },
  fetch: async (...request) => {
    const response = await fetch(...request);
    threads.push(response.headers.get("x-thread-id"));
    return response;
  },
});

const chat = new Chat({
  transport,
  onFinish: ({ finishReason, isError }) => ends.push(isError ? "error" : String(finishReason)),
  onToolCall: (call) => called.push(call),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
});
// React would show the last of several that follow each other at once.
chat["~registerStatusCallback"](() => statuses.push(chat.status));

function Conversation() {
  // A page that is opened again asks whether there is anything to resume.
  const { messages } = useChat({ chat, resume: true });
  const texts = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "text"));
  return createElement("p", null, texts.map(({ text }) => text).join(" "));
}

async function until(is) {
  const end = Date.now() + 20_000;
  while (!is()) {
    if (Date.now() > end) throw new Error(`${statuses} ${chat.error} ${root.textContent}`);
    await new Promise((go) => setTimeout(go, 5));
  }
}

function hold(truth, promise) {
  if (!truth) throw new Error(`${promise}: ${JSON.stringify({ statuses, ends, threads })}`);
}

const root = document.getElementById("root");
createRoot(root).render(createElement(Conversation));
await until(() => threads.length === 1 && chat.status === "ready");
const resumed = statuses.splice(0);
hold(!resumed.includes("error"), "nothing to resume is no failure");
for (const text of ["Who struck?", "Where?"]) await chat.sendMessage({ text });
const turn = "submitted,streaming,ready";
hold(statuses.join() === `${turn},${turn}`, "both turns go the usual way");
await until(() => root.textContent.split("struck [1]").length === 3);
hold(ends.join() === `${reason},${reason}`, "both end with the reason that is told");
const told = chat.messages.flatMap(({ metadata }) => metadata?.finishReason ?? []);
hold(told.join() === "stop,stop", "and the metadata say why: all was said");
hold(new Set(chat.messages.map((message) => message.id)).size === 4, "four messages");
hold(threads[1] && threads[1] === threads[2] && threads.length === 3, "one thread, two requests");
hold(called.length === 0, "no tool is left to the client");
console.log("@ai-sdk/react: two turns of one thread");
process.exit(0); // jsdom keeps timers
