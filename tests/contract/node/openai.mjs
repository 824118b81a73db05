// The official openai SDK for Node: Chat Completions and Responses.

import assert from "node:assert/strict";
import OpenAI from "openai";
import { placeFormat } from "./schema.mjs";
import { ODD, caught, collect, run } from "./scenarios.mjs";

const options = { baseURL: `${process.env.BASE_URL}/v1`, apiKey: process.env.KEY, maxRetries: 0, timeout: 10_000 };
const client = new OpenAI(options);
const messages = [{ role: "user", content: "Say hello." }];
const parameters = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const tool = { type: "function", function: { name: "get_weather", parameters, strict: true } };
const flatTool = { type: "function", name: "get_weather", parameters, strict: true };

const chat = (model, more = {}) => client.chat.completions.create({ model, messages, ...more });
const respond = (model, more = {}) => client.responses.create({ model, input: "Say hello.", ...more });
const text = (chunks) => chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");

// A model of the simulated provider fails on the channel of each protocol alone: else all three would rest.
async function refused(model, kind, status, code) {
  for (const stream of [true, false]) {
    for (const [call, protocol] of [[chat, "chat"], [respond, "responses"]]) {
      const error = await caught(async () => {
        const answer = await call(model.replace(/^sim/, `${protocol}-sim`), { stream });
        if (stream) await collect(answer);
      });
      assert.ok(error instanceof kind, `${error.constructor.name}: ${error.message}`);
      assert.equal(error.status, status);
      if (code !== undefined) assert.equal(error.code, code);
      assert.ok(error.requestID);
    }
  }
}

