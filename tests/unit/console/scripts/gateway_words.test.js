import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { faultWords, reasonWords, sentenceWords } from '../../../../src/tidegate/console/static/gateway_words.js';
import { language } from '../../../../src/tidegate/console/static/i18n.js';

beforeEach(() => language.set('en'));

test('a fault is told as it fits into a form', () => {
  const whole = { message: 'must be a whole number, not text', mend: 'write it without quotes and without a fraction' };
  assert.equal(faultWords(whole), 'A whole number is needed, in digits only.');
  assert.equal(faultWords({ message: 'is out of range', mend: 'choose a number from -5 to 10' }), 'A number from -5 to 10 is needed.');
  assert.equal(faultWords({ message: 'has more than 6 decimals', mend: '' }), 'At most 6 decimals are possible.');
  language.set('zh');
  assert.equal(faultWords(whole), '需要整数，只能含数字。');
});

test('what is not known stays as it is', () => {
  assert.equal(faultWords({ message: 'is green', mend: 'make it blue' }), 'is green – make it blue');
  assert.equal(sentenceWords('something else'), 'something else');
  assert.equal(reasonWords('something else'), 'something else');
});

test('sentences, with and without the setting that they are about', () => {
  language.set('zh');
  assert.equal(sentenceWords('name: there is one of this name already'), '已有同名项。');
  assert.equal(sentenceWords('it has keys (a, b); delete them first, or all at once with ?force=true'), '它有密钥：a, b。请先删除这些密钥，或一并删除。');
});

test('a reason is told without the time that stands beside it, and reasons inside of it are told too', () => {
  const why = 'left alone for 12.9 s more because the probe failed: Overloaded';
  assert.equal(reasonWords(why), 'left alone because the last try failed: Overloaded');
  assert.equal(reasonWords('left alone for 1.0 s more because of 3 failures in a row, last: boom'), 'left alone because of 3 failures in a row, last: boom');
  language.set('zh');
  const plain = (text) => reasonWords(text).replace(/[\u2068\u2069]/g, '');
  assert.equal(plain(why), '冷却原因：探测失败：Overloaded');
  const probed = 'the next request may probe it; it was left alone because of 3 failures in a row, last: boom';
  assert.equal(plain(probed), '下一个请求将验证其是否恢复；此前因连续失败 3 次，最近一次：boom而冷却');
});
