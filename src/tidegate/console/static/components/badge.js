/** Short marks of state, told by words and shape, not by colour alone. */

import { html } from '../view.js';

/** A word with a dot. `tone`: `good`, `warn`, `bad`, `info`, `off` or `plain`. */
export function Badge({ tone = 'plain', children, title }) {
  return html`<span class=${`badge ${tone}`} title=${title}><span class="dot" aria-hidden="true"></span>${children}</span>`;
}

/** A small neutral tag. */
export function Tag({ children, title }) {
  return html`<span class="tag" title=${title}>${children}</span>`;
}
