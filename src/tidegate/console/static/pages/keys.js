/** All keys of callers. */

import { Badge } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Table } from '../components/table.js';
import { Name, Time } from '../components/text.js';
import { sentenceWords } from '../gateway_words.js';
import { useWords } from '../i18n.js';
import { PageHead } from '../page.js';
import { link } from '../router.js';
import { html } from '../view.js';
import { ManagedBy } from './editing/shown.js';
import { strings } from './keys.strings.js';
import { Limits, Spent } from './limits.js';
import { entryLink, ListBar, ListMore, useEntries, useFilter } from './manage.js';

const FRESH_MS = 15000;

/** All keys. */
export default function Keys() {
  const t = useWords(strings);
  const keys = useEntries('keys', FRESH_MS);
  const add = html`<a class="button primary" href=${link('/keys/new')}><${Icon} name="plus" />${t('create')}</a>`;
  return html`<${PageHead} title=${t('title')} lead=${t('lead')} actions=${add} />
    <${Loaded} resource=${keys}>
      ${(entries) =>
        entries.length
          ? html`<${List} entries=${entries} />`
          : html`<${Empty} title=${t('none')} icon="keys"><p>${t('noneText')}</p>${add}<//>`}
    <//>`;
}

function List({ entries }) {
  const t = useWords(strings);
  const filter = useFilter(entries, (key) => [key.name, key.account, key.hint ?? '', ...(key.models ?? [])]);
  return html`<${ListBar} filter=${filter} all=${entries.length} label=${t('find')} />
    ${filter.rows.length > 0 && html`<${KeyTable} rows=${filter.rows} />`}
    <${ListMore} filter=${filter} />`;
}

/** Keys in a table; `account` says whether theirs is shown. */
export function KeyTable({ rows, account = true }) {
  const t = useWords(strings);
  const columns = [
    {
      key: 'name',
      title: t('name'),
      lead: true,
      cell: (key) => html`<a href=${entryLink('keys', key.name)}><${Name}>${key.name}<//></a>
        <div class="row under">
          ${key.hint && html`<${Name} code className="muted">${key.hint}<//>`}
          ${key.managed_by === 'file' && html`<${ManagedBy} entry=${key} />`}
          ${(key.problem || key.warnings.length > 0) && html`<${Badge} tone="warn" title=${sentenceWords(key.problem ?? key.warnings[0])}>${t('doubtful')}<//>`}
        </div>`,
    },
    account && {
      key: 'account',
      title: t('account'),
      cell: (key) => html`<a href=${entryLink('accounts', key.account)}><${Name}>${key.account}<//></a>`,
    },
    { key: 'models', title: t('models'), cell: (key) => html`<${Models} models=${key.models} />` },
    { key: 'limits', title: t('limits'), cell: (key) => html`<${Limits} of=${key} />` },
    { key: 'today', title: t('today'), cell: (key) => html`<${Spent} amount=${key.spent_today} budget=${key.budget_per_day} label=${t('today')} />` },
    { key: 'month', title: t('month'), cell: (key) => html`<${Spent} amount=${key.spent_month} budget=${key.budget_per_month} label=${t('month')} />` },
    { key: 'used', title: t('used'), cell: (key) => html`<${LastUse} at=${key.last_used_at} />` },
  ];
  return html`<${Table} caption=${t('title')} columns=${columns.filter(Boolean)} rows=${rows} rowKey=${(key) => key.name}
    href=${(key) => entryLink('keys', key.name)} />`;
}

function Models({ models }) {
  const t = useWords(strings);
  if (models === null || models === undefined) return t('allModels');
  if (!models.length) return html`<${Badge} tone="warn">${t('noModels')}<//>`;
  const shown = models.slice(0, 2);
  const more = models.length - shown.length;
  return html`<span class="tags" title=${models.join('\n')}>
    ${shown.map((name) => html`<${Name} key=${name} code>${name}<//>`)}
    ${more > 0 && html`<span class="muted">${t('moreModels', { count: more })}</span>`}
  </span>`;
}

/** When a key was last used, in words. */
export function LastUse({ at }) {
  const t = useWords(strings);
  return at ? html`<span class="unbroken"><${Time} at=${at} form="ago" /></span>` : html`<span class="muted">${t('never')}</span>`;
}
