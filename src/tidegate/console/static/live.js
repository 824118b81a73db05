/** The live tail of requests: finished rows as they come, connected again after trouble. */

import { address, askSession } from './api.js';
import { useEffect, useRef, useState } from './view.js';

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
/** Rows come in bursts: what arrives within this time is drawn at once. */
const GATHER_MS = 120;

/**
 * Listen to the tail while `active`. `query` are its filters, `onRows(rows)` gets new rows, newest first.
 *
 * Gives `{state, skipped}`: the state is `off`, `connecting`, `open`, `away` or `trouble`; `skipped` counts rows
 * that the gateway left out.
 */
export function useTail(active, query, onRows) {
  const [told, setTold] = useState({ state: 'off', skipped: 0 });
  const latest = useRef(onRows);
  latest.current = onRows;
  const key = active ? JSON.stringify(query) : null;
  useEffect(() => {
    if (key === null) {
      setTold({ state: 'off', skipped: 0 });
      return undefined;
    }
    const tail = new Tail(JSON.parse(key), (rows) => latest.current(rows), setTold);
    tail.connect();
    return () => tail.end();
  }, [key]);
  return told;
}

class Tail {
  constructor(query, give, tell) {
    this.query = query;
    this.give = give;
    this.tell = tell;
    this.wait = FIRST_WAIT;
    this.gathered = [];
    this.timers = {};
    this.ended = false;
  }

  connect() {
    if (this.ended) return;
    this.say('connecting');
    const source = new EventSource(address('requests/tail', this.query));
    this.source = source;
    source.addEventListener('open', () => {
      this.wait = FIRST_WAIT;
      this.say('open');
    });
    source.addEventListener('ready', () => this.say('open'));
    source.addEventListener('trouble', () => this.say('trouble'));
    source.addEventListener('skipped', (event) => this.skip(JSON.parse(event.data).rows));
    source.addEventListener('request', (event) => this.gather(JSON.parse(event.data)));
    source.addEventListener('error', () => {
      this.say('away');
      // The browser connects again by itself, unless the answer was an error.
      if (source.readyState === EventSource.CLOSED) this.again();
    });
  }

  async again() {
    this.source.close();
    await askSession().catch(() => null); // an expired session shows the sign-in page
    this.timers.again = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  gather(row) {
    this.gathered.unshift(row);
    this.timers.give ??= setTimeout(() => {
      this.timers.give = null;
      const rows = this.gathered;
      this.gathered = [];
      this.give(rows);
    }, GATHER_MS);
  }

  say(state) {
    if (!this.ended) this.tell((old) => ({ ...old, state }));
  }

  skip(rows) {
    this.tell((old) => ({ ...old, skipped: old.skipped + rows }));
  }

  end() {
    this.ended = true;
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    this.source.close();
  }
}
