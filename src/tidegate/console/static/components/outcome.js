/** How a request ended, as a badge with an explanation. */

import { useWords } from '../i18n.js';
import { html } from '../view.js';
import { Badge } from './badge.js';
import { strings } from './outcome.strings.js';

/** All outcomes, the good ones first, with the colour of charts. */
export const OUTCOMES = [
  ['completed', '--c1'],
  ['incomplete', '--c6'],
  ['client_closed', '--c5'],
  ['rejected', '--c4'],
  ['interrupted', '--c2'],
  ['failed', '--c3'],
];

const TONES = { completed: 'good', incomplete: 'info', client_closed: 'off', rejected: 'plain', interrupted: 'warn', failed: 'bad' };

/** A request's outcome. */
export function Outcome({ value }) {
  const t = useWords(strings);
  if (!t.has(value)) return html`<${Badge}>${value}<//>`;
  return html`<${Badge} tone=${TONES[value]} title=${t(`${value}_long`)}>${t(value)}<//>`;
}

/** The outcome's name and its explanation in the reader's language. */
export function useOutcomes() {
  const t = useWords(strings);
  return { name: (value) => (t.has(value) ? t(value) : value), explained: (value) => (t.has(`${value}_long`) ? t(`${value}_long`) : '') };
}
