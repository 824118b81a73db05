/** The gateway's clock: a reader's own may be wrong by hours, and ranges would then show nothing. */

/** Differences below this (milliseconds) are the way's, and the header has whole seconds only. */
const NOTICED = 3000;

let ahead = 0;

/** Take what an answer says about the time: the header `date`. */
export function setClock(header) {
  const told = Date.parse(header ?? '');
  if (Number.isNaN(told)) return;
  const difference = told - Date.now();
  ahead = Math.abs(difference) < NOTICED ? 0 : difference;
}

/** Milliseconds since 1970 as the gateway has it. */
export function now() {
  return Date.now() + ahead;
}
