/** The overview's tiles: one number each, with what explains it. */

import { Swatch } from '../components/chart.js';
import { duration, exactMoney, money, share, short, whole } from '../format.js';
import { useWords } from '../i18n.js';
import { html } from '../view.js';
import { requestsLink } from './overview_groups.js';
import { strings } from './overview.strings.js';
import { TOKENS } from './tokens.js';

export function Tiles({ figures, query, filters }) {
  const t = useWords(strings);
  const { totals, since, until, as_of: now, open_requests: open } = figures;
  const minutes = Math.max(1, (Math.min(Date.parse(until), Date.parse(now)) - Date.parse(since)) / 60000);
  const failed = totals.failed + totals.interrupted;
  const first = totals.first_token_ms;
  const leading = (outcome) => html`<a href=${requestsLink(query, { ...filters, outcome })} title=${whole(totals[outcome])}>${short(totals[outcome])}</a>`;
  return html`<dl class="tiles">
    <${Tile} title=${t('requests')} value=${short(totals.requests)} exact=${whole(totals.requests)}
      text=${t('perMinute', { rate: short(totals.requests / minutes) })} />
    <${Tokens} totals=${totals} />
    <${Tile} title=${t('cost')} value=${money(totals.cost)} exact=${exactMoney(totals.cost)}
      text=${totals.requests ? t('perRequest', { amount: money(Number(totals.cost) / totals.requests) }) : ''} />
    <${Tile} title=${t('errors')} hint=${t('errorsHint')} value=${share(failed, totals.requests)} tone=${failed ? 'bad' : ''}
      text=${t.parts('errorsText', { failed: leading('failed'), interrupted: leading('interrupted') })} />
    <${Tile} title=${t('firstToken')} hint=${t('firstTokenHint')} value=${duration(first?.p50)}
      text=${t('p95', { value: duration(first?.p95) })} />
    <${Tile} title=${t('open')} hint=${t('openHint')} value=${whole(open)} text=${t('openText')} live=${open > 0} />
  </dl>`;
}

function Tile({ title, hint, value, exact, text, tone = '', live = false }) {
  return html`<div class="tile" title=${hint}>
    <dt>${title}</dt>
    <dd class=${`tile-value ${tone}`} title=${exact}>${live && html`<span class="pulse" aria-hidden="true"></span>`}${value}</dd>
    <dd class="tile-text">${text}</dd>
  </div>`;
}

function Tokens({ totals }) {
  const t = useWords(strings);
  const all = TOKENS.reduce((sum, [, member]) => sum + totals[member], 0);
  const prompt = all - totals.output_tokens;
  return html`<div class="tile broad">
    <dt>${t('tokens')}</dt>
    <dd class="tile-value" title=${whole(all)}>${short(all)}
      ${prompt > 0 && html`<span class="tile-aside">${t('cacheShare', { share: share(totals.cache_read_tokens, prompt) })}</span>`}
    </dd>
    <dd class="tile-text">
      <span class="parts" aria-hidden="true">
        ${TOKENS.map(([name, member, colour]) => totals[member] > 0 && html`<span key=${name} style=${{ flexGrow: totals[member], background: `var(${colour})` }}></span>`)}
      </span>
      <ul class="parts-legend">
        ${TOKENS.map(
          ([name, member, colour]) => html`<li key=${name} title=${whole(totals[member])}>
            <${Swatch} colour=${colour} />${t(name)} <b>${short(totals[member])}</b>
          </li>`,
        )}
      </ul>
    </dd>
  </div>`;
}
