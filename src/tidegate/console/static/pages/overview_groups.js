/** The overview's table of groups: sortable, each name a filter. */

import { Segmented } from '../components/field.js';
import { sorted, Table, turned } from '../components/table.js';
import { Name } from '../components/text.js';
import { duration, exactMoney, money, share, short, whole } from '../format.js';
import { useWords } from '../i18n.js';
import { useNarrow } from '../narrow.js';
import { Section } from '../page.js';
import { link } from '../router.js';
import { html, useState } from '../view.js';
import { strings } from './overview.strings.js';
import { TOKENS } from './tokens.js';

const VALUES = {
  name: (group) => group.name,
  requests: (group) => group.requests,
  errors: (group) => (group.requests ? (group.failed + group.interrupted) / group.requests : null),
  cost: (group) => Number(group.cost),
  p50: (group) => group.first_token_ms?.p50 ?? null,
  p95: (group) => group.first_token_ms?.p95 ?? null,
  attempts: (group) => group.attempts ?? null,
  attempts_failed: (group) => group.attempts_failed ?? null,
  ...Object.fromEntries(TOKENS.map(([name, member]) => [name, (group) => group[member]])),
};

/** So many cards are shown at first on a narrow screen. */
const FIRST = 4;

export function Groups({ figures, query, filters, groupBy, groupedBy, dimensions, change }) {
  const t = useWords(strings);
  const by = Object.hasOwn(VALUES, query.sort ?? '') ? query.sort : 'requests';
  const sort = { by, down: query.order !== 'up' };
  const onSort = (key) => {
    const next = turned(sort, key);
    change({ sort: next.by, order: next.down ? null : 'up' });
  };
  const rows = sorted(figures.groups, VALUES[by], sort.down);
  const [all, setAll] = useState(false);
  const shown = useNarrow() && !all ? rows.slice(0, FIRST) : rows;
  const options = dimensions.map((one) => [one, t(`by_${one}`)]);
  return html`<${Section} title=${t(`groups_${groupBy}`)} hint=${t('groupsHint')} className="groups"
      actions=${html`<${Segmented} label=${t('group_by')} value=${groupBy} options=${options} onChange=${groupedBy} />`}>
    <${Table} caption=${t(`groups_${groupBy}`)} columns=${columns(t, { query, filters, groupBy, rows })} rows=${shown}
      rowKey=${(group) => `${group.name}`} sort=${sort} onSort=${onSort} />
    ${shown.length < rows.length && html`<div class="pager"><button type="button" class="button" onClick=${() => setAll(true)}>${t('allGroups', { count: rows.length })}</button></div>`}
  <//>`;
}

function columns(t, { query, filters, groupBy, rows }) {
  const number = (key, title, cell, hint) => ({ key, title, hint, cell, numeric: true, sortable: true });
  const most = Math.max(1, ...rows.map((group) => group.requests));
  const tried = groupBy === 'channel';
  return [
    { key: 'name', title: t(groupBy), lead: true, sortable: true, cell: (group) => html`<${Label} ...${{ group, query, groupBy }} />` },
    number('requests', t('requests'), (group) => html`<span class="bar-cell">
      <span class="bar" aria-hidden="true" style=${{ width: `${(100 * group.requests) / most}%` }}></span>
      ${
        group.name === null
          ? html`<span title=${whole(group.requests)}>${short(group.requests)}</span>`
          : html`<a href=${requestsLink(query, { ...filters, [groupBy]: group.name })} title=${`${whole(group.requests)} – ${t('toRequests')}`}>${short(group.requests)}</a>`
      }</span>`),
    number('errors', t('errors'), (group) => share(group.failed + group.interrupted, group.requests), t('errorsHint')),
    ...(tried
      ? [
          number('attempts', t('attempts'), (group) => whole(group.attempts)),
          number('attempts_failed', t('attemptsFailed'), (group) => whole(group.attempts_failed)),
        ]
      : []),
    ...TOKENS.map(([name, member]) =>
      number(name, t(name), (group) => html`<span title=${whole(group[member])}>${short(group[member])}</span>`),
    ),
    number('cost', t('cost'), (group) => html`<span title=${exactMoney(group.cost)}>${money(group.cost)}</span>`),
    number('p50', t('p50column'), (group) => duration(group.first_token_ms?.p50), t('firstTokenHint')),
    number('p95', t('p95column'), (group) => duration(group.first_token_ms?.p95), t('firstTokenHint')),
  ];
}

function Label({ group, query, groupBy }) {
  const t = useWords(strings);
  if (group.name === null) {
    return group.kind === 'none' ? html`<span class="muted" title=${t('noneHint')}>${t('none')}</span>` : html`<span class="muted">${t('rest')}</span>`;
  }
  return html`<a href=${link('/', { ...query, [groupBy]: group.name })}><${Name}>${group.name}<//></a>`;
}

/** The list of requests for the range of the overview, with these filters. */
export function requestsLink(query, filters) {
  const { range = query.since ? null : '1h', since, until } = query;
  return link('/requests', { range, since, until, ...filters });
}
