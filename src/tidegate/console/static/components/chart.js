/** Charts over time, with a legend that hides series, a tooltip, and the same figures as a table. */

import { NOTHING } from '../format.js';
import { language, useWords } from '../i18n.js';
import { useStore } from '../store.js';
import { shownTheme } from '../theme.js';
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../view.js';
import { plotted, stacked } from './plot.js';
import { strings } from './strings.js';
import { Table } from './table.js';
import { Time } from './text.js';

const HEIGHT = 190;

/**
 * A chart. `at` are the beginnings of the buckets (Unix seconds), `step` is their length in seconds.
 *
 * `series` are `{key, label, colour, values}`: `colour` is a custom property as `--c1`, a value may be null.
 * `kind`: `bars` (stacked) or `lines`. `format(value)` writes a value, `tick(value)` one at the axis.
 * `onRange(from, to)` is called with Unix seconds when the reader drags over a part.
 */
export function TimeChart({ title, hint, at, step, series, kind, format, tick = format, onRange }) {
  const t = useWords(strings);
  const [hidden, setHidden] = useState([]);
  const [asTable, setAsTable] = useState(false);
  const shown = series.filter((one) => !hidden.includes(one.key));
  const toggle = (key) =>
    setHidden(hidden.includes(key) ? hidden.filter((one) => one !== key) : [...hidden, key]);
  const blank = series.every((one) => one.values.every((value) => !value));
  return html`<figure class="card chart">
    <figcaption class="card-head">
      <div><h2>${title}</h2>${hint && html`<p class="card-hint">${hint}</p>`}</div>
      <button type="button" class="button quiet small" aria-pressed=${asTable ? 'true' : 'false'}
          aria-label=${`${t('table')}: ${title}`} onClick=${() => setAsTable(!asTable)}>${t('table')}</button>
    </figcaption>
    ${
      asTable
        ? html`<${Figures} ...${{ title, at, series, format }} />`
        : html`${
            blank
              ? html`<p class="chart-blank">${t('noFigures')}</p>`
              : html`<${Drawing} ...${{ title, at, step, series: shown, kind, format, tick, onRange }} />`
          }
          ${series.length > 1 && html`<${Legend} ...${{ series, hidden, toggle }} />`}`
    }
  </figure>`;
}

function Legend({ series, hidden, toggle }) {
  return html`<ul class="legend">
    ${series.map(
      ({ key, label, colour }) => html`<li key=${key}>
        <button type="button" aria-pressed=${hidden.includes(key) ? 'false' : 'true'} onClick=${() => toggle(key)}>
          <${Swatch} colour=${colour} />${label}
        </button>
      </li>`,
    )}
  </ul>`;
}

/** A spot in a colour of the charts. */
export function Swatch({ colour }) {
  return html`<span class="swatch" style=${{ background: `var(${colour})` }} aria-hidden="true"></span>`;
}

function Figures({ title, at, series, format }) {
  const t = useWords(strings);
  const rows = at.map((time, index) => ({ time, index })).reverse();
  const columns = [
    { key: 'time', title: t('time'), cell: ({ time }) => html`<${Time} at=${time * 1000} />` },
    ...series.map((one) => ({
      key: one.key,
      title: one.label,
      numeric: true,
      cell: ({ index }) => written(one.values[index], format),
    })),
  ];
  return html`<div class="chart-table">
    <${Table} caption=${title} columns=${columns} rows=${rows} rowKey=${({ time }) => time} cards=${false} />
  </div>`;
}

function written(value, format) {
  return value === null || value === undefined ? NOTHING : format(value);
}

function Drawing({ title, at, step, series, kind, format, tick, onRange }) {
  const box = useRef(null);
  const plot = useRef(null);
  const latest = useRef({});
  const theme = useStore(shownTheme);
  const tag = useStore(language);
  const [cursor, setCursor] = useState(null);
  const values = useMemo(() => (kind === 'bars' ? stacked(series) : series.map((one) => one.values)), [series, kind]);
  latest.current = { tick, onRange, setCursor };

  // A plot is made anew only when what it is made of changes; new figures go into the one that is there.
  const shape = `${kind} ${step} ${theme} ${tag} ${series.map((one) => one.key + one.colour).join()}`;
  useLayoutEffect(() => {
    const made = plotted({ box: box.current, height: HEIGHT, step, series, kind, values: [at, ...values], latest });
    plot.current = made;
    const watch = new ResizeObserver(() => made.setSize({ width: box.current.clientWidth, height: HEIGHT }));
    watch.observe(box.current);
    return () => {
      watch.disconnect();
      made.destroy();
      plot.current = null;
      setCursor(null);
    };
  }, [shape]);
  useEffect(() => plot.current?.setData([at, ...values]), [at, values]);

  return html`<div class="chart-box">
    <div ref=${box} role="img" aria-label=${title}></div>
    ${cursor && cursor.index < at.length && html`<${Tip} ...${{ cursor, at, series, format }} />`}
  </div>`;
}

function Tip({ cursor, at, series, format }) {
  const place = cursor.right ? { right: `${cursor.right}px` } : { left: `${cursor.left}px` };
  return html`<div class="tip" style=${place} aria-hidden="true">
    <p><${Time} at=${at[cursor.index] * 1000} /></p>
    <dl>
      ${series.map(
        ({ key, label, colour, values }) => html`<div key=${key}>
          <dt><${Swatch} colour=${colour} />${label}</dt>
          <dd>${written(values[cursor.index], format)}</dd>
        </div>`,
      )}
    </dl>
  </div>`;
}
