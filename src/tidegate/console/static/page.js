/** What pages share: their head with title and actions, and the window's title. */

import { html, useEffect } from './view.js';

/** The page's heading, beside it what can be done, below it a line of explanation. */
export function PageHead({ title, lead, actions, back }) {
  return html`<header class="page-head">
    <div class="page-title">
      ${back}
      <h1 tabindex="-1">${title}</h1>
      ${lead && html`<p class="page-lead">${lead}</p>`}
    </div>
    ${actions && html`<div class="page-actions">${actions}</div>`}
  </header>`;
}

/** A part of a page with a heading of its own. */
export function Section({ title, hint, actions, children, className = '' }) {
  return html`<section class=${`card ${className}`}>
    ${(title || actions) && html`<header class="card-head">
      <div><h2>${title}</h2>${hint && html`<p class="card-hint">${hint}</p>`}</div>
      ${actions && html`<div class="card-actions">${actions}</div>`}
    </header>`}
    ${children}
  </section>`;
}

/** Names the window after the page. */
export function useTitle(title) {
  useEffect(() => {
    document.title = `${title} · Tidegate`;
  }, [title]);
}
