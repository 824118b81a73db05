/** Values outside of components, that components can watch. */

import { useLayoutEffect, useState } from './view.js';

/** A value with `get`, `set` and `subscribe`; whoever subscribed is told of each change. */
export function store(initial) {
  let value = initial;
  const listeners = new Set();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The store's value; the component is drawn again when it changes. */
export function useStore(watched) {
  const [, draw] = useState(0);
  const seen = watched.get();
  useLayoutEffect(() => {
    const again = () => draw((count) => count + 1);
    if (!Object.is(watched.get(), seen)) again(); // changed between drawing and subscribing
    return watched.subscribe(again);
  }, [watched]);
  return seen;
}

/** A text that survives a reload, or `fallback` where the browser keeps nothing. */
export function remembered(name, fallback) {
  try {
    return localStorage.getItem(name) ?? fallback;
  } catch {
    return fallback;
  }
}

/** Keep a text for the next visit; null forgets it. */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // Storage is off or full: the choice holds until the page is left.
  }
}
