import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.location = { pathname: '/console/', search: '' };
const { match, link } = await import('../../../../src/tidegate/console/static/router.js');
const { bounds, rangeOf } = await import('../../../../src/tidegate/console/static/components/range.js');
const { sorted, turned } = await import('../../../../src/tidegate/console/static/components/table.js');
const { arrived, begun, MOST_ROWS, released } = await import('../../../../src/tidegate/console/static/pages/live_rows.js');
const { phasesOf, scaleOf } = await import('../../../../src/tidegate/console/static/pages/timeline.js');
const { stacked } = await import('../../../../src/tidegate/console/static/components/plot.js');

test('a path is matched part by part, and its names are read back', () => {
  assert.deepEqual(match('/requests/:id', '/requests/req_1'), { id: 'req_1' });
  assert.deepEqual(match('/keys/:name', '/keys/a%2Fb%20c'), { name: 'a/b c' });
  assert.deepEqual(match('/keys/:name', '/keys/%zz'), { name: '%zz' });
  assert.equal(match('/keys/:name', '/keys'), null);
  assert.equal(match('/keys', '/channels'), null);
  assert.deepEqual(match('/', '/'), {});
});

test('an address leaves out what is empty', () => {
  assert.equal(link('/requests', { model: 'a b', key: null, page: '' }), '/console/requests?model=a+b');
});

test('a range is read from an address, however wrong it is', () => {
  assert.deepEqual(rangeOf({}, '1h'), { range: '1h' });
  assert.deepEqual(rangeOf({}), {});
  assert.deepEqual(rangeOf({ range: '7d' }, '1h'), { range: '7d' });
  for (const range of ['2y', 'constructor', '__proto__']) assert.deepEqual(rangeOf({ range }, '1h'), { range: '1h' });
  const [since, until] = ['2026-11-30T09:00:00.000Z', '2026-11-30T10:00:00.000Z'];
  assert.deepEqual(rangeOf({ since, until, range: '7d' }, '1h'), { since, until });
  assert.deepEqual(rangeOf({ since: until, until: since }, '1h'), { range: '1h' });
  assert.deepEqual(rangeOf({ since: 'x', until }, '1h'), { range: '1h' });
});

test('a range up to now begins where it is asked, and has no end', () => {
  assert.deepEqual(bounds({ range: '15m' }, Date.parse('2026-11-30T10:00:00Z')), { since: '2026-11-30T09:45:00.000Z' });
  assert.deepEqual(bounds({}, 0), {});
});

test('rows without a value stand last, whichever way they are sorted', () => {
  const rows = [{ v: 2 }, { v: null }, { v: 10 }, { v: undefined }];
  const values = (down) => sorted(rows, (row) => row.v, down).map((row) => row.v);
  assert.deepEqual(values(true), [10, 2, null, undefined]);
  assert.deepEqual(values(false), [2, 10, null, undefined]);
  assert.deepEqual(turned({ by: 'a', down: true }, 'a'), { by: 'a', down: false });
  assert.deepEqual(turned({ by: 'a', down: false }, 'b'), { by: 'b', down: true });
});

const attempt = (more) => ({ started_at: '2026-11-30T10:00:00.100Z', duration_ms: 100, outcome: 'served', ...more });

test('the phases of an attempt fill it without gaps', () => {
  const fine = attempt({ connected_ms: 10, first_byte_ms: 30, first_event_ms: 50 });
  assert.deepEqual(phasesOf(fine), [
    { phase: 'connect', from: 0, to: 10 },
    { phase: 'byte', from: 10, to: 30 },
    { phase: 'event', from: 30, to: 50 },
    { phase: 'rest', from: 50, to: 100 },
  ]);
  const pooled = attempt({ connected_ms: null, first_byte_ms: 30, first_event_ms: null });
  assert.deepEqual(phasesOf(pooled).map(({ phase, to }) => [phase, to]), [['byte', 30], ['rest', 100]]);
});

test('an attempt that failed before anything useful came has no answer in its phases', () => {
  const last = (times) => phasesOf(attempt({ outcome: 'failed', connected_ms: null, first_byte_ms: null, first_event_ms: null, ...times })).at(-1);
  assert.deepEqual(last({ first_byte_ms: 30 }), { phase: 'event', from: 30, to: 100 });
  assert.deepEqual(last({ connected_ms: 10 }), { phase: 'byte', from: 10, to: 100 });
  assert.deepEqual(last({ first_byte_ms: 30, first_event_ms: 50 }), { phase: 'rest', from: 50, to: 100 });
});

test('rows of earlier versions have one phase, and times that cannot be never run backwards', () => {
  assert.deepEqual(phasesOf(attempt({})), [{ phase: 'all', from: 0, to: 100 }]);
  const odd = phasesOf(attempt({ connected_ms: 70, first_byte_ms: 20, first_event_ms: 500 }));
  for (const { from, to } of odd) assert.ok(from <= to && to <= 100);
});

test('the scale holds every attempt, also those that seem to end after the request', () => {
  const row = { created_at: '2026-11-30T10:00:00.000Z', duration_ms: 150, attempts: [attempt({})] };
  const scale = scaleOf(row);
  assert.equal(scale.all, 200);
  assert.equal(scale.after(row.attempts[0]), 100);
  assert.ok(scale.marks.length >= 3 && scale.marks.every(({ place }) => place >= 0 && place <= 100));
  assert.ok(scaleOf({ ...row, duration_ms: 0, attempts: [] }).marks.length > 0);
});

const rowsOf = (...ids) => ids.map((id) => ({ id }));
const idsOf = (rows) => rows.map(({ id }) => id).join('');

test('new rows come first and are marked, and none stands twice', () => {
  const list = arrived(begun(rowsOf('b', 'a')), rowsOf('d', 'c', 'b'), false);
  assert.equal(idsOf(list.rows), 'dcba');
  assert.deepEqual([...list.fresh].sort(), ['c', 'd']);
  assert.equal(arrived(list, rowsOf('d', 'a'), false), list);
});

test('while they are held, rows wait and nothing that is shown moves', () => {
  const shown = begun(rowsOf('b', 'a'));
  const held = arrived(arrived(shown, rowsOf('c'), true), rowsOf('d', 'c'), true);
  assert.equal(held.rows, shown.rows);
  assert.equal(idsOf(held.waiting), 'dc');
  const free = released(held);
  assert.equal(idsOf(free.rows), 'dcba');
  assert.equal(free.waiting.length, 0);
});

test('rows that waited are shown before newer ones that come when nothing holds them', () => {
  const held = arrived(begun(rowsOf('a')), rowsOf('b'), true);
  assert.equal(idsOf(arrived(held, rowsOf('c'), false).rows), 'cba');
});

test('a live list does not grow without end', () => {
  const many = (from) => Array.from({ length: 150 }, (_, index) => ({ id: `${from}${index}` }));
  const list = arrived(arrived(begun(many('a')), many('b'), false), many('c'), true);
  assert.ok(list.rows.length === MOST_ROWS && list.waiting.length <= MOST_ROWS);
  const free = released(list);
  assert.ok(free.rows.length === MOST_ROWS && free.fresh.size <= MOST_ROWS);
});

test('stacked series lie on each other, and the figures themselves are left alone', () => {
  const series = [{ values: [1, 2] }, { values: [3, 4] }, { values: [5, 6] }];
  assert.deepEqual(stacked(series), [[9, 12], [8, 10], [5, 6]]);
  assert.deepEqual(series[0].values, [1, 2]);
});
