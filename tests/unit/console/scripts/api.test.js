import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import * as api from '../../../../src/tidegate/console/static/api.js';
import { now } from '../../../../src/tidegate/console/static/clock.js';

let asked;
let answers;

beforeEach(() => {
  asked = [];
  answers = [];
  api.forgetTrouble();
  api.session.set({ state: 'in', operator: 'admin', csrf: 'first' });
  globalThis.fetch = async (url, init) => {
    asked.push({ url, ...init });
    const next = answers.shift();
    if (next instanceof Error) throw next;
    return next;
  };
});

const json = (status, body, headers = {}) => new Response(JSON.stringify(body), { status, headers });
const failed = (work) => work.then(() => assert.fail('it went well'), (error) => error);

test('values of the query are quoted, and what is empty is left out', () => {
  assert.equal(
    api.address('requests', { model: 'a&b=c d', key: '', before: null, limit: 5 }),
    '/admin/v1/requests?model=a%26b%3Dc+d&limit=5',
  );
  assert.equal(api.address(`keys/${api.part('a/b?c')}`), '/admin/v1/keys/a%2Fb%3Fc');
});

test('only changes carry the token against forged requests', async () => {
  answers = [json(200, {}), json(200, {}, { etag: '"2"' })];
  await api.get('keys');
  const { etag } = await api.change('PATCH', 'keys/a', { body: { models: null }, ifMatch: '"1"' });
  assert.equal(asked[0].headers['x-csrf-token'], undefined);
  assert.equal(asked[1].headers['x-csrf-token'], 'first');
  assert.equal(asked[1].headers['if-match'], '"1"');
  assert.equal(asked[1].body, '{"models":null}');
  assert.equal(etag, '"2"');
});

test('a session that is over is told once, and signing in goes on', async () => {
  answers = [json(401, { detail: 'no' }), json(200, { operator: 'alice', csrf: 'second' })];
  const error = await failed(api.get('keys'));
  assert.equal(error.kind, 'signed-out');
  assert.equal(api.session.get().state, 'expired');
  await api.signIn('token');
  assert.deepEqual(api.session.get(), { state: 'in', operator: 'alice', csrf: 'second' });
});

test('a wrong token is no expired session', async () => {
  api.session.set({ state: 'out' });
  answers = [json(401, { detail: 'wrong' })];
  assert.equal((await failed(api.signIn('x'))).kind, 'signed-out');
  assert.equal(api.session.get().state, 'out');
});

test('too many tries tell how long to wait', async () => {
  answers = [json(429, { detail: 'slowly' }, { 'retry-after': '7' })];
  const error = await failed(api.signIn('x'));
  assert.equal(error.kind, 'throttled');
  assert.equal(error.retryAfter, 7);
});

test('a change after another tab has signed in anew is sent once more with the new token', async () => {
  answers = [json(403, {}), json(200, { operator: 'admin', csrf: 'second' }), json(201, { name: 'a' })];
  const { body } = await api.change('POST', 'keys', { body: { name: 'a' } });
  assert.equal(body.name, 'a');
  assert.deepEqual(asked.map((one) => one.headers['x-csrf-token']), ['first', undefined, 'second']);
});

test('a change that is forbidden for another reason is not repeated', async () => {
  answers = [json(403, { detail: 'no' }), json(200, { operator: 'admin', csrf: 'first' })];
  const error = await failed(api.change('DELETE', 'keys/a'));
  assert.equal(error.kind, 'refused');
  assert.equal(asked.length, 2);
});

test('the banner comes with the first lost answer and goes with the next good one', async () => {
  answers = [new TypeError('failed to fetch'), json(200, {})];
  const error = await failed(api.get('overview'));
  assert.equal(error.kind, 'network');
  assert.ok(error.passing);
  assert.equal(api.connection.get(), 'network');
  await api.get('keys');
  assert.equal(api.connection.get(), 'ok');
});

test('while the database is away, an answer that needs none does not take the banner down', async () => {
  answers = [json(503, { detail: 'away' }), json(200, {}), json(200, {})];
  assert.equal((await failed(api.get('overview'))).kind, 'away');
  await api.get('health');
  assert.equal(api.connection.get(), 'database');
  await api.get('overview');
  assert.equal(api.connection.get(), 'ok');
});

test('an answer that is given up is no trouble', async () => {
  answers = [Object.assign(new Error('gone'), { name: 'AbortError' })];
  assert.equal((await failed(api.get('keys'))).name, 'AbortError');
  assert.equal(api.connection.get(), 'ok');
});

test('each wrong setting is told', async () => {
  const errors = [{ field: 'price.input', message: 'is no number', mend: 'give one' }];
  answers = [json(422, { detail: 'wrong', errors })];
  const error = await failed(api.change('POST', 'models', { body: {} }));
  assert.deepEqual(error.faults, errors);
});

test('an error page of a proxy is an error without words', async () => {
  answers = [new Response('<html>Bad Gateway</html>', { status: 502 }), new Response('<html>', { status: 200 })];
  assert.equal((await failed(api.get('keys'))).kind, 'away');
  assert.equal((await failed(api.get('keys'))).kind, 'network');
});

test('the time is the one that the gateway tells, unless it is nearly the same', async () => {
  const date = (ms) => ({ date: new Date(Date.now() + ms).toUTCString() });
  answers = [json(200, {}, date(7200000)), json(200, {}, date(-1000)), json(200, {}, { date: 'rubbish' })];
  await api.get('keys');
  assert.ok(Math.abs(now() - Date.now() - 7200000) < 3000);
  await api.get('keys');
  assert.ok(Math.abs(now() - Date.now()) < 100);
  await api.get('keys');
  assert.ok(Math.abs(now() - Date.now()) < 100);
});

test('signing out ends here also when the session was over already', async () => {
  answers = [json(401, {})];
  await api.signOut();
  assert.equal(api.session.get().state, 'out');
});
