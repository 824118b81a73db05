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

/** Asks the reader before a page is left whose input would be lost; null where nothing would be. */
let guard = null;

/** Until the returned function is called, `ask(address)` is called in place of showing another page. */
export function guardLeaving(ask) {
  guard = ask;
  return () => {
    if (guard === ask) guard = null;
  };
}

/** What was typed is saved, or the reader gives it up: the next page is shown without asking. */
export function leaveFreely() {
  guard = null;
}

/** Go to an address that `link` made. With `replace` the one before is not in the history. */
export function go(address, { replace = false } = {}) {
  if (address === location.pathname + location.search) return;
  const before = place.get().path;
  if (guard && pathOf(address.split('?')[0]) !== before) {
    guard(address);
    return;
  }
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
    const { path, search } = place.get();
    if (guard && here().path !== path) {
      const wanted = location.pathname + location.search;
      history.pushState(null, '', BASE + path + search); // the browser has gone already
      guard(wanted);
      return;
    }
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
  return { path: pathOf(location.pathname), search: location.search };
}

function pathOf(pathname) {
  return pathname.slice(BASE.length).replace(/\/+$/, '') || '/';
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
