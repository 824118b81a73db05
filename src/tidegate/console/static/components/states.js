/** What stands in place of content: loading, nothing there, failed. */

import { sentenceWords } from '../gateway_words.js';
import { useWords } from '../i18n.js';
import { html, useEffect, useState } from '../view.js';
import { Icon } from './icon.js';
import { strings } from './strings.js';

/** Grey lines while something is loaded for the first time; they come late, so that quick answers do not flicker. */
export function Loading({ lines = 6, label }) {
  const t = useWords(strings);
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!shown) return html`<div class="skeleton waiting" aria-busy="true"></div>`;
  const widths = Array.from({ length: lines }, (_, index) => `w${(index * 7) % 5}`);
  return html`<div class="skeleton" role="status" aria-busy="true">
    <span class="heard">${label ?? t('loading')}</span>
    ${widths.map((width) => html`<span class=${`bone ${width}`} aria-hidden="true"></span>`)}
  </div>`;
}

/** Nothing is there: a title, a sentence what to do, and what helps to do it. `whole`: it is all of the page. */
export function Empty({ title, icon = 'info', whole = false, children }) {
  return html`<div class="empty">
    <${Icon} name=${icon} size=${28} />
    ${whole ? html`<h1 class="empty-title">${title}</h1>` : html`<p class="empty-title">${title}</p>`}
    ${children && html`<div class="empty-text">${children}</div>`}
  </div>`;
}

/** A load that failed: what the gateway said, and a button to try again. */
export function Failed({ error, retry }) {
  const t = useWords(strings);
  return html`<div class="empty failed" role="alert">
    <${Icon} name="warning" size=${28} />
    <p class="empty-title">${t('failed')}</p>
    <div class="empty-text"><p>${reason(t, error)}</p></div>
    ${retry && html`<button type="button" class="button" onClick=${retry}><${Icon} name="refresh" />${t('retry')}</button>`}
  </div>`;
}

function reason(t, error) {
  if (error.kind === 'network') return t('failedNetwork');
  if (error.kind === 'away') return t('failedAway');
  if (error.kind === 'missing') return t('failedMissing');
  if (error.detail) return sentenceWords(error.detail);
  return error.status ? t('unexpected', { status: error.status }) : error.message;
}

/** Loading, failed or what `children(value)` draws; an older value stays, marked while another is fetched. */
export function Loaded({ resource, lines, children }) {
  if (resource.loading) return html`<${Loading} lines=${lines} />`;
  if (resource.value === undefined) {
    return resource.error ? html`<${Failed} error=${resource.error} retry=${resource.reload} />` : null;
  }
  return html`<div class=${resource.stale ? 'loaded stale' : 'loaded'} aria-busy=${resource.stale ? 'true' : undefined}>
    ${resource.error && !resource.error.passing && html`<${Failed} error=${resource.error} retry=${resource.reload} />`}
    ${children(resource.value)}
  </div>`;
}
