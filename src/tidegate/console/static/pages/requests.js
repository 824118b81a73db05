/** The list of requests: filters and pages in the address, and a live tail. */

import { get } from '../api.js';
import { Icon } from '../components/icon.js';
import { bounds, RangePicker, rangeOf } from '../components/range.js';
import { Empty, Loaded } from '../components/states.js';
import { now } from '../clock.js';
import { useWords } from '../i18n.js';
import { useTail } from '../live.js';
import { PageHead, useTitle } from '../page.js';
import { useResource } from '../resource.js';
import { link, useQuery } from '../router.js';
import { html, useEffect, useRef, useState } from '../view.js';
import { lookedAt } from './request_neighbours.js';
import { FILTERS, Filters } from './requests_filters.js';
import { RequestTable } from './requests_table.js';
import { strings } from './requests.strings.js';

const PAGE = 50;
/** So many rows are kept on the page while the tail runs. */
const MOST_ROWS = 200;
const NO_ROWS = [];

export default function Requests() {
  const t = useWords(strings);
  useTitle(t('title'));
  const [query, change] = useQuery();
  const range = rangeOf(query);
  const filters = Object.fromEntries(FILTERS.filter((one) => query[one]).map((one) => [one, query[one]]));
  const number = pageOf(query);
  const canLive = number === 1 && !range.since;
  const live = canLive && query.live === '1';

  const asked = { ...range, ...filters, before: query.before ?? null };
  const load = (signal) =>
    get('requests', { limit: PAGE, before: query.before, ...filters, ...bounds(range, now()) }, { signal });
  const page = useResource(JSON.stringify(asked), load, { name: 'requests' });
  const tail = useLiveRows(live, filters, page);
  const rows = live ? tail.rows : page.value?.data;
  useEffect(() => rows && lookedAt(rows.map((row) => row.id), filters), [rows]);
  // Another filter or range begins at the first page again.
  const filter = (patch) => change({ ...patch, before: null, page: null });

  return html`
    <${PageHead} title=${t('title')} lead=${t('lead')} actions=${html`
      <${RangePicker} range=${range} any onChange=${(patch) => filter(patch)} />
      <button type="button" class="button bare" aria-label=${t('refresh')} title=${t('refresh')} onClick=${page.reload}><${Icon} name="refresh" /></button>
      <button type="button" class="button" aria-pressed=${live ? 'true' : 'false'} disabled=${!canLive}
          title=${canLive ? t('liveHint') : t('liveOff')} onClick=${() => change({ live: live ? null : '1' })}>
        <span class=${live ? 'pulse' : 'pulse still'} aria-hidden="true"></span>${t('live')}
      </button>`} />
    <${Filters} query=${query} filters=${filters} change=${filter} error=${page.error} />
    ${live && html`<${LiveBar} tail=${tail} />`}
    ${!FILTERS.includes(page.error?.parameter) && html`<${Loaded} resource=${page} lines=${14}>
      ${({ data, next }) => html`<${Rows} ...${{ rows: live ? rows : data, fresh: tail.fresh, next, number, filters, range }} />`}
    <//>`}`;
}

function Rows({ rows, fresh, next, number, filters, range }) {
  const t = useWords(strings);
  const narrowed = Object.keys(filters).length > 0 || range.range || range.since || number > 1;
  if (!rows.length) {
    return html`<${Empty} title=${t(narrowed ? 'emptyTitle' : 'noneTitle')} icon="requests">
      <p>${t(narrowed ? 'emptyText' : 'noneText')}</p>
    <//>`;
  }
  return html`<${RequestTable} rows=${rows} fresh=${fresh} /><${Pager} ...${{ rows, next, number }} />`;
}

function Pager({ rows, next, number }) {
  const t = useWords(strings);
  const [query] = useQuery();
  const from = (number - 1) * PAGE + 1;
  return html`<nav class="pager" aria-label=${t('caption')}>
    <span>${t('page', { from, to: from + rows.length - 1 })}</span>
    <span class="row">
      ${number > 1 && html`<a class="button" href=${link('/requests', { ...query, before: null, page: null })}><${Icon} name="newer" />${t('newest')}</a>`}
      ${next && html`<a class="button" href=${link('/requests', { ...query, live: null, before: next, page: number + 1 })}>${t('older')}<${Icon} name="right" /></a>`}
    </span>
  </nav>`;
}

function pageOf(query) {
  const told = Number.parseInt(query.page, 10);
  return query.before ? Math.max(2, told || 2) : 1;
}

/**
 * The rows of the page with those of the tail before them.
 *
 * While the reader has scrolled down or paused, new rows wait: nothing moves under their eyes.
 */
function useLiveRows(live, filters, page) {
  const [rows, setRows] = useState(NO_ROWS);
  const [waiting, setWaiting] = useState(NO_ROWS);
  const [paused, setPaused] = useState(false);
  const fresh = useRef(new Set());
  const data = page.value?.data ?? NO_ROWS;

  useEffect(() => {
    fresh.current = new Set();
    setRows(data);
    setWaiting(NO_ROWS);
  }, [data, live]);
  useEffect(() => setPaused(false), [live]);

  const take = (more) => {
    for (const row of more) fresh.current.add(row.id);
    setRows((old) => joined(more, old));
  };
  const tail = useTail(live && page.value !== undefined, filters, (more) => {
    if (paused || reading()) setWaiting((old) => joined(more, old));
    else take(more);
  });
  const show = () => {
    scrollTo({ top: 0 });
    take(waiting);
    setWaiting(NO_ROWS);
  };
  const pause = (now) => {
    setPaused(now);
    if (!now) show();
  };
  return { rows: rows.length ? rows : data, waiting, fresh: fresh.current, show, paused, pause, ...tail };
}

function joined(more, old) {
  const known = new Set(more.map((row) => row.id));
  return [...more, ...old.filter((row) => !known.has(row.id))].slice(0, MOST_ROWS);
}

/** Has the reader gone into the list: scrolled down, with the keyboard in it, or with text selected? */
function reading() {
  const table = document.querySelector('.requests');
  const focused = table?.contains(document.activeElement) && document.activeElement !== table;
  return scrollY > 40 || focused || String(getSelection()).length > 0;
}

function LiveBar({ tail }) {
  const t = useWords(strings);
  const state = tail.paused ? 'paused' : tail.state;
  return html`<div class=${`live-bar ${state}`}>
    <span role="status">${state !== 'off' && t(`live_${state}`)}</span>
    ${tail.skipped > 0 && html`<span class="muted">${t('skipped', { count: tail.skipped })}</span>`}
    ${tail.waiting.length > 0 && html`<button type="button" class="button primary small live-new" onClick=${tail.show}>
      <${Icon} name="newer" size=${14} />${t('waiting', { count: tail.waiting.length })}
    </button>`}
    <button type="button" class="button small" onClick=${() => tail.pause(!tail.paused)}>
      <${Icon} name=${tail.paused ? 'play' : 'pause'} size=${14} />${t(tail.paused ? 'resume' : 'pause')}
    </button>
  </div>`;
}
