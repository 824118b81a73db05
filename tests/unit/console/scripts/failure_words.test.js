import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { attemptWords, failureWords } from '../../../../src/tidegate/console/static/failure_words.js';
import { reasonWords } from '../../../../src/tidegate/console/static/gateway_words.js';
import { language } from '../../../../src/tidegate/console/static/i18n.js';

beforeEach(() => language.set('zh'));

const plain = (text) => text.replace(/[\u2068\u2069]/g, '');

test('a failure is told in the reader’s language, with its values', () => {
  assert.equal(failureWords('the upstream closed the connection in mid-answer'), '上游在回答中途断开了连接');
  assert.equal(plain(failureWords('The model `gpt-9` does not exist.')), '模型 gpt-9 不存在。');
  assert.equal(plain(failureWords('Rate limit reached: the limit of this key is 1200 requests per minute. Try again in 1 second.')), '触发限速：此密钥每分钟最多 1,200 个请求，请等待 1 秒。');
  assert.equal(
    plain(failureWords('The budget of this account for the month does not cover this request: up to $0.10 is needed, $0.00 of $5.00 is left.')),
    '此账户的每月预算不足以支付此请求：最多需要 $0.10，预算 $5.00 还剩 $0.00。',
  );
  assert.equal(failureWords('prompt is too long: 210000 tokens'), 'prompt is too long: 210000 tokens');
});

test('of an attempt’s error the message is told, and its kind and what only the operator reads stay', () => {
  assert.equal(attemptWords('upstream: the upstream closed the connection in mid-answer (end of file)'), 'upstream: 上游在回答中途断开了连接 (end of file)');
  assert.equal(attemptWords('overloaded: Overloaded (HTTP 503 overloaded_error: Overloaded (busy))'), 'overloaded: 上游过载 (HTTP 503 overloaded_error: Overloaded (busy))');
  assert.equal(attemptWords('context_length: prompt is too long (HTTP 400)'), 'context_length: prompt is too long (HTTP 400)');
  language.set('en');
  assert.equal(attemptWords("upstream: the upstream's answer is too large"), 'upstream: the upstream’s answer is too large');
});

test('a reason with a failure in it is told whole', () => {
  assert.equal(plain(reasonWords('left alone for 3.0 s more because the probe failed: Overloaded')), '冷却原因：探测失败：上游过载');
});
