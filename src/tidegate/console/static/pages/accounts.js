/** Who pays: all accounts with what they have. */

import { Badge } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Table } from '../components/table.js';
import { Name } from '../components/text.js';
import { exactMoney, money } from '../format.js';
import { useWords } from '../i18n.js';
import { PageHead } from '../page.js';
import { link } from '../router.js';
import { html } from '../view.js';
import { strings } from './accounts.strings.js';
import { ManagedBy } from './editing/shown.js';
import { Limits } from './limits.js';
import { entryLink, ListBar, ListMore, useEntries, useFilter } from './manage.js';

const FRESH_MS = 10000;

export default function Accounts() {
  const t = useWords(strings);
  const accounts = useEntries('accounts', FRESH_MS);
  const add = html`<a class="button primary" href=${link('/accounts/new')}><${Icon} name="plus" />${t('add')}</a>`;
  return html`<${PageHead} title=${t('title')} lead=${t('lead')} actions=${add} />
    <${Loaded} resource=${accounts}>
      ${(entries) =>
        entries.length
          ? html`<${List} entries=${entries} />`
          : html`<${Empty} title=${t('none')} icon="accounts"><p>${t('noneText')}</p>${add}<//>`}
    <//>`;
}

function List({ entries }) {
  const t = useWords(strings);
  const filter = useFilter(entries, (account) => [account.name]);
  const columns = [
    {
      key: 'name',
      title: t('name'),
      lead: true,
      cell: (account) => html`<a href=${entryLink('accounts', account.name)}><${Name}>${account.name}<//></a>
        ${account.managed_by === 'file' && html` <${ManagedBy} entry=${account} />`}`,
    },
    { key: 'pays', title: t('pays'), cell: (account) => html`<${Pays} account=${account} />` },
    { key: 'balance', title: t('balance'), numeric: true, cell: (account) => html`<${Balance} account=${account} />` },
    { key: 'held', title: t('held'), hint: t('heldHint'), numeric: true, cell: (account) => html`<${Amount} amount=${account.held} />` },
    { key: 'limits', title: t('limits'), cell: (account) => html`<${Limits} of=${account} />` },
    { key: 'day', title: t('day'), numeric: true, cell: (account) => html`<${Amount} amount=${account.budget_per_day} />` },
    { key: 'month', title: t('month'), numeric: true, cell: (account) => html`<${Amount} amount=${account.budget_per_month} />` },
  ];
  return html`<${ListBar} filter=${filter} all=${entries.length} label=${t('find')} />
    ${filter.rows.length > 0 && html`<${Table} caption=${t('title')} columns=${columns} rows=${filter.rows} rowKey=${(account) => account.name}
      href=${(account) => entryLink('accounts', account.name)} />`}
    <${ListMore} filter=${filter} />`;
}

/** Whether it pays before or afterwards. */
export function Pays({ account }) {
  const t = useWords(strings);
  if (account.prepaid === undefined) return html`<span class="muted">–</span>`;
  return html`<${Badge} tone=${account.prepaid ? 'info' : 'plain'}>${t(account.prepaid ? 'prepaid' : 'postpaid')}<//>`;
}

/** The balance. Who pays afterwards is always below zero; a prepaid account that has nothing left stands out. */
export function Balance({ account }) {
  const empty = account.prepaid && Number(account.balance) <= 0;
  return html`<span class=${empty ? 'poor' : ''} title=${exactMoney(account.balance)}>${money(account.balance)}</span>`;
}

function Amount({ amount }) {
  if (amount === null || amount === undefined) return html`<span class="muted">–</span>`;
  return html`<span class=${Number(amount) === 0 ? 'muted' : ''} title=${exactMoney(amount)}>${money(amount)}</span>`;
}
