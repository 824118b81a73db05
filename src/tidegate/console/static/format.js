/** Numbers, money, durations and times as people read them, in the reader's language and zone. */

import { now as gatewayNow } from './clock.js';
import { language, locale } from './i18n.js';

/** What stands where nothing is told. */
export const NOTHING = '–';

const made = new Map();

function format(kind, options) {
  // Some regions of English write millions as a small m, which looks like milli.
  const where = options.notation === 'compact' && language.get() === 'en' ? 'en-US' : locale();
  const key = `${kind.name} ${where} ${JSON.stringify(options)}`;
  if (!made.has(key)) made.set(key, new kind(where, options));
  return made.get(key);
}

/** A whole number with grouping: 1,234,567. */
export function whole(value) {
  return value === null || value === undefined ? NOTHING : format(Intl.NumberFormat, {}).format(value);
}

/** A number in few characters: 1.2M or 120万; whole below ten thousand. */
export function short(value) {
  if (value === null || value === undefined) return NOTHING;
  if (Math.abs(value) < 10000) return format(Intl.NumberFormat, { maximumFractionDigits: 1 }).format(value);
  return format(Intl.NumberFormat, { notation: 'compact', maximumSignificantDigits: 3 }).format(value);
}

/** A part of a whole as per cent; nothing of nothing is no number. */
export function share(part, all) {
  if (!all) return NOTHING;
  const value = part / all;
  const digits = value > 0 && value < 0.001 ? 3 : 1;
  return format(Intl.NumberFormat, { style: 'percent', maximumFractionDigits: digits }).format(value);
}

/** US dollars in few characters; small amounts keep three significant digits. Takes decimal text. */
export function money(amount) {
  if (amount === null || amount === undefined) return NOTHING;
  const size = Math.abs(Number(amount));
  const dollars = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' };
  if (size >= 1e6) {
    return format(Intl.NumberFormat, { ...dollars, notation: 'compact', maximumSignificantDigits: 4 }).format(amount);
  }
  if (size >= 1e4) return format(Intl.NumberFormat, { ...dollars, maximumFractionDigits: 0 }).format(amount);
  if (size === 0 || size >= 1) return format(Intl.NumberFormat, dollars).format(amount);
  const digits = { minimumSignificantDigits: 2, maximumSignificantDigits: 3 };
  return format(Intl.NumberFormat, { ...dollars, ...digits }).format(amount);
}

/** US dollars with every digit that was told, at least two after the point. Takes decimal text. */
export function exactMoney(amount) {
  if (amount === null || amount === undefined) return NOTHING;
  const dollars = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' };
  return format(Intl.NumberFormat, { ...dollars, maximumFractionDigits: 20 }).format(amount);
}

/** US dollars in as few digits as tell it, for the marks of an axis. */
export function roundMoney(amount) {
  const dollars = { style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' };
  return format(Intl.NumberFormat, { ...dollars, notation: 'compact', maximumSignificantDigits: 3 }).format(amount);
}

const UNITS = { en: { minute: 'min', hour: 'h', day: 'd' }, zh: { minute: '分', hour: '小时', day: '天' } };

/** Milliseconds: 0.4 ms, 412 ms, 5.32 s, 2 min 3 s, 3 h 20 min. */
export function duration(ms) {
  if (ms === null || ms === undefined) return NOTHING;
  if (ms < 999.5) return `${digits(ms, ms < 10 ? 1 : 0)}\u00a0ms`;
  if (ms < 59950) return `${digits(ms / 1000, ms < 9995 ? 2 : 1)}\u00a0s`;
  const names = UNITS[language.get()];
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return both([Math.floor(seconds / 60), names.minute], [seconds % 60, 's']);
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return both([Math.floor(minutes / 60), names.hour], [minutes % 60, names.minute]);
  const hours = Math.round(minutes / 60);
  return both([Math.floor(hours / 24), names.day], [hours % 24, names.hour]);
}

function both(...parts) {
  const told = parts.filter(([count], index) => count || !index);
  return told.map(([count, name]) => `${digits(count, 0)}\u00a0${name}`).join(' ');
}

function digits(value, most) {
  return format(Intl.NumberFormat, { maximumFractionDigits: most }).format(value);
}

/** Bytes in units of 1024. */
export function bytes(count) {
  if (count === null || count === undefined) return NOTHING;
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = count < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(count) / 10));
  const number = format(Intl.NumberFormat, { maximumFractionDigits: power ? 1 : 0 });
  return `${number.format(count / 1024 ** power)} ${names[power]}`;
}

/** Time of day with seconds, with the date before it where that is not today. */
export function moment(at, now = new Date()) {
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return NOTHING;
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
  if (then.toDateString() === now.toDateString()) return format(Intl.DateTimeFormat, clock).format(then);
  const year = then.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' };
  return format(Intl.DateTimeFormat, { ...year, month: 'short', day: 'numeric', ...clock }).format(then);
}

/** Date and time in full, with the reader's zone. */
export function fullMoment(at) {
  const then = new Date(at);
  if (Number.isNaN(then.getTime())) return NOTHING;
  const date = { year: 'numeric', month: 'short', day: 'numeric' };
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 };
  return format(Intl.DateTimeFormat, { ...date, ...clock, hourCycle: 'h23', timeZoneName: 'short' }).format(then);
}

/** The day, e.g. Nov 30, 2026. */
export function day(at) {
  return format(Intl.DateTimeFormat, { dateStyle: 'medium' }).format(new Date(at));
}

/** The moment in UTC, for tooltips. */
export function utc(at) {
  const then = new Date(at);
  return Number.isNaN(then.getTime()) ? '' : then.toISOString().replace('T', ' ').replace('Z', ' UTC');
}

const STEPS = [
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

/** How long ago, or until when: "3 minutes ago". */
export function ago(at, now = gatewayNow()) {
  const seconds = (new Date(at).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) return NOTHING;
  const [name, size] = STEPS.find(([, one]) => Math.abs(seconds) >= one) ?? STEPS[3];
  return format(Intl.RelativeTimeFormat, { numeric: 'auto' }).format(Math.trunc(seconds / size), name);
}

const UNSEEN = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu;
const LAYOUT = new Set(['\n', '\r', '\t']);

/** A name from outside, its control and direction characters made visible. */
export function plain(text) {
  return String(text).replace(UNSEEN, byNumber);
}

/** The same for a text of several lines, which keeps these and its tabs. */
export function plainLines(text) {
  return String(text).replace(UNSEEN, (sign) => (LAYOUT.has(sign) ? sign : byNumber(sign)));
}

function byNumber(sign) {
  return `\u27e8U+${sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}
