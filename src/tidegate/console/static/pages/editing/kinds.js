/** Kinds of settings: as they stand in a form, and as the API takes them. What is wrong with one, the gateway says. */

/**
 * Each kind has `draft(value)`, what stands in the form for what the API told, and `value(draft)`, what is sent for it:
 * null takes the default.
 */
export const kinds = {
  text: { draft: (told) => told ?? '', value: (text) => text.trim() || null },
  number: { draft: plainText, value: numberOrText },
  decimal: { draft: shortDecimal, value: (text) => text.trim() || null },
  duration: { draft: durationText, value: numberOrText },
  choice: { draft: (told) => told ?? '', value: (text) => text || null },
  flag: { draft: (told) => told === true, value: (checked) => checked },
  maybe: {
    draft: (told) => (told === true ? 'yes' : told === false ? 'no' : ''),
    value: (text) => (text ? text === 'yes' : null),
  },
  names: { draft: (told) => (told ?? []).join('\n'), value: (text) => emptyAsNull(linesOf(text)) },
  several: { draft: (told) => told ?? [], value: emptyAsNull },
  namesOrAll: {
    draft: (told) => ({ all: told === null || told === undefined, text: (told ?? []).join('\n') }),
    value: ({ all, text }) => (all ? null : linesOf(text)),
  },
  served: { draft: servedLines, value: servedOf },
  factors: { draft: (told) => pairLines(told ?? {}, ' = '), value: (text) => pairsOf(text, /\s*=\s*/) },
  tiers: { draft: (told) => (told ?? []).map(tierDraft), value: (rows) => emptyAsNull(rows.map(tierOf)) },
  secret: { draft: () => ({ text: '', remove: false }), value: ({ text, remove }) => (remove ? null : text.trim()) },
  headers: {
    draft: () => ({ text: '', remove: false }),
    value: ({ text, remove }) => (remove ? {} : (pairsOf(text, /\s*:\s*/) ?? {})),
  },
};

/** The prices of a tier, and of everything that has one. */
export const rates = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h', 'web_search'];

/** Draft of an entry: one value for each field. */
export function draftOf(fields, entry) {
  return Object.fromEntries(fields.map((field) => [field.name, kinds[field.kind].draft(told(field.name, entry))]));
}

/** What an empty form holds before anything is chosen for the reader. */
export function emptyDraft(fields) {
  return draftOf(fields, {});
}

/** What the form of something new begins with. */
export function firstDraft(fields) {
  const begun = fields.filter((field) => field.initial !== undefined);
  return { ...emptyDraft(fields), ...Object.fromEntries(begun.map((field) => [field.name, field.initial])) };
}

/** Names of the fields in which two drafts differ. */
export function differences(fields, before, after) {
  return fields.map((field) => field.name).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/**
 * What is sent to make `after` of `before`: each setting with a changed field, as a whole.
 *
 * For something new `before` is the empty draft, so that what was left empty is not sent.
 */
export function changes(fields, before, after) {
  const changed = new Set(differences(fields, before, after).map(setting));
  const body = {};
  for (const name of changed) body[name] = settingValue(fields, name, after);
  return body;
}

function settingValue(fields, name, draft) {
  const own = fields.filter((field) => setting(field.name) === name);
  if (own.length === 1 && own[0].name === name) return kinds[own[0].kind].value(draft[name]);
  const members = own
    .map((field) => [field.name.slice(name.length + 1), kinds[field.kind].value(draft[field.name])])
    .filter(([, value]) => value !== null);
  return members.length ? Object.fromEntries(members) : null;
}

/** The API's setting that a field belongs to: `price.input` belongs to `price`. */
export function setting(name) {
  return name.split('.')[0];
}

function told(name, entry) {
  return name.split('.').reduce((value, part) => value?.[part], entry);
}

/** Seconds as they are written in settings: 500ms, 10s, 6m, 1h. */
export function durationText(seconds) {
  if (seconds === null || seconds === undefined) return '';
  if (seconds === 0) return '0';
  for (const [unit, size] of [['h', 3600], ['m', 60], ['s', 1]]) if (seconds % size === 0) return `${seconds / size}${unit}`;
  const ms = Math.round(seconds * 1e6) / 1e3;
  return seconds < 1 ? `${ms}ms` : `${seconds}s`;
}

/** A decimal without the zeros at its end, but for two decimals where it has any. */
export function shortDecimal(told) {
  if (told === null || told === undefined) return '';
  const [whole, decimals] = String(told).split('.');
  return decimals === undefined ? whole : `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')}`;
}

function plainText(told) {
  return told === null || told === undefined ? '' : String(told);
}

/** A number where it is one; else the text, of which the gateway says what is wrong. */
function numberOrText(text) {
  const given = text.trim();
  if (!given) return null;
  return /^-?\d{1,15}(\.\d+)?$/.test(given) ? Number(given) : given;
}

function linesOf(text) {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

function emptyAsNull(list) {
  return list.length ? list : null;
}

function pairLines(map, sign) {
  return Object.entries(map)
    .map(([name, value]) => name + sign + value)
    .join('\n');
}

function pairsOf(text, sign) {
  const lines = linesOf(text).map((line) => {
    const at = line.search(sign);
    return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at).replace(sign, '')];
  });
  return lines.length ? Object.fromEntries(lines) : null;
}

// A model's name may have "=" in it, with spaces around it hardly.
function servedLines(map) {
  const lines = Object.entries(map ?? {}).map(([name, upstream]) => (name === upstream ? name : `${name} = ${upstream}`));
  return lines.join('\n');
}

function servedOf(text) {
  const pairs = linesOf(text).map((line) => {
    const found = /^(.*?)\s+=\s+(.*)$/.exec(line);
    return found ? [found[1], found[2]] : [line, line];
  });
  return Object.fromEntries(pairs);
}

function tierDraft(tier) {
  const drafted = rates.map((name) => [name, shortDecimal(tier[name])]);
  return { above_input_tokens: plainText(tier.above_input_tokens), ...Object.fromEntries(drafted) };
}

function tierOf(row) {
  const given = rates.filter((name) => row[name]?.trim()).map((name) => [name, row[name].trim()]);
  return { above_input_tokens: numberOrText(row.above_input_tokens), ...Object.fromEntries(given) };
}

/** An empty tier, for one that is added. */
export function newTier() {
  return tierDraft({});
}
