/** Who changed what, when, and from where. */

import { get } from '../api.js';
import { Badge, Tag } from '../components/badge.js';
import { Choice, Input } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Table } from '../components/table.js';
import { Name, Time } from '../components/text.js';
import { plain } from '../format.js';
import { useWords } from '../i18n.js';
import { useNarrow } from '../narrow.js';
import { PageHead } from '../page.js';
import { useResource } from '../resource.js';
import { link, useQuery } from '../router.js';
import { html, useEffect, useState } from '../view.js';
import { strings } from './audit.strings.js';
import { entryLink } from './manage.js';

const PAGE = 50;
const NARROW_PAGE = 20;
const TYPING_MS = 300;
const WITH_PAGES = new Set(['channels', 'models', 'accounts', 'keys']);
const KINDS = [...WITH_PAGES, 'requests', 'contents', 'playground', 'ledger', 'sessions', 'config'];
const TONES = { create: 'good', delete: 'bad', pause: 'warn', drain: 'warn', resume: 'good', credit: 'info', refund: 'info', sign_in_failed: 'bad' };
const SHOWN = 6;

export default function Audit() {
  const t = useWords(strings);
  const [query, put] = useQuery();
  const filters = { kind: query.kind, name: query.name, operator: query.operator };
  const limit = useNarrow() ? NARROW_PAGE : PAGE;
  const page = useResource(`audit/${JSON.stringify(filters)}/${query.before ?? ''}/${limit}`, (signal) =>
    get('audit', { ...filters, limit, before: query.before }, { signal }),
  );
  const reload = html`<button type="button" class="button" onClick=${() => page.reload()}><${Icon} name="refresh" />${t('reload')}</button>`;
  const narrowed = Object.values(filters).some(Boolean);
  return html`<${PageHead} title=${t('title')} lead=${t('lead')} actions=${reload} />
    <${Filters} query=${query} put=${(patch) => put({ ...patch, before: null })} />
    <${Loaded} resource=${page}>
      ${(told) =>
        told.data.length
          ? html`<${Table} caption=${t('title')} columns=${columnsOf(t)} rows=${told.data} rowKey=${(row) => row.number} />
              <div class="pager">
                <button type="button" class="button" disabled=${!query.before} onClick=${() => put({ before: null }, { push: true })}>${t('newest')}</button>
                <button type="button" class="button" disabled=${!told.has_more} onClick=${() => put({ before: told.next }, { push: true })}>${t('older')}</button>
              </div>`
          : html`<${Empty} title=${t(narrowed ? 'nothingFound' : 'none')} icon="audit" />`}
    <//>`;
}

function Filters({ query, put }) {
  const t = useWords(strings);
  const kinds = [['', t('anyKind')], ...KINDS.map((kind) => [kind, t(`kind.${kind}`)])];
  return html`<form class="filters" role="search" aria-label=${t('filters')} onSubmit=${(event) => event.preventDefault()}>
    <${Choice} label=${t('kind')} value=${query.kind ?? ''} options=${kinds} onChange=${(kind) => put({ kind })} />
    <${Typed} label=${t('name')} value=${query.name ?? ''} onSettled=${(name) => put({ name })} data-search />
    <${Typed} label=${t('operator')} value=${query.operator ?? ''} onSettled=${(operator) => put({ operator })} />
  </form>`;
}

/** A text that is looked for once the reader has stopped typing. */
function Typed({ label, value, onSettled, ...rest }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => onSettled(text.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<${Input} label=${label} value=${text} onInput=${setText} type="search" ...${rest} />`;
}

function columnsOf(t) {
  return [
    { key: 'at', title: t('time'), lead: true, cell: (row) => html`<${Time} at=${row.at} />` },
    {
      key: 'operator',
      title: t('operator'),
      cell: (row) => html`<${Name}>${row.operator}<//>
        <div class="row under muted"><span class="unbroken">${said(t, 'via', row.via)}${row.address && html` · <${Name} code>${row.address}<//>`}</span></div>`,
    },
    { key: 'action', title: t('action'), cell: (row) => html`<${Badge} tone=${TONES[row.action] ?? 'plain'}>${said(t, 'action', row.action)}<//>` },
    {
      key: 'what',
      title: t('what'),
      cell: (row) => html`<${Tag}>${said(t, 'kind', row.kind)}<//> ${row.name && html`<${Subject} row=${row} />`}`,
    },
    { key: 'changes', title: t('changes'), wide: true, cell: (row) => html`<${Changes} changes=${row.changes} />` },
  ];
}

/** A known word in the reader's language; an unknown one as it is. */
function said(t, group, word) {
  return t.has(`${group}.${word}`) ? t(`${group}.${word}`) : plain(word ?? '–');
}

function Subject({ row }) {
  const name = html`<${Name}>${row.name}<//>`;
  if (row.kind === 'requests' || row.kind === 'contents') return html`<a href=${link(`/requests/${encodeURIComponent(row.name)}`)}>${name}</a>`;
  return WITH_PAGES.has(row.kind) && row.action !== 'delete' ? html`<a href=${entryLink(row.kind, row.name)}>${name}</a>` : name;
}

function Changes({ changes }) {
  const t = useWords(strings);
  const [all, setAll] = useState(false);
  const told = Object.entries(changes ?? {}).filter(([, pair]) => Array.isArray(pair));
  if (!told.length) return html`<span class="muted none-here">–</span>`;
  const shown = all ? told : told.slice(0, SHOWN);
  return html`<dl class="changes">
      ${shown.map(([field, [before, after]]) => html`<div key=${field}>
        <dt class="code">${plain(field)}</dt>
        <dd><${Old} value=${before} /><span aria-label=${t('became')} role="img">→</span> <${Value} value=${after} /></dd>
      </div>`)}
    </dl>
    ${told.length > shown.length && html`<button type="button" class="button small quiet" onClick=${() => setAll(true)}>${t('moreChanges', { count: told.length - shown.length })}</button>`}`;
}

function Old({ value }) {
  if (value === null || value === undefined) return null;
  return html`<del><${Value} value=${value} /></del> `;
}

function Value({ value }) {
  const t = useWords(strings);
  if (value === null || value === undefined) return html`<span class="muted">${t('nothing')}</span>`;
  if (value === '(set)') return html`<span class="muted">${t('set')}</span>`;
  return html`<${Name} code>${typeof value === 'string' ? value : JSON.stringify(value)}<//>`;
}
