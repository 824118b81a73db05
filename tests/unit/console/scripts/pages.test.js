import assert from 'node:assert/strict';
import { test } from 'node:test';

globalThis.location = { pathname: '/console/', search: '' };
const { match, link } = await import('../../../../src/tidegate/console/static/router.js');
const { bounds, rangeOf } = await import('../../../../src/tidegate/console/static/components/range.js');
const { sorted, turned } = await import('../../../../src/tidegate/console/static/components/table.js');
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

test('stacked series lie on each other, and the figures themselves are left alone', () => {
  const series = [{ values: [1, 2] }, { values: [3, 4] }, { values: [5, 6] }];
  assert.deepEqual(stacked(series), [[9, 12], [8, 10], [5, 6]]);
  assert.deepEqual(series[0].values, [1, 2]);
});
