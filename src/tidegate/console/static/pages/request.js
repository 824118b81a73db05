/** The page of one request: what it was, what happened on the way, what it used and cost. */

import { get, part } from '../api.js';
import { problemText } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Outcome } from '../components/outcome.js';
import { Empty, Loaded } from '../components/states.js';
import { Copy, Name, Time } from '../components/text.js';
import { toast } from '../components/toast.js';
import { failureWords } from '../failure_words.js';
import { duration, exactMoney, money, NOTHING, plain } from '../format.js';
import { language, useWords } from '../i18n.js';
import { PageHead, Section, useTitle } from '../page.js';
import { useResource } from '../resource.js';
import { go, link } from '../router.js';
import { html, useState } from '../view.js';
import { Attempts, Skipped } from './request_attempts.js';
import { Content } from './request_content.js';
import { Bill, Usage, Warnings } from './request_figures.js';
import { newerThan, olderThan } from './request_neighbours.js';
import { RefundDialog } from './request_refund.js';
import { strings } from './request.strings.js';
import { requestLink } from './requests_table.js';

export default function Request({ params: { id } }) {
  const t = useWords(strings);
  useTitle(t('title', { id }));
  const row = useResource(id, (signal) => get(`requests/${part(id)}`, {}, { signal }), { keep: false, name: 'request' });
  const gone = row.error?.kind === 'missing';
  return html`
    <${PageHead} title=${html`<${Title} id=${id} row=${row.value} />`} actions=${html`<${Actions} id=${id} row=${row.value} />`}
      back=${html`<a class="back" href=${link('/requests')}><${Icon} name="left" size=${14} />${t('back')}</a>`} />
    ${
      gone
        ? html`<${Empty} title=${t('missing')} icon="search"><p>${t('missingText')}</p>
            <button type="button" class="button" onClick=${row.reload}><${Icon} name="refresh" />${t('again')}</button><//>`
        : html`<${Loaded} resource=${row} lines=${12}>${(value) => html`<${Parts} key=${id} row=${value} />`}<//>`
    }`;
}

function Title({ id, row }) {
  const t = useWords(strings);
  return html`<span class="request-title">${t('heading')} <${Name} code>${id}<//> ${row && html`<${Outcome} value=${row.outcome} />`}</span>`;
}

function Actions({ id, row }) {
  const t = useWords(strings);
  const [refunding, setRefunding] = useState(false);
  const walk = async (find, none) => {
    try {
      const found = await find(row);
      if (found) go(requestLink(found));
      else toast(t(none), 'info');
    } catch (error) {
      toast(problemText(error) || t(none), 'bad');
    }
  };
  return html`
    <${Copy} text=${location.origin + requestLink(id)} label=${t('copyLink')} words className="" />
    <${Copy} text=${id} label=${t('copyId')} words className="" />
    ${row && Number(row.cost) > 0 && row.account && html`<button type="button" class="button" onClick=${() => setRefunding(true)}>
      <${Icon} name="money" />${t('refund')}
    </button>`}
    <span class="pair">
      <button type="button" class="button" disabled=${!row} onClick=${() => walk(newerThan, 'noNewer')}><${Icon} name="left" />${t('newer')}</button>
      <button type="button" class="button" disabled=${!row} onClick=${() => walk(olderThan, 'noOlder')}>${t('older')}<${Icon} name="right" /></button>
    </span>
    ${refunding && html`<${RefundDialog} row=${row} onClose=${() => setRefunding(false)} />`}`;
}

function Parts({ row }) {
  return html`<div class="request">
    <${Summary} row=${row} />
    ${row.error && html`<${Failure} error=${row.error} />`}
    <${Attempts} row=${row} />
    <${Skipped} rows=${row.skipped ?? []} />
    <div class="halves">
      <${Usage} row=${row} />
      <${Bill} row=${row} />
    </div>
    <${Warnings} warnings=${row.warnings} />
    ${row.captured && html`<${Content} id=${row.id} />`}
  </div>`;
}

function Summary({ row }) {
  const t = useWords(strings);
  const way = t(row.stream ? 'streamed' : 'whole');
  const facts = [
    ['came', html`<${Time} at=${row.created_at} form="full" />`],
    ['model', row.model === null ? html`<span class="muted">${t('notRead')}</span>` : html`<${Filter} name="model" value=${row.model} />`],
    ['key', row.key === null ? html`<span class="muted">${t('refused')}</span>` : html`<${Filter} name="key" value=${row.key} />`],
    ['account', html`<${Filter} name="account" value=${row.account} />`],
    ['protocol', html`<${Filter} name="protocol" value=${row.protocol} /> <span class="muted">${way}</span>`],
    ['channel', row.channel === null ? html`<span class="muted">${t('noChannel')}</span>` : html`<${Filter} name="channel" value=${row.channel} />`],
    ['status', row.status],
    ['finish', html`<${Name}>${row.finish_reason}<//>`],
    ['first', duration(row.first_token_ms)],
    ['duration', duration(row.duration_ms)],
    ['cost', html`<span title=${exactMoney(row.cost)}>${money(row.cost)}</span>`],
    ['program', html`<${Name}>${row.user_agent ?? null}<//>`],
    ...(row.trace_id ? [['trace', html`<${Name} code>${row.trace_id}<//>`]] : []),
  ];
  return html`<${Section} title=${t('summary')}>
    <dl class="fact-grid">
      ${facts.map(([name, value]) => html`<div key=${name}><dt>${t(name)}</dt><dd>${value}</dd></div>`)}
    </dl>
  <//>`;
}

function Filter({ name, value }) {
  if (value === null || value === undefined) return html`<span class="nothing">${NOTHING}</span>`;
  return html`<a href=${link('/requests', { [name]: value })}><${Name}>${value}<//></a>`;
}

function Failure({ error }) {
  const t = useWords(strings);
  const said = error.message ?? NOTHING;
  const meant = failureWords(said);
  return html`<${Section} title=${t('error')} className="failure">
    <dl class="facts">
      <dt>${t('errorMessage')}</dt><dd class="said">${plain(said)}${language.get() !== 'en' && meant !== said && html`<p class="muted">${meant}</p>`}</dd>
      <dt>${t('errorType')}</dt><dd><${Name} code>${error.type}<//></dd>
      <dt>${t('errorCode')}</dt><dd><${Name} code>${error.code}<//></dd>
    </dl>
  <//>`;
}
