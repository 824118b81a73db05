/** Whether the window is as narrow as a phone's, where tables are cards and long lists are long. */

import { store, useStore } from './store.js';

const phone = matchMedia('(max-width: 720px)');
const narrow = store(phone.matches);

phone.addEventListener('change', () => narrow.set(phone.matches));

/** True on a narrow window; the component is drawn again when that changes. */
export function useNarrow() {
  return useStore(narrow);
}
