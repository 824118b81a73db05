/** Answers of the admin API in components: asked again after trouble, kept while newer ones are fetched. */

import { session } from './api.js';
import { useEffect, useRef, useState } from './view.js';

const LONGEST_WAIT = 30000;

/**
 * Load something and keep it fresh.
 *
 * `key` says what is loaded: another key loads anew, and null loads nothing. `load(signal)` gives a promise; it is
 * aborted when the component goes or the key changes. `every` loads again after so many milliseconds, not while the
 * page is hidden; it may be a function of what was loaded. With `keep` what was loaded for the key before is shown
 * until the new answer is there. With `name` the last answers are remembered: who comes back sees them at once, while
 * they are loaded again.
 *
 * Gives `{value, error, loading, refreshing, stale, at, reload, put}`: `loading` while there is nothing to show,
 * `stale` while `value` belongs to another key, `at` the time of the answer, `put(value)` replaces what is shown.
 */
export function useResource(key, load, { every = 0, keep = true, name = null } = {}) {
  const [state, setState] = useState(() => recall(name, key));
  const [turn, setTurn] = useState(0);
  const latest = useRef(null);
  latest.current = { load, every, name };

  useEffect(() => {
    if (key === null) {
      setState(NOTHING);
      return undefined;
    }
    const run = new Run(key, latest, setState);
    run.start();
    return () => run.end();
  }, [key, turn]);

  const fits = state.key === key;
  const value = keep || state.valueKey === key ? state.value : undefined;
  return {
    value,
    error: fits ? state.error : null,
    loading: key !== null && value === undefined && !(fits && state.error),
    refreshing: fits ? state.refreshing : key !== null,
    stale: value !== undefined && state.valueKey !== key,
    at: state.at,
    reload: () => setTurn((count) => count + 1),
    put: (next) => setState((old) => ({ ...old, key, valueKey: key, value: next, error: null })),
  };
}

/** The last answers by name and key, the oldest first. */
const remembered = new Map();
const MOST_REMEMBERED = 30;

function recall(name, key) {
  const known = name && remembered.get(`${name} ${key}`);
  return known ? { ...NOTHING, key, valueKey: key, ...known } : NOTHING;
}

function keepInMind(name, key, known) {
  const whole = `${name} ${key}`;
  remembered.delete(whole);
  remembered.set(whole, known);
  if (remembered.size > MOST_REMEMBERED) remembered.delete(remembered.keys().next().value);
}

/** What one operator saw is not for the next. */
session.subscribe(({ state }) => state === 'out' && remembered.clear());

const NOTHING = { key: null, valueKey: null, value: undefined, error: null, refreshing: false, at: null };

/** The loads for one key, one after the other, until it ends. */
class Run {
  constructor(key, latest, tell) {
    this.key = key;
    this.latest = latest;
    this.tell = tell;
    this.abort = new AbortController();
    this.timer = null;
    this.failures = 0;
    this.waiting = false;
    this.seen = () => this.wake();
    this.signedIn = () => session.get().state === 'in' && this.wake();
  }

  start() {
    document.addEventListener('visibilitychange', this.seen);
    this.leave = session.subscribe(this.signedIn);
    this.tell((old) => ({ ...old, key: this.key, error: null, refreshing: true }));
    this.once();
  }

  end() {
    clearTimeout(this.timer);
    document.removeEventListener('visibilitychange', this.seen);
    this.leave();
    this.abort.abort();
  }

  async once() {
    this.waiting = false;
    try {
      const value = await this.latest.current.load(this.abort.signal);
      if (this.abort.signal.aborted) return;
      this.failures = 0;
      const { name } = this.latest.current;
      const at = Date.now();
      if (name) keepInMind(name, this.key, { value, at });
      this.tell({ key: this.key, valueKey: this.key, value, error: null, refreshing: false, at });
      const { every } = this.latest.current;
      const pause = typeof every === 'function' ? every(value) : every;
      if (pause) this.later(pause);
    } catch (error) {
      if (this.abort.signal.aborted) return;
      this.failed(error);
    }
  }

  failed(error) {
    this.failures += 1;
    this.tell((old) => ({ ...old, key: this.key, error, refreshing: false }));
    if (error.passing) this.later(Math.min(LONGEST_WAIT, 1000 * 2 ** Math.min(this.failures - 1, 5)));
    else if (error.kind === 'signed-out') this.waiting = true; // goes on once the reader has signed in
    else if (error.status >= 500) this.later(LONGEST_WAIT);
    else if (!error.kind) console.error(error);
  }

  later(ms) {
    this.timer = setTimeout(() => {
      this.waiting = true;
      this.wake();
    }, ms);
  }

  wake() {
    if (!this.waiting || document.hidden || session.get().state !== 'in') return;
    this.tell((old) => ({ ...old, refreshing: true }));
    this.once();
  }
}
