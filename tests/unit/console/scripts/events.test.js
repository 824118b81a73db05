import assert from 'node:assert/strict';
import test from 'node:test';

const { EventReader } = await import('../../../../src/tidegate/console/static/pages/playground/events.js');
const encoder = new TextEncoder();
const STREAM = ': hello\nevent: a\ndata: {"x":1}\n\ndata: one\ndata: two 北京😀\nid: 7\n\n: keepalive\n\ndata: [DONE]\n\n';
const EVENTS = [['comment', null, 'hello'], ['event', 'a', '{"x":1}'], ['event', null, 'one\ntwo 北京😀'], ['comment', null, 'keepalive'], ['event', null, '[DONE]']];

function read(text, size) {
  const reader = new EventReader();
  const bytes = encoder.encode(text);
  const found = [];
  for (let at = 0; at < bytes.length; at += size) found.push(...reader.feed(bytes.slice(at, at + size), at));
  return [...found, ...reader.end(bytes.length)];
}
const told = (events) => events.map(({ kind, name, data }) => [kind, name, data]);

test('any cut gives the same events', () => {
  for (let size = 1; size < STREAM.length; size += 1) assert.deepEqual(told(read(STREAM, size)), EVENTS, `cut every ${size}`);
});

test('any line end gives the same events', () => {
  for (const end of ['\r\n', '\r']) {
    for (const size of [1, 2, 3, 1000]) assert.deepEqual(told(read(STREAM.replaceAll('\n', end), size)), EVENTS);
  }
});

test('the raw text of an event is all of its lines', () => {
  const [event] = read('event: a\r\ndata: 1\r\n\r\n', 4);
  assert.equal(event.raw, 'event: a\r\ndata: 1\r\n');
});

test('what was not closed is told as that', () => {
  assert.deepEqual(told(read('data: 1\n\ndata: 2', 5)), [['event', null, '1'], ['torn', null, '2']]);
  assert.deepEqual(told(read('', 5)), []);
});

test('an event has the time of its last byte', () => {
  const [first, second] = read('data: 1\n\ndata: 2\n\n', 9);
  assert.deepEqual([first.at, second.at], [0, 9]);
});
