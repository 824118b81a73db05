/** Addresses of the console: which page is shown, and the state that pages keep in the query. */

import { store, useStore } from './store.js';
import { useCallback, useMemo } from './view.js';

const BASE = '/console';
/** How long a page that is come back to may take to be as long as it was. */
const SCROLL_MS = 2000;

/** Where the reader is: `{path, search}`; the path begins behind /console. */
export const place = store(here());

/** The address of a path with a query; empty values are left out. */
export function link(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== '');
  const text = new URLSearchParams(given).toString();
  return BASE + path + (text ? `?${text}` : '');
}

/** Go to an address that `link` made. With `replace` the one before is not in the history. */
export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  const before = place.get().path;
  if (replace) history.replaceState(history.state, '', address);
  else {
    history.replaceState({ y: scrollY }, ''); // where to be when the reader comes back
    history.pushState(null, '', address);
  }
  place.set(here());
  if (place.get().path !== before) scrollTo(0, 0);
}

/** The values of a pattern's names, or null: `match('/keys/:name', '/keys/a%20b')` is `{name: 'a b'}`. */
export function match(pattern, path) {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const values = {};
  for (const [index, part] of wanted.entries()) {
    if (part.startsWith(':')) values[part.slice(1)] = decoded(given[index]);
    else if (part !== given[index]) return null;
  }
  return values;
}

/**
 * The query as an object, and a function that changes some of it: `change({model: 'x', page: null})`.
 *
 * Changes replace the address unless told `{push: true}`, so that filters do not fill the history.
 */
export function useQuery() {
  const { search } = useStore(place);
  const query = useMemo(() => Object.fromEntries(new URLSearchParams(search)), [search]);
  const change = useCallback((patch, { push = false } = {}) => {
    const { path, search: now } = place.get();
    const next = { ...Object.fromEntries(new URLSearchParams(now)), ...patch };
    go(link(path, next), { replace: !push });
  }, []);
  return [query, change];
}

/** Follow links inside the console without loading it anew. */
export function followLinks() {
  history.scrollRestoration = 'manual';
  addEventListener('popstate', (event) => {
    place.set(here());
    scrollBack(event.state?.y ?? 0, performance.now() + SCROLL_MS);
  });
  document.addEventListener('click', (event) => {
    const anchor = event.target.closest?.('a[href]');
    if (!anchor || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (anchor.target || anchor.hasAttribute('download') || anchor.origin !== location.origin) return;
    if (!`${anchor.pathname}/`.startsWith(`${BASE}/`) || anchor.getAttribute('href').startsWith('#')) return;
    event.preventDefault();
    go(anchor.pathname + anchor.search);
  });
}

/** Scroll as soon as the page is long enough again, or give up. */
function scrollBack(y, until) {
  if (document.documentElement.scrollHeight - innerHeight >= y || performance.now() > until) scrollTo(0, y);
  else requestAnimationFrame(() => scrollBack(y, until));
}

function here() {
  const path = location.pathname.slice(BASE.length).replace(/\/+$/, '');
  return { path: path || '/', search: location.search };
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
