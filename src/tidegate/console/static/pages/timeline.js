/** Where the attempts of a request lie on a scale of time. Durations are milliseconds. */

const AWAITED = { connect: 'byte', byte: 'event', event: 'rest' };

/** The scale of a row: from its coming in to the last end of anything. */
export function scaleOf(row) {
  const began = Date.parse(row.created_at);
  const after = (attempt) => Math.max(0, Date.parse(attempt.started_at) - began);
  const ends = row.attempts.map((attempt) => after(attempt) + attempt.duration_ms);
  const all = Math.max(row.duration_ms, ...ends, 0.001);
  const percent = (ms) => (100 * ms) / all;
  return { all, after, percent, marks: marks(all) };
}

function marks(all) {
  const step = nice(all / 5);
  const count = Math.floor(all / step);
  return Array.from({ length: count + 1 }, (_, index) => {
    const place = (100 * index * step) / all;
    return { at: index * step, place, edge: index === 0 ? 'first' : place > 94 ? 'last' : '' };
  });
}

/** A step of 1, 2 or 5 times a power of ten, at least as large as asked. */
function nice(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * 0.999999);
}

/**
 * The phases of an attempt in order, `{phase, from, to}` from its start: `connect`, `byte`, `event`, `rest`.
 *
 * A time that is not told joins its phase to the next; without any there is the one phase `all`. An attempt that
 * failed before something useful came ends in what it waited for.
 */
export function phasesOf(attempt) {
  const end = attempt.duration_ms;
  const told = [
    ['connect', attempt.connected_ms],
    ['byte', attempt.first_byte_ms],
    ['event', attempt.first_event_ms],
  ].filter(([, ms]) => ms !== null && ms !== undefined);
  if (!told.length) return [{ phase: 'all', from: 0, to: end }];
  const phases = [];
  let from = 0;
  for (const [phase, ms] of told) {
    const to = Math.min(end, Math.max(from, ms));
    phases.push({ phase, from, to });
    from = to;
  }
  phases.push({ phase: lastPhase(attempt, told.at(-1)[0]), from, to: Math.max(from, end) });
  return phases;
}

function lastPhase({ outcome }, reached) {
  return outcome === 'served' ? 'rest' : AWAITED[reached];
}
