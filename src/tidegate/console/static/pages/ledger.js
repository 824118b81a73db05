/** The postings of an account, page by page. */

import { get } from '../api.js';
import { Badge } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Table } from '../components/table.js';
import { Name, Time } from '../components/text.js';
import { exactMoney } from '../format.js';
import { useWords } from '../i18n.js';
import { useNarrow } from '../narrow.js';
import { Section } from '../page.js';
import { useResource } from '../resource.js';
import { link } from '../router.js';
import { html, useEffect, useState } from '../view.js';
import { strings } from './accounts.strings.js';

const PAGE = 25;
const NARROW_PAGE = 8;
const TONES = { credit: 'good', refund: 'good', settle: 'plain', hold: 'off', release: 'off' };

/** Newest first; another `turn` loads the first page anew. */
export function Ledger({ account, turn }) {
  const t = useWords(strings);
  const [before, setBefore] = useState([]);
  const from = before.at(-1) ?? null;
  useEffect(() => setBefore([]), [account, turn]);
  const limit = useNarrow() ? NARROW_PAGE : PAGE;
  const page = useResource(`ledger/${account}/${from}/${turn}/${limit}`, (signal) => get('ledger', { account, limit, before: from }, { signal }));
  const reload = html`<button type="button" class="button small" onClick=${() => page.reload()}><${Icon} name="refresh" size=${14} />${t('reload')}</button>`;
  return html`<${Section} title=${t('ledger')} hint=${t('ledgerHint')} actions=${reload} className="spaced">
    <${Loaded} resource=${page}>
      ${(told) =>
        told.data.length
          ? html`<${Table} caption=${t('ledger')} columns=${columnsOf(t)} rows=${told.data} rowKey=${(row) => row.number} />
              <div class="pager">
                <button type="button" class="button" disabled=${!before.length} onClick=${() => setBefore(before.slice(0, -1))}>${t('newer')}</button>
                <button type="button" class="button" disabled=${!told.has_more} onClick=${() => setBefore([...before, told.next])}>${t('older')}</button>
              </div>`
          : html`<${Empty} title=${t('noPostings')} icon="money" />`}
    <//>
  <//>`;
}

function columnsOf(t) {
  return [
    {
      key: 'at',
      title: t('time'),
      lead: true,
      cell: (row) => html`<span class="row"><${Time} at=${row.at} /><${Badge} tone=${TONES[row.kind] ?? 'plain'}>${t(`kind.${row.kind}`)}<//></span>`,
    },
    { key: 'amount', title: t('amountShort'), numeric: true, cell: (row) => exactMoney(row.amount) },
    { key: 'moves', title: t('moves'), cell: (row) => html`<span class="unbroken">${t(`place.${row.source}`)} → ${t(`place.${row.target}`)}</span>` },
    { key: 'key', title: t('key'), cell: (row) => html`<${Name}>${row.key}<//>` },
    { key: 'reference', title: t('reference'), wide: true, cell: (row) => html`<${Reference} row=${row} />` },
  ];
}

/** A request's posting leads to the request. */
function Reference({ row }) {
  const request = [row.note, row.reference].find((text) => text?.startsWith('req_'));
  const name = html`<${Name} code>${row.reference}<//>`;
  return request ? html`<a href=${link(`/requests/${request}`)}>${name}</a>` : name;
}
