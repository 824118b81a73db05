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
  assert.equal(sentenceWords('internal error'), '网关内部错误');
  assert.equal(sentenceWords('req_1: nothing was charged for it'), '此请求未被收费。');
  assert.equal(sentenceWords('it has keys (a, b); delete them first, or all at once with ?force=true'), '它有密钥：a, b。请先删除这些密钥，或一并删除。');
});

test('a reason is told without the time that stands beside it, and reasons inside of it are told too', () => {
  const why = 'left alone for 12.9 s more because the probe failed: Overloaded';
  assert.equal(reasonWords(why), 'left alone because the last try failed: Overloaded');
  assert.equal(reasonWords('left alone for 1.0 s more because of 3 failures in a row, last: boom'), 'left alone because of 3 failures in a row, last: boom');
  language.set('zh');
  const plain = (text) => reasonWords(text).replace(/[\u2068\u2069]/g, '');
  assert.equal(plain(why), '冷却原因：探测失败：上游过载');
  const probed = 'the next request may probe it; it was left alone because of 3 failures in a row, last: boom';
  assert.equal(plain(probed), '下一个请求将验证其是否恢复；此前因连续失败 3 次，最近一次：boom而冷却');
});

test('why a channel was tried or left out is told in the reader’s language, and in English as it came', () => {
  const told = {
    'priority -3, weight 2': '优先级 -3，权重 2',
    'priority 0, weight 1, preferred for group a, b, of the caller’s protocol': '优先级 0，权重 1，优先选用分组 a, b，与调用方协议相同',
    'priority 0, weight 1, as the probe after a rest because of 3 failures in a row, last: a, b': '优先级 0，权重 1，冷却后的探测，冷却原因：连续失败 3 次，最近一次：a, b',
    'left alone because the probe failed: boom': '冷却原因：探测失败：boom',
    'another request probes it after a rest because the upstream asked for it: boom': '另一个请求正在探测，冷却原因：上游要求：boom',
    'it came to rest, or another request began to probe it, meanwhile': '其间它进入冷却，或已有另一个请求开始探测',
    'paused by the operator': '已由操作者暂停',
    'draining: it takes only what can go nowhere else': '排空中：只接收无法去往别处的请求',
    'the request builds on what only group west holds': '请求所依赖的内容只在分组 west 中',
    'the request cannot be said there: audio': '此渠道无法表达该请求：audio',
    '2 attempts had failed before its turn came': '轮到它之前已失败 2 次',
    'the same channel again, without what it refused (dropped:top_k)': '同一渠道再试一次，去掉它拒绝的部分（dropped:top_k）',
  };
  const plain = (text) => reasonWords(text.replaceAll('’', "'")).replace(/[\u2068\u2069]/g, '');
  for (const [why, words] of Object.entries(told)) {
    language.set('en');
    assert.equal(plain(why), why.replace('the probe failed', 'the last try failed'));
    language.set('zh');
    assert.equal(plain(why), words);
  }
});
