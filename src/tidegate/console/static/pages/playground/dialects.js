/** The three protocols as the playground needs them: requests to send, and what their answers say. */

const NOTHING = Object.freeze({});

/** The protocols by name, with what `read` finds: text, reasoning, tool calls, usage, an error, the end. */
export const dialects = {
  chat: {
    path: '/v1/chat/completions',
    body: ({ model, system, prompt, limit, temperature, tools, stream }) => ({
      model,
      messages: [...(system ? [{ role: 'system', content: system }] : []), { role: 'user', content: prompt }],
      ...told({ max_completion_tokens: limit, temperature, tools }),
      ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
    read: readChat,
    whole: wholeChat,
    tool: (tool) => ({ type: 'function', function: tool }),
  },
  responses: {
    path: '/v1/responses',
    body: ({ model, system, prompt, limit, temperature, tools, stream }) => ({
      model,
      ...told({ instructions: system || null }),
      input: prompt,
      ...told({ max_output_tokens: limit, temperature, tools }),
      ...(stream ? { stream: true } : {}),
    }),
    read: readResponses,
    whole: wholeResponses,
    tool: (tool) => ({ type: 'function', ...tool }),
  },
  messages: {
    path: '/v1/messages',
    body: ({ model, system, prompt, limit, temperature, tools, stream }) => ({
      model,
      max_tokens: limit ?? 1024,
      ...told({ system: system || null, temperature }),
      messages: [{ role: 'user', content: prompt }],
      ...told({ tools }),
      ...(stream ? { stream: true } : {}),
    }),
    read: readMessages,
    whole: wholeMessages,
    tool: ({ name, description, parameters }) => ({ name, description, input_schema: parameters }),
  },
};

/** A tool in the form of the protocol, for whoever wants to try one. */
export function exampleTool(protocol) {
  return dialects[protocol].tool({
    name: 'get_weather',
    description: 'The weather at a place.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  });
}

/**
 * What one event says, as `{text, reasoning, tool, usage, finish, error, end}`; absent where it says nothing of it.
 *
 * `tool` is a piece of a call's name or arguments. What is no JSON says nothing.
 */
export function readEvent(protocol, { name, data }) {
  if (protocol === 'chat' && data === '[DONE]') return { end: true };
  const value = parsed(data);
  return value === null ? NOTHING : (dialects[protocol].read(value, name) ?? NOTHING);
}

/** The same of an answer that came as a whole. */
export function readWhole(protocol, value) {
  if (!isObject(value)) return NOTHING;
  return dialects[protocol].whole(value) ?? NOTHING;
}

/** The usage of any protocol as `{input, cached, written, output}`, input without what was cached. */
export function tokens(protocol, usage) {
  if (!isObject(usage)) return null;
  if (protocol === 'messages') {
    const cached = usage.cache_read_input_tokens ?? 0;
    const written = usage.cache_creation_input_tokens ?? 0;
    return { input: usage.input_tokens ?? 0, cached, written, output: usage.output_tokens ?? 0 };
  }
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details ?? {};
  const cached = details.cached_tokens ?? 0;
  const written = details.cache_write_tokens ?? 0;
  const input = (usage.prompt_tokens ?? usage.input_tokens ?? 0) - cached - written;
  return { input, cached, written, output: usage.completion_tokens ?? usage.output_tokens ?? 0 };
}

/** The message of an error in any of the protocols' forms, or null. */
export function errorText(value) {
  const error = isObject(value) ? value.error : null;
  if (typeof error === 'string') return error;
  return isObject(error) ? [error.code ?? error.type, error.message].filter(Boolean).join(': ') : null;
}

function readChat(value) {
  if (value.error) return { error: errorText(value) };
  const said = {};
  for (const choice of value.choices ?? []) {
    const delta = choice.delta ?? {};
    add(said, 'text', delta.content);
    add(said, 'text', delta.refusal);
    add(said, 'reasoning', delta.reasoning_content ?? delta.reasoning);
    for (const call of delta.tool_calls ?? []) {
      if (call.function?.name ?? call.custom?.name) add(said, 'tool', `${call.function?.name ?? call.custom.name} `);
      add(said, 'tool', call.function?.arguments ?? call.custom?.input);
    }
    if (choice.finish_reason) said.finish = choice.finish_reason;
  }
  if (value.usage) said.usage = value.usage;
  return said;
}

function wholeChat(value) {
  const [choice] = value.choices ?? [];
  const message = choice?.message ?? {};
  const calls = (message.tool_calls ?? []).map((call) => call.function ?? { name: call.custom?.name });
  return {
    ...told({ text: message.content ?? message.refusal, reasoning: message.reasoning_content }),
    ...told({ tool: joined(calls.map((call) => `${call.name} ${call.arguments ?? ''}`)) }),
    ...told({ usage: value.usage, finish: choice?.finish_reason, error: errorText(value) }),
  };
}

function readResponses(value, name) {
  switch (value.type ?? name) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return { text: value.delta };
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      return { reasoning: value.delta };
    case 'response.output_item.added':
      return value.item?.name ? { tool: `${value.item.name} ` } : NOTHING;
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      return { tool: value.delta };
    case 'response.completed':
    case 'response.incomplete': {
      const answer = value.response ?? {};
      const finish = answer.incomplete_details?.reason ?? answer.status;
      return { end: true, ...told({ usage: answer.usage, finish }) };
    }
    case 'response.failed':
      return { error: errorText(value.response) ?? 'response.failed', ...told({ usage: value.response?.usage }) };
    case 'error':
      return { error: errorText(value) ?? [value.code, value.message].filter(Boolean).join(': ') };
    default: // further events say nothing that is shown
      return NOTHING;
  }
}

function wholeResponses(value) {
  const said = {};
  for (const item of value.output ?? []) {
    if (item.type === 'message') for (const part of item.content ?? []) add(said, 'text', part.text ?? part.refusal);
    else if (item.type === 'reasoning') for (const part of item.summary ?? []) add(said, 'reasoning', part.text);
    else if (item.name) add(said, 'tool', `${item.name} ${item.arguments ?? item.input ?? ''}\n`);
  }
  const finish = value.incomplete_details?.reason ?? value.status;
  return { ...said, ...told({ usage: value.usage, finish, error: errorText(value) }) };
}

function readMessages(value, name) {
  switch (value.type ?? name) {
    case 'message_start':
      return told({ usage: value.message?.usage });
    case 'content_block_start':
      return value.content_block?.name ? { tool: `${value.content_block.name} ` } : told({ text: value.content_block?.text });
    case 'content_block_delta':
      return told({
        text: value.delta?.text,
        reasoning: value.delta?.thinking,
        tool: value.delta?.partial_json,
      });
    case 'message_delta':
      return told({ usage: value.usage, finish: value.delta?.stop_reason });
    case 'message_stop':
      return { end: true };
    case 'error':
      return { error: errorText(value) };
    default: // pings, and events that are not known
      return NOTHING;
  }
}

function wholeMessages(value) {
  const said = {};
  for (const block of value.content ?? []) {
    add(said, 'text', block.text);
    add(said, 'reasoning', block.thinking);
    if (block.name) add(said, 'tool', `${block.name} ${JSON.stringify(block.input ?? {})}\n`);
  }
  const error = value.type === 'error' ? errorText(value) : null;
  return { ...said, ...told({ usage: value.usage, finish: value.stop_reason, error }) };
}

/** Only what is told. */
function told(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== undefined));
}

function add(said, name, piece) {
  if (typeof piece === 'string' && piece) said[name] = (said[name] ?? '') + piece;
}

function joined(lines) {
  return lines.length ? lines.join('\n') : null;
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
