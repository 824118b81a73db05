/** Light, dark, or as the system has it. */

import { remember, remembered, store } from './store.js';

const NAME = 'tidegate.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const first = remembered(NAME, 'system');

/** The reader's choice: `system`, `light` or `dark`. */
export const theme = store(['light', 'dark'].includes(first) ? first : 'system');

/** What is shown: `light` or `dark`. Charts draw again when it changes. */
export const shownTheme = store(shown());

/** Choose `system`, `light` or `dark`; remembered for the next visit. */
export function chooseTheme(choice) {
  theme.set(choice);
  if (choice === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  remember(NAME, choice === 'system' ? null : choice);
  shownTheme.set(shown());
}

dark.addEventListener('change', () => shownTheme.set(shown()));

function shown() {
  const choice = theme.get();
  if (choice !== 'system') return choice;
  return dark.matches ? 'dark' : 'light';
}
