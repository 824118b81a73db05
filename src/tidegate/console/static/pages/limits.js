/** Limits and budgets in few words, and how much of a budget is spent. */

import { exactMoney, money, NOTHING, share, short, whole } from '../format.js';
import { useWords } from '../i18n.js';
import { html } from '../view.js';
import { strings } from './limits.strings.js';

const NEARLY = 0.8;

/** The limits of a key or an account, one a line; nothing where there is none. */
export function Limits({ of }) {
  const t = useWords(strings);
  const told = [
    ['requests_per_minute', 'rpm'],
    ['tokens_per_minute', 'tpm'],
    ['max_concurrency', 'together'],
  ].filter(([name]) => of[name] !== null && of[name] !== undefined);
  if (!told.length) return html`<span class="muted">${t('none')}</span>`;
  return html`<ul class="lines unbroken">
    ${told.map(([name, words]) => html`<li key=${name} title=${t(`${words}Hint`, { value: whole(of[name]) })}>${t(words, { value: short(of[name]) })}</li>`)}
  </ul>`;
}

/** What was spent, with a bar where there is a budget. Takes decimal text. */
export function Spent({ amount, budget, label }) {
  const t = useWords(strings);
  if (amount === null || amount === undefined) return html`<span class="muted">${NOTHING}</span>`;
  if (budget === null || budget === undefined) return html`<span title=${exactMoney(amount)}>${money(amount)}</span>`;
  const part = Number(budget) > 0 ? Number(amount) / Number(budget) : 1;
  const tone = part >= 1 ? 'full' : part >= NEARLY ? 'nearly' : '';
  const text = t('of', { amount: money(amount), budget: money(budget) });
  return html`<div class="spent" title=${`${exactMoney(amount)} / ${exactMoney(budget)}`}>
    <span class="unbroken">${text}</span>
    <div class=${`budget ${tone}`} role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${Number(budget)}
        aria-valuenow=${Math.min(Number(amount), Number(budget))} aria-valuetext=${`${text}, ${share(Number(amount), Number(budget))}`}>
      <div style=${{ width: `${Math.min(100, part * 100)}%` }}></div>
    </div>
  </div>`;
}
