// The official OpenAI and Anthropic SDKs for Node on channels of all three protocols.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { placeFormat, schema } from "./schema.mjs";
import { caught, collect, run } from "./scenarios.mjs";

const options = { apiKey: process.env.KEY, maxRetries: 0, timeout: 10_000 };
const openai = new OpenAI({ ...options, baseURL: `${process.env.BASE_URL}/v1` });
const anthropic = new Anthropic({ ...options, baseURL: process.env.BASE_URL });
const hello = { role: "user", content: "Say hello." };
const inner = { name: "get_weather", parameters: { ...schema, properties: { city: { type: "string" } }, required: ["city"] } };

// Each caller has a stream helper and a whole answer; both give the SDK's final object, and `heard` reads it.
const callers = {
  chat: {
    tool: { type: "function", function: { ...inner, strict: true } },
    thinks: { reasoning_effort: "high" },
    place: { response_format: placeFormat("chat") },
    limit: (max_completion_tokens) => ({ max_completion_tokens }),
    streamed: async (model, more) => {
      const stream = openai.chat.completions.stream({
        model, messages: [hello], stream_options: { include_usage: true }, ...more,
      });
      let thought = "";
      stream.on("chunk", ({ choices }) => (thought += choices[0]?.delta.reasoning_content ?? ""));
      const final = await stream.finalChatCompletion();
      // Of members that it does not know, this helper keeps the last delta only.
      if (thought) final.choices[0].message.reasoning_content = thought;
      return final;
    },
    whole: (model, more) => openai.chat.completions.create({ model, messages: [hello], ...more }),
    heard: ({ choices: [{ message, finish_reason }], usage }) => ({
      text: message.content ?? "",
      thought: message.reasoning_content ?? "",
      calls: (message.tool_calls ?? []).map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
      finish: finish_reason,
      usage: [usage.prompt_tokens, usage.completion_tokens],
    }),
    following: ({ choices: [{ message }] }) => {
      const { parsed, ...plain } = message;
      const tool_calls = plain.tool_calls.map(({ index, function: { parsed_arguments, ...said }, ...call }) => ({
        ...call, function: said,
      }));
      return {
        messages: [
          hello,
          { ...plain, tool_calls },
          { role: "tool", tool_call_id: tool_calls[0].id, content: "sunny-42" },
        ],
      };
    },
    finishes: { stop: "stop", calls: "tool_calls", limit: "length" },
  },
  responses: {
    tool: { type: "function", ...inner, strict: true },
    thinks: {
      reasoning: { effort: "high", summary: "auto" }, store: false, include: ["reasoning.encrypted_content"],
    },
    place: { text: { format: placeFormat("responses") } },
    limit: (max_output_tokens) => ({ max_output_tokens }),
    streamed: async (model, more) => {
      const stream = openai.responses.stream({ model, input: [hello], ...more });
      return (await collect(stream)).at(-1).response;
    },
    whole: (model, more) => openai.responses.create({ model, input: [hello], ...more }),
    heard: ({ output, status, incomplete_details, usage }) => ({
      text: output.flatMap((item) => (item.type === "message" ? item.content : [])).map((part) => part.text).join(""),
      thought: output.flatMap((item) => item.summary ?? []).map((part) => part.text).join(""),
      calls: output
        .filter((item) => item.type === "function_call")
        .map((call) => [call.name, JSON.parse(call.arguments)]),
      finish: incomplete_details ? `${status}:${incomplete_details.reason}` : status,
      usage: [usage.input_tokens, usage.output_tokens],
    }),
    following: ({ output }) => {
      const items = output.map(({ parsed_arguments, ...item }) => item);
      const call = items.find((item) => item.type === "function_call");
      const result = { type: "function_call_output", call_id: call.call_id, output: "sunny-42" };
      return { input: [hello, ...items, result] };
    },
    finishes: { stop: "completed", calls: "completed", limit: "incomplete:max_output_tokens" },
  },
  messages: {
    tool: { name: inner.name, input_schema: inner.parameters },
    thinks: { thinking: { type: "enabled", budget_tokens: 2048 } },
    place: { output_config: { format: { type: "json_schema", schema } } },
    limit: (max_tokens) => ({ max_tokens }),
    streamed: (model, more) =>
      anthropic.messages.stream({ model, max_tokens: 5000, messages: [hello], ...more }).finalMessage(),
    whole: (model, more) => anthropic.messages.create({ model, max_tokens: 5000, messages: [hello], ...more }),
    heard: ({ content, stop_reason, usage }) => ({
      text: content.filter((block) => block.type === "text").map((block) => block.text).join(""),
      thought: content.filter((block) => block.type === "thinking").map((block) => block.thinking).join(""),
      calls: content.filter((block) => block.type === "tool_use").map((call) => [call.name, call.input]),
      finish: stop_reason,
      usage: [
        usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
        usage.output_tokens,
      ],
    }),
    following: ({ content }) => {
      const call = content.find((block) => block.type === "tool_use");
      const result = { type: "tool_result", tool_use_id: call.id, content: "sunny-42" };
      return { messages: [hello, { role: "assistant", content }, { role: "user", content: [result] }] };
    },
    finishes: { stop: "end_turn", calls: "tool_use", limit: "max_tokens" },
  },
};