await run({
  "chat whole": async () => {
    const answer = await chat("sim");
    assert.ok(answer.choices[0].message.content);
    assert.equal(answer.model, "sim");
    assert.ok(answer._request_id);
  },
  "chat stream": async () => {
    const whole = (await chat("sim")).choices[0].message.content;
    const chunks = await collect(chat("sim", { stream: true }));
    assert.equal(text(chunks), whole);
    assert.equal(chunks.at(-1).choices[0].finish_reason, "stop");
  },
  "chat usage": async () => {
    const chunks = await collect(chat("sim", { stream: true, stream_options: { include_usage: true } }));
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.ok(chunks.at(-1).usage.total_tokens > 0);
  },
  "chat helper": async () => {
    const stream = client.chat.completions.stream({ model: "sim", messages });
    const final = await stream.finalChatCompletion();
    assert.equal(final.choices[0].finish_reason, "stop");
    assert.ok(final.choices[0].message.content);
  },
  "chat tools": async () => {
    const stream = client.chat.completions.stream({ model: "sim", messages, tools: [tool] });
    const { message } = (await stream.finalChatCompletion()).choices[0];
    const [call] = message.tool_calls;
    assert.equal(call.function.name, "get_weather");
    assert.equal(typeof JSON.parse(call.function.arguments).city, "string");
    const { parsed, ...plain } = message;
    const history = [...messages, plain, { role: "tool", tool_call_id: call.id, content: "sunny-42" }];
    const answer = await client.chat.completions.create({ model: "sim", messages: history, tools: [tool] });
    assert.match(answer.choices[0].message.content, /sunny-42/);
  },
  "chat parse": async () => {
    const format = placeFormat("chat");
    const answer = await client.chat.completions.parse({ model: "sim", messages, response_format: format });
    assert.equal(typeof JSON.parse(answer.choices[0].message.content).city, "string");
  },
  "responses whole": async () => {
    const answer = await respond("sim");
    assert.ok(answer.output_text);
    assert.equal(answer.model, "sim");
    assert.ok(answer._request_id);
  },
  "responses stream": async () => {
    const events = await collect(respond("sim", { stream: true }));
    assert.equal(events[0].type, "response.created");
    assert.equal(events.at(-1).type, "response.completed");
    assert.deepEqual(events.map((event) => event.sequence_number), [...events.keys()]);
  },
  "responses helper": async () => {
    const stream = client.responses.stream({ model: "sim", input: "Say hello." });
    const final = await stream.finalResponse();
    assert.equal(final.status, "completed");
    assert.ok(final.output_text);
  },
  "responses tools": async () => {
    const stream = client.responses.stream({ model: "sim", input: "Say hello.", tools: [flatTool] });
    const final = await stream.finalResponse();
    const call = final.output.find((item) => item.type === "function_call");
    assert.equal(call.name, "get_weather");
    const input = [
      ...messages,
      { type: "function_call", call_id: call.call_id, name: call.name, arguments: call.arguments },
      { type: "function_call_output", call_id: call.call_id, output: "sunny-42" },
    ];
    const answer = await client.responses.create({ model: "sim", input, tools: [flatTool] });
    assert.match(answer.output_text, /sunny-42/);
  },
  "responses parse": async () => {
    const format = placeFormat("responses");
    const answer = await client.responses.parse({ model: "sim", input: "A place.", text: { format } });
    assert.equal(typeof JSON.parse(answer.output_text).city, "string");
  },
  models: async () => {
    assert.ok((await collect(client.models.list())).length > 0);
    assert.equal((await client.models.retrieve("sim")).id, "sim");
  },
  "odd streams": async () => {
    for (const odd of [...ODD, "event_names"]) {
      const chunks = await collect(chat(`sim;words=6;${odd}`, { stream: true }));
      assert.equal(text(chunks).trim().split(" ").length, 6, odd);
      const events = await collect(respond(`sim;words=6;${odd}`, { stream: true }));
      assert.equal(events.at(-1).type, "response.completed", odd);
    }
  },
  "wrong key": async () => {
    const stranger = new OpenAI({ ...options, apiKey: "sk-tg-wrong" });
    const error = await caught(() => stranger.chat.completions.create({ model: "sim", messages, stream: true }));
    assert.ok(error instanceof OpenAI.AuthenticationError);
    assert.equal(error.code, "invalid_api_key");
  },
  "unknown model": () => refused("nothing-here", OpenAI.NotFoundError, 404, "model_not_found"),
  "bad request": () => refused("", OpenAI.BadRequestError, 400, "invalid_request"),
  "upstream 400": () => refused("sim;status=400", OpenAI.BadRequestError, 400),
  "upstream 401": () => refused("sim;status=401", OpenAI.InternalServerError, 502, "upstream_auth_error"),
  "upstream 429": async () => {
    const error = await caught(() => chat("chat-sim;status=429;retry_after=3", { stream: true }));
    assert.ok(error instanceof OpenAI.RateLimitError);
    assert.equal(error.code, "rate_limit_exceeded");
    assert.equal(error.headers.get("retry-after"), "3");
  },
  "upstream 500": async () => {
    const error = await caught(() => respond("responses-sim;status=500", { stream: true }));
    assert.ok(error instanceof OpenAI.InternalServerError);
    assert.equal(error.status, 502);
  },
  "upstream overloaded": async () => {
    const error = await caught(() => respond("responses-sim;status=503;error=overloaded", { stream: true }));
    assert.ok(error instanceof OpenAI.InternalServerError);
    assert.deepEqual([error.status, error.code], [503, "overloaded"]);
  },
  "chat cut": async () => {
    for (const how of ["clean", "reset", "truncate"]) {
      const error = await caught(() => collect(chat(`sim;cut_after=3;cut=${how}`, { stream: true })));
      assert.ok(error instanceof OpenAI.APIError, how);
      assert.match(error.message, /upstream failed after the response had started/);
      assert.equal(error.code, "stream_interrupted");
    }
  },
  "chat error event": async () => {
    const error = await caught(() => collect(chat("sim;error_after=3;error=overloaded", { stream: true })));
    assert.ok(error instanceof OpenAI.APIError);
  },
  "chat error first": async () => {
    const error = await caught(() => chat("sim;error=overloaded", { stream: true }));
    assert.deepEqual([error.status, error.code], [503, "overloaded"]);
  },
  "responses cut": async () => {
    for (const how of ["clean", "reset", "truncate"]) {
      const events = await collect(respond(`sim;cut_after=3;cut=${how}`, { stream: true }));
      assert.equal(events.at(-1).type, "response.failed", how);
      assert.equal(events.at(-1).response.error.code, "server_error");
    }
  },
  abort: async () => {
    const stream = await chat("sim;rate=5;words=100", { stream: true });
    for await (const chunk of stream) {
      if (chunk.choices[0]?.delta.content) break;
    }
    stream.controller.abort();
    assert.ok((await chat("sim")).choices[0].message.content);
  },
});
