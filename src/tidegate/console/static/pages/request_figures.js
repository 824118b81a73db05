/** What a request used and cost, and what could not be carried over. */

import { Swatch } from '../components/chart.js';
import { Table } from '../components/table.js';
import { exactMoney, plain, share, whole } from '../format.js';
import { useWords } from '../i18n.js';
import { Section } from '../page.js';
import { html } from '../view.js';
import { TOKENS } from './tokens.js';
import { strings } from './request.strings.js';

export function Usage({ row }) {
  const t = useWords(strings);
  const all = TOKENS.reduce((sum, [, member]) => sum + row[member], 0);
  const columns = [
    { key: 'class', title: t('class'), lead: true, cell: ({ name, colour }) => html`<span class="row"><${Swatch} colour=${colour} />${t(name)}</span>` },
    { key: 'tokens', title: t('tokens'), numeric: true, cell: ({ count }) => whole(count) },
    { key: 'share', title: t('share'), numeric: true, cell: ({ count }) => share(count, all) },
  ];
  const rows = TOKENS.map(([name, member, colour]) => ({ name, colour, count: row[member] }));
  return html`<${Section} title=${t('usage')} hint=${t(`source_${row.usage_source}`)}>
    <div class="parts thick" aria-hidden="true">
      ${rows.map(({ name, colour, count }) => count > 0 && html`<span key=${name} style=${{ flexGrow: count, background: `var(${colour})` }}></span>`)}
    </div>
    <${Table} caption=${t('usage')} columns=${columns} rows=${rows} rowKey=${({ name }) => name} cards=${false}
      foot=${html`<tr role="row"><th role="rowheader" scope="row">${t('sum')}</th><td role="cell" class="numeric">${whole(all)}</td><td role="cell"></td></tr>`} />
  <//>`;
}

export function Bill({ row }) {
  const t = useWords(strings);
  const items = row.items ?? [];
  const columns = [
    { key: 'name', title: t('item'), lead: true, cell: ({ name }) => (t.has(`item_${name}`) ? t(`item_${name}`) : name) },
    { key: 'quantity', title: t('quantity'), numeric: true, cell: ({ quantity }) => whole(quantity) },
    { key: 'price', title: t('unitPrice'), numeric: true, cell: ({ price }) => exactMoney(price) },
    { key: 'amount', title: t('amount'), numeric: true, cell: ({ amount }) => exactMoney(amount) },
  ];
  return html`<${Section} title=${t('price')} hint=${t('priceHint')}>
    ${
      items.length
        ? html`<${Table} caption=${t('price')} columns=${columns} rows=${items} rowKey=${({ name }) => name} cards=${false}
            foot=${html`<tr role="row"><th role="rowheader" scope="row">${t('total')}</th><td role="cell"></td><td role="cell"></td><td role="cell" class="numeric">${exactMoney(row.cost)}</td></tr>`} />`
        : html`<p class="muted">${Number(row.cost) > 0 ? exactMoney(row.cost) : t('free')}</p>`
    }
  <//>`;
}

export function Warnings({ warnings }) {
  const t = useWords(strings);
  if (!warnings.length) return null;
  return html`<${Section} title=${t('warnings')} hint=${t('warningsHint')}>
    <ul class="warnings">
      ${warnings.map((warning, index) => html`<li key=${index}><code translate=${false}>${plain(warning)}</code><span>${explained(t, warning)}</span></li>`)}
    </ul>
  <//>`;
}

function explained(t, warning) {
  if (t.has(`warn_${warning}`)) return t(`warn_${warning}`);
  const [kind, what] = split(warning);
  if (!t.has(`warn_${kind}`) || !what) return t('warn_other');
  return html`<code translate=${false}>${plain(what)}</code> ${t(`warn_${kind}`)}`;
}

function split(warning) {
  const colon = warning.indexOf(':');
  return colon < 0 ? [warning, ''] : [warning.slice(0, colon), warning.slice(colon + 1)];
}
