/** The request before and after another. */

import { get } from '../api.js';

/** Seconds of the windows in which a newer request is looked for, one after the other. */
const WINDOWS = [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000];
const MOST_SPLITS = 24;

/** The id of the next older request, or null. */
export async function olderThan({ id }) {
  const { data } = await get('requests', { limit: 1, before: id });
  return data[0]?.id ?? null;
}

/** The id of the next newer request, or null. The API lists newest first, so windows of time are tried. */
export async function newerThan({ id, created_at: at }) {
  const since = Date.parse(at);
  for (const seconds of WINDOWS) {
    const found = await nearest(id, since, since + seconds * 1000);
    if (found) return found;
    if (since + seconds * 1000 > Date.now() + 60000) return null;
  }
  return null;
}

async function nearest(id, since, until) {
  let end = until;
  for (let split = 0; split < MOST_SPLITS; split += 1) {
    const { data, has_more: more } = await get('requests', {
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
