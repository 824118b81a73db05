import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import * as format from '../../../../src/tidegate/console/static/format.js';
import { language } from '../../../../src/tidegate/console/static/i18n.js';

const spaced = (text) => text.replaceAll('\u00a0', ' ');

beforeEach(() => language.set('en'));

test('a duration is told in the unit that a person would take', () => {
  const told = [
    [0, '0 ms'],
    [0.42, '0.4 ms'],
    [412.4, '412 ms'],
    [999.4, '999 ms'],
    [999.6, '1 s'],
    [5321, '5.32 s'],
    [59940, '59.9 s'],
    [59960, '1 min'],
    [123000, '2 min 3 s'],
    [3600000, '1 h'],
    [12000000, '3 h 20 min'],
    [86400000 * 2.5, '2 d 12 h'],
  ];
  for (const [ms, text] of told) assert.equal(spaced(format.duration(ms)), text);
});

test('a duration in Chinese has Chinese units from a minute on', () => {
  language.set('zh');
  assert.equal(spaced(format.duration(412)), '412 ms');
  assert.equal(spaced(format.duration(123000)), '2 分 3 s');
});

test('what is not told is a dash and never a zero', () => {
  for (const one of [format.duration, format.whole, format.short, format.money, format.exactMoney, format.bytes]) {
    assert.equal(one(null), format.NOTHING);
    assert.equal(one(undefined), format.NOTHING);
  }
  assert.equal(format.share(0, 0), format.NOTHING);
  assert.equal(format.moment('rubbish'), format.NOTHING);
});

test('money in short keeps small amounts readable', () => {
  assert.equal(format.money('0.000000000'), '$0.00');
  assert.equal(format.money('0.000234000'), '$0.000234');
  assert.equal(format.money('0.143100000'), '$0.143');
  assert.equal(format.money('1234.560000000'), '$1,234.56');
  assert.equal(format.money('123456.789'), '$123,457');
  assert.equal(format.money('12345678.9'), '$12.35M');
});

test('exact money loses no digit, however large the amount', () => {
  assert.equal(format.exactMoney('999999999.123456789'), '$999,999,999.123456789');
  assert.equal(format.exactMoney('0.0000000004'), '$0.0000000004');
});

test('large numbers are short, and millions are a large M in every region', () => {
  assert.equal(format.short(9999), '9,999');
  assert.equal(format.short(1234567), '1.23M');
  language.set('zh');
  assert.equal(format.short(1234567), '123万');
});

test('bytes', () => {
  assert.equal(format.bytes(0), '0 B');
  assert.equal(format.bytes(1023), '1,023 B');
  assert.equal(format.bytes(1536), '1.5 KiB');
  assert.equal(format.bytes(1024 ** 5 * 3), '3,072 TiB');
});

test('a moment is told without its day only if it is of today, in the zone of the reader', () => {
  const now = new Date('2026-11-30T10:00:00Z');
  assert.equal(format.moment('2026-11-30T09:05:07.123Z', now), '10:05:07');
  assert.match(format.moment('2026-11-29T09:05:07Z', now), /29.*10:05:07/);
  assert.doesNotMatch(format.moment('2026-11-29T09:05:07Z', now), /2026/);
  assert.match(format.moment('2025-11-29T09:05:07Z', now), /2025/);
  assert.equal(format.utc('2026-11-30T09:05:07.123Z'), '2026-11-30 09:05:07.123 UTC');
});

test('how long ago', () => {
  const now = Date.parse('2026-11-30T10:00:00Z');
  assert.equal(format.ago('2026-11-30T09:57:00Z', now), '3 minutes ago');
  assert.equal(format.ago('2026-11-28T09:57:00Z', now), '2 days ago');
});

test('signs that turn a text around or cannot be seen are made visible', () => {
  assert.equal(format.plain('a\u202eb'), 'a\u27e8U+202E\u27e9b');
  assert.equal(format.plain('a\u0000\u200b'), 'a\u27e8U+0000\u27e9\u27e8U+200B\u27e9');
  assert.equal(format.plainLines('a\r\n\tb\u202e\u0000'), 'a\r\n\tb\u27e8U+202E\u27e9\u27e8U+0000\u27e9');
  assert.equal(format.plain('<img src=x> 模型 مرحبا'), '<img src=x> 模型 مرحبا');
});
