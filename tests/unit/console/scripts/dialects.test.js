import assert from 'node:assert/strict';
import test from 'node:test';

const { dialects, errorText, exampleTool, readEvent, readWhole, tokens } = await import('../../../../src/tidegate/console/static/pages/playground/dialects.js');
const event = (data, name = null) => ({ name, data: typeof data === 'string' ? data : JSON.stringify(data) });
const asked = { model: 'm', system: 's', prompt: 'p', limit: 5, temperature: 0.5, tools: null, stream: true };

test('each protocol asks in its own form', () => {
  assert.deepEqual(dialects.chat.body(asked), {
    model: 'm', messages: [{ role: 'system', content: 's' }, { role: 'user', content: 'p' }],
    max_completion_tokens: 5, temperature: 0.5, stream: true, stream_options: { include_usage: true },
  });
  assert.deepEqual(dialects.responses.body(asked), { model: 'm', instructions: 's', input: 'p', max_output_tokens: 5, temperature: 0.5, stream: true });
  assert.deepEqual(dialects.messages.body(asked), {
    model: 'm', max_tokens: 5, system: 's', temperature: 0.5, messages: [{ role: 'user', content: 'p' }], stream: true,
  });
});

test('what is left empty is not sent, but for what a protocol must have', () => {
  const bare = { model: 'm', system: '', prompt: 'p', limit: null, temperature: null, tools: null, stream: false };
  assert.deepEqual(dialects.chat.body(bare), { model: 'm', messages: [{ role: 'user', content: 'p' }] });
  assert.deepEqual(dialects.responses.body(bare), { model: 'm', input: 'p' });
  assert.equal(dialects.messages.body(bare).max_tokens, 1024);
});

test('a tool has the form of its protocol', () => {
  assert.equal(exampleTool('chat').function.name, 'get_weather');
  assert.equal(exampleTool('responses').name, 'get_weather');
  assert.equal(exampleTool('messages').input_schema.type, 'object');
});

test('events of Chat Completions', () => {
  const said = (delta, more = {}) => readEvent('chat', event({ choices: [{ delta, ...more }] }));
  assert.deepEqual(said({ content: 'Hi' }), { text: 'Hi' });
  assert.deepEqual(said({ reasoning_content: 'hm' }), { reasoning: 'hm' });
  assert.deepEqual(said({ tool_calls: [{ function: { name: 'f', arguments: '{' } }] }), { tool: 'f {' });
  assert.deepEqual(said({}, { finish_reason: 'stop' }), { finish: 'stop' });
  assert.deepEqual(said({ role: 'assistant', content: '' }), {});
  assert.deepEqual(readEvent('chat', event('[DONE]')), { end: true });
  assert.deepEqual(readEvent('chat', event({ choices: [], usage: { prompt_tokens: 3 } })), { usage: { prompt_tokens: 3 } });
  assert.deepEqual(readEvent('chat', event({ error: { message: 'broke', code: 'x' } })), { error: 'x: broke' });
});

test('events of Responses', () => {
  const said = (value) => readEvent('responses', event(value, value.type));
  assert.deepEqual(said({ type: 'response.output_text.delta', delta: 'Hi' }), { text: 'Hi' });
  assert.deepEqual(said({ type: 'response.reasoning_summary_text.delta', delta: 'hm' }), { reasoning: 'hm' });
  assert.deepEqual(said({ type: 'response.output_item.added', item: { type: 'function_call', name: 'f' } }), { tool: 'f ' });
  assert.deepEqual(said({ type: 'response.function_call_arguments.delta', delta: '{}' }), { tool: '{}' });
  assert.deepEqual(said({ type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 1 } } }), {
    end: true, usage: { input_tokens: 1 }, finish: 'completed',
  });
  assert.deepEqual(said({ type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } }), {
    end: true, finish: 'max_output_tokens',
  });
  assert.deepEqual(said({ type: 'response.failed', response: { error: { code: 'server_error', message: 'broke' } } }), { error: 'server_error: broke' });
  assert.deepEqual(said({ type: 'response.created', response: {} }), {});
});

test('events of Messages', () => {
  const said = (value) => readEvent('messages', event(value, value.type));
  assert.deepEqual(said({ type: 'message_start', message: { usage: { input_tokens: 3 } } }), { usage: { input_tokens: 3 } });
  assert.deepEqual(said({ type: 'content_block_start', content_block: { type: 'tool_use', name: 'f' } }), { tool: 'f ' });
  assert.deepEqual(said({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hi' } }), { text: 'Hi' });
  assert.deepEqual(said({ type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'hm' } }), { reasoning: 'hm' });
  assert.deepEqual(said({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }), {
    usage: { output_tokens: 2 }, finish: 'end_turn',
  });
  assert.deepEqual(said({ type: 'message_stop' }), { end: true });
  assert.deepEqual(said({ type: 'error', error: { type: 'api_error', message: 'broke' } }), { error: 'api_error: broke' });
  assert.deepEqual(said({ type: 'ping' }), {});
});

test('rubbish says nothing', () => {
  for (const protocol of Object.keys(dialects)) {
    for (const data of ['', 'no json', '[]', 'null', '12', '{"choices":null}', '{"choices":[{}]}', '{"output":null}', '{}']) {
      assert.doesNotThrow(() => readEvent(protocol, event(data)), data);
      assert.deepEqual(Object.keys(readEvent(protocol, event(data))), []);
    }
    for (const value of [null, [], 3, {}, { choices: [] }, { content: null, output: null }]) assert.doesNotThrow(() => readWhole(protocol, value));
  }
});

test('whole answers', () => {
  assert.equal(readWhole('chat', { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }).text, 'Hi');
  const item = { type: 'message', content: [{ type: 'output_text', text: 'Hi' }] };
  assert.equal(readWhole('responses', { status: 'completed', output: [item] }).text, 'Hi');
  const blocks = [{ type: 'text', text: 'Hi' }, { type: 'tool_use', name: 'f', input: { a: 1 } }];
  assert.deepEqual(readWhole('messages', { content: blocks, stop_reason: 'tool_use' }), { text: 'Hi', tool: 'f {"a":1}\n', finish: 'tool_use' });
});

test('input counts without what was cached, in every protocol', () => {
  const wanted = { input: 10, cached: 3, written: 2, output: 7 };
  const details = { cached_tokens: 3, cache_write_tokens: 2 };
  assert.deepEqual(tokens('chat', { prompt_tokens: 15, completion_tokens: 7, prompt_tokens_details: details }), wanted);
  assert.deepEqual(tokens('responses', { input_tokens: 15, output_tokens: 7, input_tokens_details: details }), wanted);
  assert.deepEqual(tokens('messages', { input_tokens: 10, output_tokens: 7, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 }), wanted);
  assert.equal(tokens('chat', null), null);
});

test('errors in every form', () => {
  assert.equal(errorText({ error: { message: 'm', type: 't', code: null } }), 't: m');
  assert.equal(errorText({ error: 'plain' }), 'plain');
  assert.equal(errorText({ type: 'x' }), null);
});
