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
import { html, useEffect, useState } from '../view.js';
import { arrived, begun, released } from './live_rows.js';
import { lookedAt } from './request_neighbours.js';
import { FILTERS, Filters } from './requests_filters.js';
import { RequestTable } from './requests_table.js';
import { strings } from './requests.strings.js';

const PAGE = 50;
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
  const key = JSON.stringify(asked);
  const page = useResource(key, load, { name: 'requests' });
  const tail = useLiveRows(live, key, filters, page);
  const rows = live && tail.rows.length ? tail.rows : page.value?.data;
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
 * While the reader has scrolled down or paused, new rows wait: nothing moves under their eyes. Whenever the tail
 * begins, also anew, the page is read again: what ended in between is in no event.
 */
function useLiveRows(live, key, filters, page) {
  const [list, setList] = useState(() => begun(NO_ROWS));
  const [paused, setPaused] = useState(false);
  const there = page.value !== undefined && !page.stale;
  const data = there ? page.value.data : NO_ROWS;
  const held = () => paused || reading();

  useEffect(() => {
    setList(begun(NO_ROWS));
    setPaused(false);
  }, [live, key]);
  useEffect(() => {
    if (live) setList((old) => (old.rows.length ? arrived(old, data, held()) : begun(data)));
  }, [live, key, data]);
  const tail = useTail(live && there, filters, (more) => setList((old) => arrived(old, more, held())));
  useEffect(() => {
    if (tail.state === 'open') page.reload();
  }, [tail.state]);

  const show = () => {
    scrollTo({ top: 0 });
    setList(released);
  };
  const pause = (now) => {
    setPaused(now);
    if (!now) show();
  };
  return { ...list, show, paused, pause, ...tail };
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
