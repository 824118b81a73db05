/** What the gateway says in English, in the reader's language and as it fits into a page; what is not known stays. */

import { failureWords } from './failure_words.js';
import { strings } from './gateway_words.strings.js';
import { words } from './i18n.js';

// Groups of a pattern are the values of its words.
const FAULTS = [
  [/^must be a whole number/, 'whole'],
  [/^(?:must be a decimal|is no decimal)/, 'decimal'],
  [/^(?:must be a duration|is no duration)/, 'duration'],
  [/^(?:must be true or false|must be a list|must be a table|must be a list of tables)/, 'form'],
  [/^(?:must be text|is no text)/, 'text'],
  [/^is missing$/, 'missing'],
  [/^is empty(?:, so the channel serves nothing)?$/, 'missing'],
  [/^is out of range$/, 'range'],
  [/^is too long$/, 'long'],
  [/^is too large$/, 'large'],
  [/^is negative$/, 'negative'],
  [/^has more than (?<count>\d+) decimals$/, 'decimals'],
  [/^is none of the values it can have$/, 'choice'],
  [/^holds a line break or another control character$/, 'control'],
  [/^is not valid UTF-8$/, 'control'],
  [/^holds spaces, line breaks or characters other than ASCII$/, 'credential'],
  [/^begins or ends with a space$/, 'space'],
  [/^has a "\*" that is not at its end$/, 'star'],
  [/^passes the caller's whole name on, so it has no upstream name$/, 'patternUpstream'],
  [/^has an upstream name with a "\*"$/, 'upstreamStar'],
  [/^must not hold spaces, control characters or backslashes$/, 'url'],
  [/^is not a valid URL$/, 'url'],
  [/^must begin with https:\/\/ or http:\/\/$/, 'scheme'],
  [/^names no valid host$/, 'host'],
  [/^must not use port 0$/, 'host'],
  [/^must not hold a (?<what>.+)$/, 'urlPart'],
  [/^holds what a header cannot hold$/, 'header'],
  [/^is no header name$/, 'header'],
  [/^belongs to the connection and is set by the gateway$/, 'ownHeader'],
  [/^is a caller's credential or bound to its account, and never goes up$/, 'callerHeader'],
  [/^is there twice$/, 'twice'],
  [/^has no price to build on$/, 'noPrice'],
  [/^is false, but a balance is set$/, 'prepaid'],
  [/^is no account that is there$/, 'noAccount'],
  [/^stands for a variable or a file, which only the config file may$/, 'fromFile'],
  [/^names a file of this machine, which only the config file may$/, 'fromFile'],
  [/^is a step in a path$/, 'step'],
  [/^there is one of this name already$/, 'taken'],
  [/^is stored, but server\.secret does not open it$/, 'unsealable'],
  [/^is no amount with at most 9 decimals, as text$/, 'amount'],
  [/^cannot be used$/, 'reference'],
  [/^is no number from 0 to 1$/, 'share'],
];

const SENTENCES = [
  [/^the config file declares it; change it there$/, 'byFile'],
  [/^it has keys \((?<keys>.*)\); delete them first, or all at once with \?force=true$/s, 'hasKeys'],
  [/^(?:there is none of this name|key: there is none of this name)$/, 'none'],
  [/^the database cannot be used now; try again$/, 'away'],
  [/^models: no channel serves any of them, so the key can call nothing$/, 'keyServed'],
  [/^name: no channel serves this model$/, 'modelServed'],
  [/^models: (?<names>.*) have no price: free until priced$/s, 'free'],
  [/: a payment of another account has this reference$/, 'otherPayment'],
  [/: is the (?<kind>\w+) of (?<amount>[\d.]+) USD to (?<account>.*) already$/s, 'bookedAlready'],
  [/are more than the books can keep$/, 'tooMuch'],
  [/: a refund of another account has this reference$/, 'otherRefund'],
  [/: is the refund of (?<amount>[\d.]+) USD for (?<request>\S+) already$/, 'refundedAlready'],
  [/: nothing was charged for it$/, 'nothingCharged'],
  [/: all that was charged was paid back$/, 'nothingLeft'],
  [/: (?<amount>[\d.]+) USD are left of what was charged$/, 'lessLeft'],
  [/^it must be above zero$/, 'amount'],
  [/^there is no request with this id$/, 'noRequest'],
  [/^nothing is kept of what a request with this id said$/, 'noContent'],
  [/^this gateway keeps no (?:ledger|figures)$/, 'notKept'],
  [/^this process calls no channels$/, 'noCalls'],
  [/^this gateway has no live tail$/, 'noTail'],
  [/^there are (?<count>\d+) tails open; close one of them$/, 'tails'],
  [/^a page of another site must not ask this$/, 'otherSite'],
  [/^the header \S+ must hold the session's `csrf`$/, 'otherSite'],
  [/^the body did not arrive in time$/, 'slowBody'],
  [/^the channel (?:its )?credential cannot be opened/, 'unsealable'],
];

const REASONS = [
  [/^in use$/, 'inUse'],
  [/^in use; (?<count>\d+) failures? in a row, last: (?<why>.*)$/s, 'inUseFailed'],
  [/^the next request may probe it; it was left alone because (?<why>.*)$/s, 'mayProbe'],
  [/^one request is probing it; it was left alone because (?<why>.*)$/s, 'probing'],
  [/^left alone for [\d.]+ s more because (?<why>.*)$/s, 'cooling'],
  [/^the probe failed: (?<why>.*)$/s, 'probeFailed'],
  [/^the upstream asked for it: (?<why>.*)$/s, 'askedFor'],
  [/^(?:of )?(?<count>\d+) failures? in a row, last: (?<why>.*)$/s, 'failures'],
  [/^left alone because (?<why>.*)$/s, 'cooling'],
  [/^another request probes it after a rest because (?<why>.*)$/s, 'othersProbe'],
  [/^it came to rest, or another request began to probe it, meanwhile$/, 'meanwhile'],
  [/^paused by the operator$/, 'pausedByOperator'],
  [/^draining: it takes only what can go nowhere else$/, 'drains'],
  [/^the request builds on what only group (?<group>.*) holds$/s, 'onlyGroup'],
  [/^the request cannot be said there: (?<why>.*)$/s, 'unsayable'],
  [/^(?<count>\d+) attempts had failed before its turn came$/, 'tooMany'],
  [/^the same channel again, without what it refused \((?<what>.*)\)$/s, 'again'],
];

const PLACE =
  /^priority (?<priority>-?\d+), weight (?<weight>\d+)(?:, as the probe after a rest because (?<why>.*?))?(?:, preferred for group (?<group>.*?))?(?<own>, of the caller's protocol)?$/s;

/** A fault of one setting: what is wrong and, where it is not known here, what mends it. */
export function faultWords({ message, mend }) {
  const known = found(FAULTS, message);
  if (!known) return mend ? `${message} – ${mend}` : message;
  const bounds = /from (?<least>-?[\d.]+) to (?<most>[\d.]+)/.exec(mend ?? '')?.groups;
  const key = known.key === 'range' && !bounds ? 'rangeUnknown' : known.key;
  return words(strings)(key, { ...bounds, ...known.values });
}

/** A sentence, like the detail of a problem. `name: …` and `name: … – …` of one setting are known too. */
export function sentenceWords(text) {
  const known = found(SENTENCES, text);
  if (known) return words(strings)(known.key, known.values);
  const [, message] = /^[\w.]+: (.*)$/s.exec(text) ?? [];
  const fault = message && found(FAULTS, message);
  return fault ? faultWords({ message }) : failureWords(text);
}

/** Why a channel is left alone or left out, or why it was tried. How long it rests still is told beside it. */
export function reasonWords(why) {
  const place = PLACE.exec(why)?.groups;
  if (place) return placeWords(place);
  const known = found(REASONS, why);
  if (!known) return failureWords(why);
  const values = { ...known.values, ...(known.values.why ? { why: reasonWords(known.values.why) } : {}) };
  if (values.count) values.count = Number(values.count);
  return words(strings)(known.key, values);
}

function placeWords({ priority, weight, why, group, own }) {
  const t = words(strings);
  const parts = [t('place', { priority, weight })];
  if (why) parts.push(t('placeProbe', { why: reasonWords(why) }));
  if (group) parts.push(t('placeGroup', { group }));
  if (own) parts.push(t('placeOwn'));
  return parts.join(t('placeJoin'));
}

/** Whether a message of a fault is known here. */
export function isKnownFault(message) {
  return found(FAULTS, message) !== null;
}

function found(table, text) {
  for (const [pattern, key] of table) {
    const match = pattern.exec(text);
    if (match) return { key, values: { ...match.groups } };
  }
  return null;
}
