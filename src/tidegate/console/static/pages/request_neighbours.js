/** The request before and after another. */

import { get } from '../api.js';
import { now } from '../clock.js';

/** Seconds of the windows in which a newer request is looked for, one after the other. */
const WINDOWS = [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000];
const MOST_SPLITS = 24;

/** The list that was looked at last: the ids of its rows and its filters. */
let listed = { ids: [], filters: {} };

/** From now on neighbours are those of this list, as long as a request is in it. */
export function lookedAt(ids, filters) {
  listed = { ids, filters };
}

/** The id of the next older request, or null. */
export async function olderThan({ id }) {
  const at = listed.ids.indexOf(id);
  if (at >= 0 && at + 1 < listed.ids.length) return listed.ids[at + 1];
  const { data } = await get('requests', { ...(at < 0 ? {} : listed.filters), limit: 1, before: id });
  const found = data[0]?.id ?? null;
  if (found && at >= 0) listed.ids.push(found);
  return found;
}

/** The id of the next newer request, or null. The API lists newest first, so windows of time are tried. */
export async function newerThan({ id, created_at: at }) {
  const place = listed.ids.indexOf(id);
  if (place > 0) return listed.ids[place - 1];
  const filters = place < 0 ? {} : listed.filters;
  const since = Date.parse(at);
  for (const seconds of WINDOWS) {
    const found = await nearest(id, filters, since, since + seconds * 1000);
    if (found) {
      if (place === 0) listed.ids.unshift(found);
      return found;
    }
    if (since + seconds * 1000 > now() + 60000) return null;
  }
  return null;
}

async function nearest(id, filters, since, until) {
  let end = until;
  for (let split = 0; split < MOST_SPLITS; split += 1) {
    const { data, has_more: more } = await get('requests', {
      ...filters,
      limit: 500,
      since: new Date(since).toISOString(),
      until: new Date(end).toISOString(),
    });
    const own = data.findIndex((row) => row.id === id);
    if (own > 0) return data[own - 1].id;
    if (own === 0) return null;
    if (!more) return data.at(-1)?.id ?? null;
    end = since + (end - since) / 2;
  }
  return null;
}
