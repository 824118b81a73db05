/** Small line drawings that stand beside words. */

import { html } from '../view.js';

const PATHS = {
  overview: 'M3 13h4v4H3zM8 8h4v9H8zM13 3h4v14h-4z',
  requests: 'M3 5h14M3 10h14M3 15h9',
  channels: 'M4 5h5a3 3 0 0 1 3 3v4a3 3 0 0 0 3 3h2M4 15h5M15 12l3 3-3 3',
  models: 'M10 2.5 17 6v8l-7 3.5L3 14V6zM3 6l7 3.5L17 6M10 9.5v8',
  keys: 'M12.5 7.5a4 4 0 1 1-1.2-2.8 4 4 0 0 1 0 5.6L17 16v2h-3v-2h-2v-2',
  accounts: 'M3 16.5c0-3 3-4.5 7-4.5s7 1.5 7 4.5M10 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6z',
  audit: 'M6 3h8l3 3v11H3V3zM6 9h8M6 13h5',
  playground: 'M4 4h12v9H9l-4 4v-4H4z',
  menu: 'M3 5h14M3 10h14M3 15h14',
  close: 'M5 5l10 10M15 5 5 15',
  copy: 'M7 7V3h10v10h-4M3 7h10v10H3z',
  check: 'M4 10.5 8 15l8-10',
  search: 'M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12zM13.5 13.5 18 18',
  refresh: 'M16 6.5A7 7 0 1 0 17 10M17 3v4h-4',
  pause: 'M6 4v12M14 4v12',
  play: 'M6 4l10 6-10 6z',
  stop: 'M5 5h10v10H5z',
  stream: 'M2 7c2-2 4-2 6 0s4 2 6 0 3-2 4-1M2 13c2-2 4-2 6 0s4 2 6 0 3-2 4-1',
  block: 'M4 5h12v10H4z',
  plus: 'M10 4v12M4 10h12',
  edit: 'M4 16l1-4 8-8 3 3-8 8zM11 6l3 3',
  trash: 'M4 6h12M8 6V3h4v3M6 6l1 11h6l1-11',
  warning: 'M10 3 18 17H2zM10 8v4M10 14.5v.5',
  info: 'M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM10 9v5M10 6v.5',
  left: 'M12 4l-6 6 6 6',
  right: 'M8 4l6 6-6 6',
  down: 'M4 7l6 6 6-6',
  up: 'M4 13l6-6 6 6',
  newer: 'M10 16V4M5 9l5-5 5 5',
  out: 'M8 3H3v14h5M12 6l4 4-4 4M16 10H7',
  link: 'M8 12l4-4M9 6l2-2a3.5 3.5 0 0 1 5 5l-2 2M11 14l-2 2a3.5 3.5 0 0 1-5-5l2-2',
  filter: 'M3 4h14l-5 7v5l-4 1v-6z',
  clock: 'M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16zM10 5v5l3 2',
  money: 'M10 2v16M14 5.5C13 4.5 11.7 4 10 4 7.5 4 6 5.3 6 7s1.5 2.6 4 3 4 1.3 4 3-1.5 3-4 3c-1.7 0-3-.5-4-1.5',
};

/** An icon by name. It says nothing to screen readers: the words beside it, or the button's label, do. */
export function Icon({ name, size = 16 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} />
  </svg>`;
}

/** The product's mark: a gate in the tide. */
export function Mark({ size = 22 }) {
  return html`<svg class="mark" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path class="mark-gate" d="M5 15V6M12 15V3M19 15V6M3 8.5h18" />
    <path class="mark-tide" d="M2 18.5c2-2 3.3-2 5 0s3.3 2 5 0 3.3-2 5 0 3.3 2 5 0" />
  </svg>`;
}
