/** How uPlot draws: axes in the reader's language and zone, colours of the theme. */

import { locale } from '../i18n.js';
import uPlot from '../vendor/uplot.js';

const FONT = '11px system-ui, -apple-system, "Segoe UI", sans-serif';
const DAY = 86400;
const LEAST_DRAG = 8;

/** Values of stacked series: the first holds all of them, so that what is drawn later lies over it. */
export function stacked(series) {
  const sums = series.map((one) => [...one.values]);
  for (let level = sums.length - 2; level >= 0; level -= 1) {
    for (let index = 0; index < sums[level].length; index += 1) sums[level][index] += sums[level + 1][index];
  }
  return sums;
}

/** A uPlot in `box`. `latest.current` has the functions of the last drawing: `tick`, `onRange`, `setCursor`. */
export function plotted({ box, height, step, series, kind, values, latest }) {
  const colour = colours(box);
  const options = {
    width: box.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    scales: { x: { time: true, range: (_, least, most) => [least, most + step] }, y: { range: upwards } },
    axes: axes(colour, latest),
    series: [{}, ...series.map((one) => line(one, kind, colour))],
    cursor: {
      y: false,
      points: { show: kind === 'lines', size: 7 },
      drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => null },
    },
    hooks: {
      setCursor: [(plot) => latest.current.setCursor(cursor(plot))],
      setSelect: [(plot) => dragged(plot, latest)],
    },
  };
  return new uPlot(options, values, box);
}

function line({ colour: name, label }, kind, colour) {
  if (kind === 'bars') {
    return { label, fill: colour(name), width: 0, paths: uPlot.paths.bars({ size: [0.78, 40], align: 1 }), points: { show: false } };
  }
  return { label, stroke: colour(name), width: 1.75, points: { show: true, filter: alone, size: 6, width: 0, fill: colour(name) } };
}

/** The values without a neighbour: a line through them would have no length. */
function alone(plot, index) {
  const values = plot.data[index];
  const told = (at) => values[at] !== null && values[at] !== undefined;
  return [...values.keys()].filter((at) => told(at) && !told(at - 1) && !told(at + 1));
}

function axes(colour, latest) {
  const shared = { stroke: colour('--muted'), font: FONT, ticks: { show: false } };
  return [
    {
      ...shared,
      grid: { show: false },
      space: 70,
      size: 28,
      values: (_, splits, __, ___, gap) => splits.map((at) => clock(at, gap)),
    },
    {
      ...shared,
      grid: { stroke: colour('--grid'), width: 1 },
      space: 34,
      size: (plot, labels) => 16 + Math.max(20, ...(labels ?? []).map((one) => width(plot, one))),
      values: (_, splits) => splits.map((value) => latest.current.tick(value)),
    },
  ];
}

function width(plot, label) {
  plot.ctx.font = FONT;
  return plot.ctx.measureText(label).width;
}

function clock(at, gap) {
  const then = new Date(at * 1000);
  const midnight = then.getHours() === 0 && then.getMinutes() === 0;
  const options =
    gap >= DAY || midnight
      ? { month: 'short', day: 'numeric' }
      : { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...(gap < 60 ? { second: '2-digit' } : {}) };
  return new Intl.DateTimeFormat(locale(), options).format(then);
}

function upwards(_, least, most) {
  return [0, most > 0 ? most * 1.08 : 1];
}

function cursor(plot) {
  const { idx: index, left } = plot.cursor;
  if (index === null || index === undefined || left < 0) return null;
  const from = plot.bbox.left / devicePixelRatio;
  const x = from + left;
  const all = plot.width;
  return x > all / 2 ? { index, right: all - x + 14 } : { index, left: x + 14 };
}

function dragged(plot, latest) {
  const { left, width: wide } = plot.select;
  if (wide < LEAST_DRAG) return;
  const from = plot.posToVal(left, 'x');
  const to = plot.posToVal(left + wide, 'x');
  plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
  latest.current.onRange?.(from, to);
}

/** Canvas takes no custom properties: an element in the page tells what they are now. */
export function colours(box) {
  const probe = document.createElement('span');
  box.append(probe);
  const known = new Map();
  return (name) => {
    if (!known.has(name)) {
      if (!probe.isConnected) box.append(probe);
      probe.style.color = `var(${name})`;
      known.set(name, getComputedStyle(probe).color);
      probe.remove();
    }
    return known.get(name);
  };
}
