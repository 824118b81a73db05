/** The strip that draws each event of a stream in time. */

import { colours } from '../../components/plot.js';
import { duration } from '../../format.js';
import { useWords } from '../../i18n.js';
import { useStore } from '../../store.js';
import { shownTheme } from '../../theme.js';
import { html, useEffect, useLayoutEffect, useRef, useState } from '../../view.js';
import { strings } from './playground.strings.js';

const HEIGHT = 76;
const AXIS = 18;
const LEAST_MS = 200;
/** From this share of the whole on a gap is shaded and named. */
const GAP_SHARE = 0.06;
const COLOURS = { text: '--c1', reasoning: '--c4', other: '--c5', keepalive: '--c2', error: '--c3', end: '--good' };
const HEIGHTS = { text: 1, reasoning: 0.8, other: 0.5, keepalive: 0.35, error: 1, end: 1 };

/** Draws `run`; `turn` changes whenever there is more to draw. */
export function Strip({ run, turn }) {
  const t = useWords(strings);
  const theme = useStore(shownTheme);
  const canvas = useRef(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const box = canvas.current.parentElement;
    const watch = new ResizeObserver(() => setWidth(box.clientWidth));
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (width) draw(canvas.current, width, run, t);
  }, [width, turn, theme, run, t('language')]);
  return html`<figure class="strip">
    <canvas ref=${canvas} role="img" aria-label=${run ? summary(t, run) : t('stripEmpty')}></canvas>
    <figcaption class="strip-legend">
      ${Object.keys(COLOURS).map((kind) => html`<span key=${kind}><span class=${`mark-swatch ${kind}`} aria-hidden="true"></span>${t(`mark.${kind}`)}</span>`)}
    </figcaption>
  </figure>`;
}

function summary(t, run) {
  return t('stripSummary', {
    count: run.dropped + run.events.length,
    all: duration(run.endAt ?? run.now()),
    first: duration(run.firstAt),
    gap: duration(run.longestGap),
    keepalives: run.keepalives,
  });
}

function draw(canvas, width, run, t) {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = HEIGHT * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${HEIGHT}px`;
  const pen = canvas.getContext('2d');
  pen.scale(ratio, ratio);
  pen.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  const colour = colours(canvas.parentElement);
  const span = Math.max(LEAST_MS, run ? (run.endAt ?? run.now()) : 1000);
  const x = (at) => (at / span) * (width - 2) + 1;
  axis(pen, { width, span, x, colour, t });
  if (!run) return;
  gaps(pen, { run, span, x, colour });
  marks(pen, { run, x, colour, width });
  if (run.firstAt !== null) first(pen, { run, x, colour, width, t });
}

function axis(pen, { width, span, x, colour }) {
  const step = stepOf(span / Math.max(2, width / 110));
  pen.lineWidth = 1;
  pen.textBaseline = 'middle';
  for (let at = 0; at <= span; at += step) {
    const place = Math.round(x(at)) + 0.5;
    pen.strokeStyle = colour('--grid');
    pen.beginPath();
    pen.moveTo(place, 0);
    pen.lineTo(place, HEIGHT - AXIS);
    pen.stroke();
    const text = at === 0 ? '0' : duration(at);
    const wide = pen.measureText(text).width;
    pen.fillStyle = colour('--muted');
    pen.fillText(text, Math.min(Math.max(0, place - wide / 2), width - wide), HEIGHT - AXIS / 2);
  }
  pen.strokeStyle = colour('--line-strong');
  pen.beginPath();
  pen.moveTo(0, HEIGHT - AXIS + 0.5);
  pen.lineTo(width, HEIGHT - AXIS + 0.5);
  pen.stroke();
}

/** 1, 2 or 5 times a power of ten, at least so much. */
function stepOf(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

function gaps(pen, { run, span, x, colour }) {
  pen.textBaseline = 'top';
  for (let index = 1; index < run.marks.length; index += 1) {
    const [before, after] = [run.marks[index - 1].at, run.marks[index].at];
    if (after - before < span * GAP_SHARE) continue;
    pen.fillStyle = colour('--sunken');
    pen.fillRect(x(before), 0, x(after) - x(before), HEIGHT - AXIS);
    const text = duration(after - before);
    const wide = pen.measureText(text).width;
    if (wide + 8 > x(after) - x(before)) continue;
    pen.fillStyle = colour('--muted');
    pen.fillText(text, (x(before) + x(after) - wide) / 2, 22);
  }
}

function marks(pen, { run, x, colour }) {
  const named = Object.fromEntries(Object.entries(COLOURS).map(([kind, name]) => [kind, colour(name)]));
  const floor = HEIGHT - AXIS;
  for (const { at, kind } of run.marks) {
    const high = (floor - 18) * HEIGHTS[kind];
    pen.fillStyle = named[kind];
    pen.fillRect(x(at) - 0.75, floor - high, 1.5, high);
  }
}

function first(pen, { run, x, colour, width, t }) {
  const place = Math.round(x(run.firstAt)) + 0.5;
  pen.strokeStyle = colour('--text');
  pen.setLineDash([3, 2]);
  pen.beginPath();
  pen.moveTo(place, 2);
  pen.lineTo(place, HEIGHT - AXIS);
  pen.stroke();
  pen.setLineDash([]);
  const text = t('firstTokenAt', { time: duration(run.firstAt) });
  const wide = pen.measureText(text).width;
  pen.fillStyle = colour('--text');
  pen.textBaseline = 'top';
  pen.fillText(text, place + wide + 6 > width ? Math.max(0, place - wide - 4) : place + 4, 2);
}