async function both(caller, model, more = {}) {
  const streamed = caller.heard(await caller.streamed(model, more));
  const whole = caller.heard(await caller.whole(model, more));
  assert.deepEqual(streamed, whole);
  assert.ok(streamed.usage.every((count) => count > 0));
  return streamed;
}

function scenarios(caller, tag) {
  const model = (parameters) => `${tag}-sim;${parameters}`;
  return {
    text: async () => {
      const told = await both(caller, model(""));
      assert.match(told.text, /^This is the simulated provider.*北京 and 😀/);
      assert.equal(told.finish, caller.finishes.stop);
    },
    "parallel tools": async () => {
      const told = await both(caller, model("tools=2;words=3"), { tools: [caller.tool] });
      assert.deepEqual(told.calls.map(([name]) => name), ["get_weather", "get_weather"]);
      assert.equal(typeof told.calls[0][1].city, "string");
      assert.equal(told.finish, caller.finishes.calls);
    },
    "reasoning and a tool": async () => {
      const asked = { tools: [caller.tool], ...caller.thinks };
      const first = await caller.streamed(model("check_reasoning;reasoning=5"), asked);
      assert.ok(caller.heard(first).thought);
      const turns = caller.following(first);
      const second = await both(caller, model("check_reasoning;reasoning=5"), { ...asked, ...turns });
      assert.match(second.text, /sunny-42/);
    },
    limit: async () => {
      const told = caller.heard(await caller.whole(model("words=100"), caller.limit(20)));
      assert.equal(told.text.trim().split(" ").length, 20);
      assert.equal(told.finish, caller.finishes.limit);
    },
    place: async () => {
      const told = await both(caller, model(""), caller.place);
      assert.equal(typeof JSON.parse(told.text).city, "string");
      assert.equal(told.finish, caller.finishes.stop);
    },
    error: async () => {
      const failing = model("error_after=3;error=server;message=so be it");
      if (caller === callers.responses) {
        const failed = await caller.streamed(failing, {});
        assert.deepEqual([failed.status, failed.error.message], ["failed", "so be it"]);
        return;
      }
      const error = await caught(() => caller.streamed(failing, {}));
      assert.match(error.message, /so be it/);
    },
    cut: async () => {
      const cut = model("cut_after=3;cut=reset");
      const told = /upstream failed after the response had started/;
      if (caller === callers.responses) {
        assert.match((await caller.streamed(cut, {})).error.message, told);
        return;
      }
      assert.match((await caught(() => caller.streamed(cut, {}))).message, told);
    },
  };
}

const all = {};
for (const [client, caller] of Object.entries(callers)) {
  for (const tag of ["chat", "resp", "msgs"]) {
    for (const [name, scenario] of Object.entries(scenarios(caller, tag))) {
      all[`${client} on ${tag}: ${name}`] = scenario;
    }
  }
}
await run(all);
