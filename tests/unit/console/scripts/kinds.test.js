import assert from 'node:assert/strict';
import test from 'node:test';

const { changes, differences, draftOf, durationText, emptyDraft, firstDraft, kinds, shortDecimal } = await import('../../../../src/tidegate/console/static/pages/editing/kinds.js');
const { fieldsOf, forms, groupsOf } = await import('../../../../src/tidegate/console/static/pages/editing/fields.js');

const CHANNEL = {
  name: 'main', protocol: 'chat', base_url: 'https://up.test/v1', has_api_key: true, header_names: ['x-team'],
  models: { sonnet: 'claude-sonnet-5', 'gpt-*': 'gpt-*', 'sim;rate=5': 'sim;rate=5' },
  priority: -1, weight: 1, connect_timeout: 10, ca_file: null, forward_headers: ['x-a', 'x-b'], group: 'main',
  capabilities: { sampling: false, efforts: ['low', 'high'] }, unsupported_tools: 'drop', upstream_stream: 'auto',
  price: { input: '3.00', output: '15.00' },
  price_tiers: [{ above_input_tokens: 200000, input: '6.00', output: '22.50' }],
  service_tiers: { priority: '2.0' },
};
const fields = fieldsOf(groupsOf('channels', { fresh: false }));
const sent = (patch) => changes(fields, draftOf(fields, CHANNEL), { ...draftOf(fields, CHANNEL), ...patch });

test('nothing is sent for what was not changed', () => assert.deepEqual(sent({}), {}));

test('a draft says the same as what it was made of', () => {
  const draft = draftOf(fields, CHANNEL);
  const all = changes(fields, emptyDraft(fields), draft);
  for (const name of ['protocol', 'base_url', 'models', 'priority', 'forward_headers', 'capabilities', 'price', 'price_tiers']) {
    assert.deepEqual(all[name], CHANNEL[name], name);
  }
  assert.deepEqual(all.service_tiers, CHANNEL.service_tiers);
  assert.equal(all.connect_timeout, '10s');
  assert.ok(!('api_key' in all) && !('headers' in all));
});

test('a setting with members is sent as a whole', () => {
  assert.deepEqual(sent({ 'price.input': '4' }), { price: { input: '4', output: '15.00' } });
  assert.deepEqual(sent({ 'price.input': '', 'price.output': ' ' }), { price: null });
  assert.deepEqual(sent({ 'capabilities.sampling': '' }), { capabilities: { efforts: ['low', 'high'] } });
});

test('a credential is kept, replaced or removed', () => {
  assert.deepEqual(sent({ api_key: { text: '', remove: false } }), {});
  assert.deepEqual(sent({ api_key: { text: ' sk-new ', remove: false } }), { api_key: 'sk-new' });
  assert.deepEqual(sent({ api_key: { text: '', remove: true } }), { api_key: null });
  assert.deepEqual(sent({ headers: { text: 'X-Team: red\nX-B: a: b', remove: false } }), { headers: { 'X-Team': 'red', 'X-B': 'a: b' } });
  assert.deepEqual(sent({ headers: { text: '', remove: true } }), { headers: {} });
});

test('models are read line by line', () => {
  assert.deepEqual(kinds.served.value(' a \n\nb = c\nsim;x=1\nd  =  e = f'), { a: 'a', b: 'c', 'sim;x=1': 'sim;x=1', d: 'e = f' });
});

test('what is no number goes to the gateway as it is, which says what is wrong', () => {
  assert.deepEqual(sent({ weight: 'many' }), { weight: 'many' });
  assert.deepEqual(sent({ weight: ' 12 ' }), { weight: 12 });
  assert.deepEqual(sent({ weight: '' }), { weight: null });
  assert.deepEqual(sent({ connect_timeout: '500ms' }), { connect_timeout: '500ms' });
});

test('a key may use all models, some, or none', () => {
  const all = { all: true, text: '' };
  assert.deepEqual(kinds.namesOrAll.draft(null), all);
  assert.equal(kinds.namesOrAll.value({ ...all, text: 'a' }), null);
  assert.deepEqual(kinds.namesOrAll.value({ all: false, text: 'a\nb' }), ['a', 'b']);
  assert.deepEqual(kinds.namesOrAll.value({ all: false, text: '' }), []);
});

test('something new sends what was chosen for the reader, and nothing that was left empty', () => {
  const fresh = fieldsOf(groupsOf('channels', { fresh: true }));
  const draft = { ...firstDraft(fresh), name: 'new' };
  assert.deepEqual(changes(fresh, emptyDraft(fresh), draft), { name: 'new', protocol: 'chat' });
  assert.deepEqual(differences(fresh, draft, draft), []);
});

test('every setting stands in one form once', () => {
  for (const kind of Object.keys(forms)) {
    const names = fieldsOf(groupsOf(kind, { fresh: true })).map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  }
});

test('durations and decimals read as people write them', () => {
  const times = [[0, '0'], [0.5, '500ms'], [1.5, '1.5s'], [10, '10s'], [90, '90s'], [360, '6m'], [3600, '1h'], [null, '']];
  for (const [seconds, text] of times) assert.equal(durationText(seconds), text);
  for (const [told, text] of [['5.000000000', '5.00'], ['0.100000000', '0.10'], ['3.00', '3.00'], ['7', '7'], ['0.000001', '0.000001'], [null, '']]) {
    assert.equal(shortDecimal(told), text);
  }
});
