/** Short news at the edge of the window: said once, gone after a while; errors stay until they are dismissed. */

import { useWords } from '../i18n.js';
import { store, useStore } from '../store.js';
import { html } from '../view.js';
import { Icon } from './icon.js';
import { strings } from './strings.js';

const toasts = store([]);
let last = 0;

/** Tell something. `tone`: `good`, `bad` or `info`. */
export function toast(text, tone = 'good') {
  last += 1;
  const number = last;
  toasts.set([...toasts.get().slice(-3), { number, text, tone }]);
  if (tone !== 'bad') setTimeout(() => dismiss(number), 6000);
}

function dismiss(number) {
  toasts.set(toasts.get().filter((one) => one.number !== number));
}

/** Where they appear; once in the shell. */
export function Toasts() {
  const t = useWords(strings);
  const shown = useStore(toasts);
  return html`<div class="toasts" role="status" aria-live="polite">
    ${shown.map(
      ({ number, text, tone }) => html`<div key=${number} class=${`toast ${tone}`}>
        <${Icon} name=${tone === 'bad' ? 'warning' : tone === 'good' ? 'check' : 'info'} />
        <span>${text}</span>
        <button type="button" class="button quiet bare" aria-label=${t('dismiss')} onClick=${() => dismiss(number)}>
          <${Icon} name="close" size=${14} />
        </button>
      </div>`,
    )}
  </div>`;
}
