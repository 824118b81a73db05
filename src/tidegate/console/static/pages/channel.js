/** One channel: how it is, its settings, and a test of what it sends. */

import { Tag } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { Table } from '../components/table.js';
import { Name, Time } from '../components/text.js';
import { money, short, whole } from '../format.js';
import { reasonWords } from '../gateway_words.js';
import { useWords } from '../i18n.js';
import { Section } from '../page.js';
import { link, useQuery } from '../router.js';
import { html } from '../view.js';
import { FirstToken, Success } from './channels.js';
import { DutyButtons } from './channel_duty.js';
import { ChannelTest } from './channel_test.js';
import { strings } from './channels.strings.js';
import { Doubts, FileNote, ManagedBy, SettingList } from './editing/shown.js';
import { Countdown, State, useHealth, useLastHour } from './health.js';
import { AddingEntry, EditingEntry, EntryActions, EntryHead, EntryPage, useEntry } from './manage.js';

const FRESH_MS = 10000;

/** The page of a channel. With `?test=1` the test begins at once. */
export function Showing({ params }) {
  const t = useWords(strings);
  const channel = useEntry('channels', params.name, FRESH_MS);
  const health = useHealth();
  const hour = useLastHour();
  const [query, put] = useQuery();
  return html`<${EntryPage} kind="channels" name=${params.name} resource=${channel}>
    ${(stored) => {
      const { entry } = stored;
      const now = health.value?.channels.get(entry.name);
      const changed = () => {
        channel.reload();
        health.reload();
      };
      const marks = html`<${State} state=${now?.state ?? (entry.state === 'active' ? null : entry.state)} open=${now?.open_requests} />
        ${entry.protocol && html`<${Tag}>${t(`protocol.${entry.protocol}`)}<//>`}<${ManagedBy} entry=${entry} />`;
      const actions = html`<${EntryActions} kind="channels" stored=${stored}>
        <button type="button" class="button primary" disabled=${Boolean(entry.problem)} onClick=${() => put({ test: '1' })}>
          <${Icon} name="play" />${t('test')}
        </button>
        <${DutyButtons} entry=${entry} onChanged=${changed} />
      <//>`;
      return html`<${EntryHead} kind="channels" name=${entry.name} marks=${marks} actions=${actions} />
        <${FileNote} entry=${entry} />
        <${Doubts} entry=${entry} />
        ${query.test && !entry.problem && html`<${ChannelTest} entry=${entry} onClose=${() => put({ test: null })} />`}
        <div class="two-cards">
          <${Now} entry=${entry} health=${health} now=${now} />
          <${LastHour} entry=${entry} figures=${hour.value?.get(entry.name)} />
        </div>
        <${Section} title=${t('settings')} className="spaced"><${SettingList} kind="channels" entry=${entry} /><//>`;
    }}
  <//>`;
}

function Now({ entry, health, now }) {
  const t = useWords(strings);
  const columns = [
    { key: 'model', title: t('upstreamModel'), lead: true, cell: (model) => html`<${Name} code>${model.upstream_model}<//>` },
    { key: 'state', title: t('state'), cell: (model) => html`<${State} state=${model.state} />` },
    {
      key: 'why',
      title: t('why'),
      wide: true,
      cell: (model) => html`${model.until && html`<${Countdown} until=${model.until} /> · `}
        ${model.state === 'ready' ? html`<span class="muted">–</span>` : html`<span class="reason">${reasonWords(model.why)}</span>`}`,
    },
  ];
  return html`<${Section} title=${t('now')}>
    <div class="stack"><dl class="facts">
      <dt>${t('state')}</dt><dd><${State} state=${now?.state} /></dd>
      ${entry.state !== 'active' && entry.state_changed_at && html`<dt>${t('since')}</dt><dd>${t.parts('changedBy', {
        when: html`<${Time} at=${entry.state_changed_at} />`,
        who: html`<${Name}>${entry.state_changed_by}<//>`,
      })}</dd>`}
      <dt>${t('openRequests')}</dt><dd>${whole(now?.open_requests)}</dd>
    </dl>
    ${!now && health.value && html`<p class="muted">${t('noHealth')}</p>`}
    ${now?.models.length > 0 && html`<${Table} caption=${t('now')} columns=${columns} rows=${now.models} rowKey=${(model) => model.upstream_model} />`}
    </div>
  <//>`;
}

function LastHour({ entry, figures }) {
  const t = useWords(strings);
  const more = html`<a class="button small" href=${link('/requests', { channel: entry.name, range: '1h' })}>${t('requestsOf')}</a>`;
  return html`<${Section} title=${t('lastHourTitle')} actions=${more}>
    <dl class="facts">
      <dt>${t('success')}</dt><dd><${Success} figures=${figures} /></dd>
      <dt>${t('attemptsFailed')}</dt><dd>${whole(figures?.attempts ?? 0)} / ${whole(figures?.attempts_failed ?? 0)}</dd>
      <dt>${t('requests')}</dt><dd>${whole(figures?.requests ?? 0)}</dd>
      <dt>${t('firstToken')}</dt><dd><${FirstToken} figures=${figures} /></dd>
      <dt>${t('tokens')}</dt><dd>${short(figures?.output_tokens ?? 0)}</dd>
      <dt>${t('cost')}</dt><dd>${money(figures?.cost ?? '0')}</dd>
    </dl>
  <//>`;
}

/** Adding a channel. */
export function Adding() {
  return html`<${AddingEntry} kind="channels" />`;
}

/** Changing a channel. */
export function Editing({ params }) {
  return html`<${EditingEntry} kind="channels" name=${params.name} />`;
}
