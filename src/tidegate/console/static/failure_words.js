/** Why a request or an attempt failed, as the gateway says it, in the reader's language. What an upstream says stays. */

import { strings } from './failure_words.strings.js';
import { words } from './i18n.js';

// Groups of a pattern are the values of its words.
const WITH_VALUES = [
  [/^The model `(?<model>.*)` does not exist\.$/s, 'modelUnknown'],
  [/^model: (?<model>\S+)$/, 'modelUnknown'],
  [/^This key may not use model (?<model>.*)\.$/s, 'modelForbidden'],
  [/^No channel is available for model (?<model>.*)\.$/s, 'modelWithout'],
  [/^The service tier `(?<tier>.*)` has no price here\.$/s, 'tier'],
  [/^The balance does not cover this request: up to \$(?<needed>[\d.]+) is needed, \$(?<left>[\d.]+) is available/, 'balanceOf'],
  [/^The budget of this (?<whose>key|account) for the (?<period>day|month) does not cover this request: up to \$(?<needed>[\d.]+) is needed, \$(?<left>[\d.]+) of \$(?<limit>[\d.]+) is left\.$/, 'budgetOf'],
  [/^Rate limit reached: the limit of this (?<whose>key|account) is (?<count>\d+) requests? per minute\. Try again in (?<seconds>\d+) seconds?\.$/, 'requestsOf'],
  [/^Rate limit reached: the limit of this (?<whose>key|account) is (?<count>\d+) tokens? per minute\. Try again in (?<seconds>\d+) seconds?\.$/, 'tokensOf'],
  [/^Rate limit reached: the limit of this (?<whose>key|account) is (?<count>\d+) requests? at the same time\. Try again in (?<seconds>\d+) seconds?\.$/, 'togetherOf'],
];
const NAMED = ['whose', 'period'];
const PLAIN = new Map(Object.entries(strings.en).map(([key, text]) => [text.replaceAll('’', "'"), key]));

/** A failure's message; one that is not known, like an upstream's own, stays. */
export function failureWords(message) {
  return translated(message) ?? message;
}

/** The error of an attempt, `kind: message (detail)`; the kind, and what is in parentheses, stay. */
export function attemptWords(error) {
  const [, kind, told] = /^([a-z_]+: |)(.*)$/s.exec(error);
  const whole = translated(told);
  if (whole !== null) return kind + whole;
  for (let at = told.indexOf(' ('); at > 0; at = told.indexOf(' (', at + 1)) {
    const message = translated(told.slice(0, at));
    if (message !== null) return kind + message + told.slice(at);
  }
  return error;
}

/** Null for what is not known here. */
function translated(message) {
  const t = words(strings);
  const key = PLAIN.get(message);
  if (key) return t(key);
  for (const [pattern, name] of WITH_VALUES) {
    const values = { ...pattern.exec(message)?.groups };
    if (!Object.keys(values).length) continue;
    for (const one of NAMED) if (one in values) values[one] = t(`${one}.${values[one]}`);
    for (const one of ['count', 'seconds']) if (one in values) values[one] = Number(values[one]);
    return t(name, values);
  }
  return null;
}
