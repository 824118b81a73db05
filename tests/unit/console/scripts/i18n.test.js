import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { beforeEach, test } from 'node:test';
import { chooseLanguage, language, words } from '../../../../src/tidegate/console/static/i18n.js';
import { pages, sections } from '../../../../src/tidegate/console/static/pages/index.js';

const FOLDER = new URL('../../../../src/tidegate/console/static/', import.meta.url);
const files = readdirSync(FOLDER, { recursive: true }).filter((name) => name.endsWith('.strings.js') || name.endsWith('/strings.js'));
const tables = await Promise.all(files.map(async (name) => [name, (await import(new URL(name, FOLDER))).strings]));

beforeEach(() => language.set('en'));

const texts = (one) => (typeof one === 'string' ? [one] : Object.values(one));
const slots = (one) => [...new Set(texts(one).flatMap((text) => text.match(/\{\w+\}/g) ?? []))].sort();

for (const [name, strings] of tables) {
  test(`${name}: both languages have the same words, with the same values in them`, () => {
    assert.deepEqual(Object.keys(strings).sort(), ['en', 'zh']);
    assert.deepEqual(Object.keys(strings.zh).sort(), Object.keys(strings.en).sort());
    for (const key of Object.keys(strings.en)) {
      assert.deepEqual(slots(strings.zh[key]), slots(strings.en[key]), key);
      for (const text of [...texts(strings.en[key]), ...texts(strings.zh[key])]) assert.ok(text.trim(), key);
    }
  });
}

test('there are words to look at', () => assert.ok(files.length >= 6));

test('every page and section is named in both languages, and no key leads to two pages', () => {
  for (const { title } of [...pages, ...sections]) assert.ok(title.en && title.zh);
  const jumps = pages.map((page) => page.jump).filter(Boolean);
  assert.equal(new Set(jumps).size, jumps.length);
  for (const { section } of pages) assert.ok(section === undefined || sections.some(({ name }) => name === section));
});

const SAMPLE = {
  en: { hello: 'Hello {name}', rows: { one: '{count} row', other: '{count} rows' } },
  zh: { hello: '你好，{name}', rows: '{count} 行' },
};

test('values are filled in, and the number decides the form', () => {
  const t = words(SAMPLE);
  assert.equal(t('hello', { name: 'Ada' }), 'Hello Ada');
  assert.equal(t('rows', { count: 1 }), '1 row');
  assert.equal(t('rows', { count: 1200 }), '1,200 rows');
  language.set('zh');
  assert.equal(words(SAMPLE)('rows', { count: 1 }), '1 行');
});

test('a value with braces or other writing stays what it is, its direction kept to itself', () => {
  const t = words(SAMPLE);
  assert.equal(t('hello', { name: '{name}{{constructor}}' }), 'Hello {name}{{constructor}}');
  assert.equal(t('hello', { name: 'مرحبا' }), 'Hello \u2068مرحبا\u2069');
});

test('parts hold elements between texts', () => {
  const element = {};
  assert.deepEqual(words(SAMPLE).parts('hello', { name: element }), ['Hello ', element, '']);
});

test('a key without words is a mistake that is told', () => {
  assert.throws(() => words(SAMPLE)('nothing'), /no words for nothing/);
  assert.throws(() => words(SAMPLE)('constructor'), /no words/);
  assert.equal(words(SAMPLE).has('constructor'), false);
});

test('a choice is told to the document', () => {
  globalThis.document = { documentElement: {} };
  chooseLanguage('zh');
  assert.equal(document.documentElement.lang, 'zh-CN');
  assert.equal(language.get(), 'zh');
});
