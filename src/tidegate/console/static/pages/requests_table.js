/** The table of requests. */

import { Outcome } from '../components/outcome.js';
import { Table } from '../components/table.js';
import { Name, Time } from '../components/text.js';
import { Tag } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { duration, exactMoney, money, NOTHING, short, whole } from '../format.js';
import { language, useWords } from '../i18n.js';
import { link } from '../router.js';
import { useStore } from '../store.js';
import { html, useMemo } from '../view.js';
import { strings } from './requests.strings.js';

/** The address of a request's page. */
export function requestLink(id) {
  return link(`/requests/${encodeURIComponent(id)}`);
}

/** Rows as a table; those whose id is in `fresh` are marked as new. */
export function RequestTable({ rows, fresh }) {
  const t = useWords(strings);
  const tag = useStore(language);
  const shown = useMemo(() => columns(t), [tag]);
  return html`<div class="requests">
    <${Table} still caption=${t('caption')} columns=${shown} rows=${rows} rowKey=${(row) => row.id}
      href=${(row) => requestLink(row.id)} rowClass=${(row) => (fresh.has(row.id) ? 'fresh' : '')} />
  </div>`;
}

function columns(t) {
  const named = (key) => ({ key, title: t(key), cell: (row) => html`<${Name} hint>${row[key]}<//>` });
  return [
    { key: 'created_at', title: t('time'), cell: (row) => html`<${Time} at=${row.created_at} />` },
    { key: 'id', title: t('id'), cell: (row) => html`<${Id} row=${row} />`, lead: true },
    { key: 'outcome', title: t('outcome'), cell: (row) => html`<${Outcome} value=${row.outcome} />` },
    { key: 'status', title: t('status'), cell: (row) => row.status, numeric: true },
    { key: 'model', title: t('model'), cell: (row) => html`<${Model} row=${row} />` },
    named('channel'),
    named('key'),
    { key: 'protocol', title: t('protocol'), cell: (row) => html`<${Protocol} row=${row} />` },
    { key: 'tokens', title: t('tokens'), hint: t('tokensHint'), cell: (row) => html`<${Tokens} row=${row} />`, numeric: true },
    { key: 'cost', title: t('cost'), cell: (row) => html`<span title=${exactMoney(row.cost)}>${cost(row)}</span>`, numeric: true },
    { key: 'first', title: t('first'), cell: (row) => duration(row.first_token_ms), numeric: true },
    { key: 'duration', title: t('duration'), cell: (row) => duration(row.duration_ms), numeric: true },
  ];
}

function Id({ row }) {
  return html`<a class="code id" href=${requestLink(row.id)} title=${row.id}>…${row.id.slice(-8)}</a>`;
}

function Model({ row }) {
  const t = useWords(strings);
  const tries = row.attempts.length;
  return html`<span class="with-marks"><${Name} hint>${row.model}<//>
    ${tries > 1 && html`<${Tag} title=${t('attempts', { count: tries })}>×${tries}<//>`}
    ${row.warnings.length > 0 && html`<span class="mark-warning" role="img" aria-label=${t('warned', { count: row.warnings.length })} title=${t('warned', { count: row.warnings.length })}><${Icon} name="warning" size=${13} /></span>`}
  </span>`;
}

function Protocol({ row }) {
  const t = useWords(strings);
  const way = t(row.stream ? 'streamed' : 'whole');
  return html`<span class="with-marks">${row.protocol}
    <span class="way" role="img" aria-label=${way} title=${way}><${Icon} name=${row.stream ? 'stream' : 'block'} size=${14} /></span>
  </span>`;
}

function Tokens({ row }) {
  const t = useWords(strings);
  const prompt = row.input_tokens + row.cache_read_tokens + row.cache_write_tokens;
  if (row.usage_source === 'none') return NOTHING;
  const about = row.usage_source === 'estimated';
  const title = `${whole(prompt)} / ${whole(row.output_tokens)}${about ? ` – ${t('estimated')}` : ''}`;
  return html`<span title=${title}>${about ? '~' : ''}${short(prompt)} / ${short(row.output_tokens)}</span>`;
}

function cost(row) {
  return Number(row.cost) === 0 ? NOTHING : money(row.cost);
}
