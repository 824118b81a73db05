// The official Anthropic SDK for Node.

import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { schema } from "./schema.mjs";
import { ODD, caught, collect, run } from "./scenarios.mjs";

const options = { baseURL: process.env.BASE_URL, apiKey: process.env.KEY, maxRetries: 0, timeout: 10_000 };
const client = new Anthropic(options);
const messages = [{ role: "user", content: "Say hello." }];
const tool = {
  name: "get_weather",
  description: "The weather of a city.",
  input_schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const ask = (model, more = {}) => client.messages.create({ model, max_tokens: 500, messages, ...more });
const helper = (model, more = {}) => client.messages.stream({ model, max_tokens: 500, messages, ...more });

async function refused(model, kind, status, type) {
  for (const stream of [true, false]) {
    const error = await caught(async () => {
      const answer = await ask(model, { stream });
      if (stream) await collect(answer);
    });
    assert.ok(error instanceof kind, `${error.constructor.name}: ${error.message}`);
    assert.deepEqual([error.status, error.error.error.type], [status, type]);
    assert.ok(error.requestID);
  }
}

await run({
  whole: async () => {
    const answer = await ask("sim");
    assert.equal(answer.content[0].type, "text");
    assert.deepEqual([answer.stop_reason, answer.model], ["end_turn", "sim"]);
    assert.ok(answer._request_id);
  },
  stream: async () => {
    const events = await collect(ask("sim", { stream: true }));
    assert.equal(events[0].type, "message_start");
    assert.equal(events[0].message.model, "sim");
    assert.equal(events.at(-1).type, "message_stop");
  },
  helper: async () => {
    const final = await helper("sim").finalMessage();
    assert.deepEqual(final.content, (await ask("sim")).content);
    assert.equal(final.stop_reason, "end_turn");
  },
  tools: async () => {
    const message = await helper("sim", { tools: [tool] }).finalMessage();
    assert.equal(message.stop_reason, "tool_use");
    const call = message.content.find((block) => block.type === "tool_use");
    assert.equal(typeof call.input.city, "string");
    const history = [
      ...messages,
      { role: "assistant", content: message.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny-42" }] },
    ];
    const answer = await ask("sim", { messages: history, tools: [tool] });
    assert.match(answer.content[0].text, /sunny-42/);
  },
  thinking: async () => {
    const thinking = { type: "enabled", budget_tokens: 1024 };
    const message = await helper("sim;redacted", { thinking, max_tokens: 4000 }).finalMessage();
    assert.ok(message.content.some((block) => block.type === "thinking" && block.signature));
    const history = [...messages, { role: "assistant", content: message.content }, ...messages];
    const answer = await ask("sim", { messages: history, thinking, max_tokens: 4000 });
    assert.equal(answer.stop_reason, "end_turn");
  },
  parse: async () => {
    const answer = await ask("sim", { output_config: { format: { type: "json_schema", schema } } });
    assert.equal(typeof JSON.parse(answer.content[0].text).city, "string");
  },
  count: async () => {
    assert.ok((await client.messages.countTokens({ model: "sim", messages })).input_tokens > 0);
  },
  models: async () => {
    assert.ok((await collect(client.models.list())).length > 0);
    assert.equal((await client.models.retrieve("sim")).id, "sim");
  },
  "odd streams": async () => {
    for (const odd of [...ODD, "no_event_names", "ping"]) {
      const message = await helper(`sim;words=6;${odd}`).finalMessage();
      assert.equal(message.stop_reason, "end_turn", odd);
      assert.equal(message.content[0].text.trim().split(" ").length, 6, odd);
    }
  },
  "wrong key": async () => {
    const stranger = new Anthropic({ ...options, apiKey: "sk-tg-wrong" });
    const error = await caught(() => stranger.messages.create({ model: "sim", max_tokens: 5, messages }));
    assert.ok(error instanceof Anthropic.AuthenticationError);
  },
  "unknown model": () => refused("nothing-here", Anthropic.NotFoundError, 404, "not_found_error"),
  "bad request": () => refused("", Anthropic.BadRequestError, 400, "invalid_request_error"),
  "upstream 400": () => refused("messages-sim;status=400", Anthropic.BadRequestError, 400, "invalid_request_error"),
  "upstream 401": () => refused("messages-sim;status=401", Anthropic.InternalServerError, 502, "api_error"),
  "upstream 429": async () => {
    const error = await caught(() => ask("messages-sim;status=429;retry_after=3", { stream: true }));
    assert.ok(error instanceof Anthropic.RateLimitError);
    assert.equal(error.headers.get("retry-after"), "3");
  },
  "upstream 500": async () => {
    const error = await caught(() => ask("messages-sim;status=500", { stream: true }));
    assert.ok(error instanceof Anthropic.InternalServerError);
    assert.equal(error.status, 502);
  },
  "upstream overloaded": async () => {
    const error = await caught(() => ask("messages-sim;status=529", { stream: true }));
    assert.ok(error instanceof Anthropic.InternalServerError);
    assert.deepEqual([error.status, error.error.error.type], [529, "overloaded_error"]);
  },
  cut: async () => {
    for (const how of ["clean", "reset", "truncate"]) {
      for (const call of [
        () => collect(ask(`sim;cut_after=3;cut=${how}`, { stream: true })),
        () => helper(`sim;cut_after=3;cut=${how}`).finalMessage(),
      ]) {
        const error = await caught(call);
        assert.ok(error instanceof Anthropic.APIError, `${how}: ${error}`);
        assert.match(error.message, /upstream failed after the response had started/);
      }
    }
  },
  "error event": async () => {
    const error = await caught(() => collect(ask("sim;error_after=3;error=overloaded", { stream: true })));
    assert.ok(error instanceof Anthropic.APIError);
    assert.match(error.message, /overloaded_error/);
  },
  "error first": async () => {
    const error = await caught(() => ask("sim;error=overloaded", { stream: true }));
    assert.equal(error.status, 529);
  },
  abort: async () => {
    const stream = await ask("sim;rate=5;words=100", { stream: true });
    for await (const event of stream) {
      if (event.type === "content_block_delta") break;
    }
    stream.controller.abort();
    assert.ok((await ask("sim")).content.length > 0);
  },
});
