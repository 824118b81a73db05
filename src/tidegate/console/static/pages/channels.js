/** All channels: how they are, how they did in the last hour, and what can be done with them. */

import { Badge, Tag } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Table } from '../components/table.js';
import { Name } from '../components/text.js';
import { duration, share, whole } from '../format.js';
import { sentenceWords } from '../gateway_words.js';
import { useWords } from '../i18n.js';
import { PageHead } from '../page.js';
import { link } from '../router.js';
import { html, useMemo } from '../view.js';
import { DutyButtons } from './channel_duty.js';
import { ManagedBy } from './editing/shown.js';
import { strings } from './channels.strings.js';
import { Open, State, success, useHealth, useLastHour, Why } from './health.js';
import { entryLink, ListBar, ListMore, useEntries, useFilter } from './manage.js';

const FRESH_MS = 10000;
const POOR = 0.9;

export default function Channels() {
  const t = useWords(strings);
  const channels = useEntries('channels', FRESH_MS);
  const add = html`<a class="button primary" href=${link('/channels/new')}><${Icon} name="plus" />${t('add')}</a>`;
  return html`<${PageHead} title=${t('title')} lead=${t('lead')} actions=${add} />
    <${Loaded} resource=${channels}>
      ${(entries) =>
        entries.length
          ? html`<${List} entries=${entries} reload=${channels.reload} />`
          : html`<${Empty} title=${t('none')} icon="channels"><p>${t('noneText')}</p>${add}<//>`}
    <//>`;
}

function List({ entries, reload }) {
  const t = useWords(strings);
  const health = useHealth();
  const hour = useLastHour();
  const inOrder = useMemo(() => [...entries].sort((a, b) => (b.priority ?? 0) - (a.priority ?? 0)), [entries]);
  const filter = useFilter(inOrder, (channel) => [channel.name, channel.base_url ?? '', ...Object.keys(channel.models ?? {})]);
  const changed = () => {
    reload();
    health.reload();
  };
  const rows = filter.rows.map((entry) => ({
    entry,
    health: health.value?.channels.get(entry.name),
    figures: hour.value?.get(entry.name),
  }));
  return html`<${ListBar} filter=${filter} all=${entries.length} label=${t('find')} />
    ${rows.length > 0 && html`<${Table} caption=${t('title')} columns=${columnsOf(t, changed)} rows=${rows}
      rowKey=${({ entry }) => entry.name} href=${({ entry }) => entryLink('channels', entry.name)} />`}
    <${ListMore} filter=${filter} />`;
}

function columnsOf(t, changed) {
  return [
    {
      key: 'name',
      title: t('name'),
      lead: true,
      cell: ({ entry }) => html`<a href=${entryLink('channels', entry.name)}><${Name}>${entry.name}<//></a>
        <div class="row under">
          ${entry.protocol && html`<${Tag}>${t(`protocol.${entry.protocol}`)}<//>`}
          ${entry.managed_by === 'file' && html`<${ManagedBy} entry=${entry} />`}
          ${entry.problem && html`<${Badge} tone="bad" title=${sentenceWords(entry.problem)}>${t('unusable')}<//>`}
        </div>`,
    },
    {
      key: 'state',
      title: t('state'),
      wide: true,
      cell: ({ entry, health }) => html`<${State} state=${health?.state ?? duty(entry)} open=${health?.open_requests} />
        <${Why} channel=${health} />`,
    },
    { key: 'success', title: t('success'), hint: t('lastHour'), numeric: true, cell: ({ figures }) => html`<${Success} figures=${figures} />` },
    {
      key: 'first',
      title: t('firstToken'),
      hint: t('lastHour'),
      numeric: true,
      cell: ({ figures }) => html`<${FirstToken} figures=${figures} />`,
    },
    { key: 'open', title: t('open'), numeric: true, cell: ({ health }) => html`<${Open} count=${health?.open_requests} />` },
    {
      key: 'models',
      title: t('models'),
      cell: ({ entry }) => html`<span class="unbroken" title=${Object.keys(entry.models ?? {}).join('\n')}>${t('modelCount', { count: Object.keys(entry.models ?? {}).length })}</span>`,
    },
    {
      key: 'order',
      title: t('order'),
      hint: t('orderHint'),
      numeric: true,
      cell: ({ entry }) => (entry.priority === undefined ? '–' : `${whole(entry.priority)} / ${whole(entry.weight)}`),
    },
    {
      key: 'actions',
      title: t('actions'),
      wide: true,
      cell: ({ entry }) => html`<div class="row actions">
        <a class="button small" href=${`${entryLink('channels', entry.name)}?test=1`} aria-label=${t('testOf', { name: entry.name })}>
          <${Icon} name="play" size=${14} />${t('test')}
        </a>
        <${DutyButtons} entry=${entry} onChanged=${changed} small />
      </div>`,
    },
  ];
}

function duty(entry) {
  return entry.state === 'active' ? null : entry.state;
}

/** The share of attempts that went well, with how many there were. */
export function Success({ figures }) {
  const t = useWords(strings);
  const rate = success(figures);
  if (rate === null) return html`<span class="muted" title=${t('noAttempts')}>–</span>`;
  const well = figures.attempts - figures.attempts_failed;
  return html`<span class=${rate < POOR ? 'poor' : ''} title=${t('attempts', { well: whole(well), all: whole(figures.attempts) })}>${share(well, figures.attempts)}</span>`;
}

/** Median and 95th percentile of the time to the first token. */
export function FirstToken({ figures }) {
  const told = figures?.first_token_ms;
  if (!told) return html`<span class="muted">–</span>`;
  return html`<span class="unbroken">${duration(told.p50)} <span class="muted">/ ${duration(told.p95)}</span></span>`;
}
