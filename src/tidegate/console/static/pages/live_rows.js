/** The rows of a live list: new ones before the others, or waiting while the reader reads. */

/** So many rows are kept on the page. */
export const MOST_ROWS = 200;

/** The rows of a page, none of them new. */
export function begun(rows) {
  return { rows, waiting: [], fresh: new Set() };
}

/** More rows, newest first; those that are there already change nothing. `hold`: nothing may move now. */
export function arrived(list, more, hold) {
  const known = new Set([...list.rows, ...list.waiting].map((row) => row.id));
  const unknown = more.filter((row) => !known.has(row.id));
  if (!unknown.length) return list;
  const waiting = [...unknown, ...list.waiting].slice(0, MOST_ROWS);
  return hold ? { ...list, waiting } : released({ ...list, waiting });
}

/** What waited is shown, and marked as new. */
export function released(list) {
  const rows = [...list.waiting, ...list.rows].slice(0, MOST_ROWS);
  const there = new Set(rows.map((row) => row.id));
  const fresh = new Set([...list.fresh, ...list.waiting.map((row) => row.id)].filter((id) => there.has(id)));
  return { rows, waiting: [], fresh };
}
