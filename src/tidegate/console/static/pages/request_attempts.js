/** The attempts of a request on one time scale, and the channels that were left out. */

import { Badge } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { Table } from '../components/table.js';
import { Name } from '../components/text.js';
import { attemptWords } from '../failure_words.js';
import { duration, exactMoney, plain } from '../format.js';
import { reasonWords } from '../gateway_words.js';
import { useWords } from '../i18n.js';
import { Section } from '../page.js';
import { link } from '../router.js';
import { html } from '../view.js';
import { strings as kinds } from './failure.strings.js';
import { strings } from './request.strings.js';
import { phasesOf, scaleOf } from './timeline.js';

const channelLink = (name) => link(`/channels/${encodeURIComponent(name)}`);
const TONES = { served: 'good', failed: 'bad', abandoned: 'off', repaired: 'info' };
const PHASES = ['connect', 'byte', 'event', 'rest'];

export function Attempts({ row }) {
  const t = useWords(strings);
  if (!row.attempts.length) {
    return html`<${Section} title=${t('attempts')}><p class="muted">${t('noAttempts')}</p><//>`;
  }
  const scale = scaleOf(row);
  const fine = row.attempts.some(({ reason }) => reason !== null && reason !== undefined);
  return html`<${Section} title=${t('attempts')} hint=${t('attemptsHint')} className="attempts"
      actions=${html`<ul class="phase-legend">${PHASES.map((phase) => html`<li key=${phase}><span class="phase-mark" data-phase=${phase} aria-hidden="true"></span>${t(`phase_${phase}`)}</li>`)}</ul>`}>
    <div class="scale" aria-hidden="true">
      ${scale.marks.map(({ at, place, edge }) => html`<span key=${at} class=${edge} style=${{ left: `${place}%` }}>${duration(at)}</span>`)}
    </div>
    ${!fine && html`<p class="muted">${t('noTimes')}</p>`}
    <ol>
      ${row.attempts.map((attempt, index) => html`<${Attempt} key=${index} ...${{ attempt, number: index + 1, scale }} />`)}
    </ol>
  <//>`;
}

function Attempt({ attempt, number, scale }) {
  const t = useWords(strings);
  const after = scale.after(attempt);
  const outcome = t.has(attempt.outcome) ? t(attempt.outcome) : attempt.outcome;
  return html`<li class="attempt">
    <div class="attempt-head">
      <h3>${t('attempt', { number })}</h3>
      <a class="attempt-channel" href=${channelLink(attempt.channel)}><${Name}>${attempt.channel}<//></a>
      <${Badge} tone=${TONES[attempt.outcome]} title=${t.has(`${attempt.outcome}_long`) ? t(`${attempt.outcome}_long`) : ''}>${outcome}<//>
      ${attempt.status !== null && html`<span class="muted">${attempt.status}</span>`}
      <span class="muted attempt-after">${t('began', { after: duration(after) })} · ${duration(attempt.duration_ms)}</span>
    </div>
    <${Bar} attempt=${attempt} scale=${scale} />
    ${attempt.error && html`<p class="attempt-error"><${Icon} name="warning" size=${14} /><span>
      <span class="heard">${t('failure')}: </span><bdi>${plain(attemptWords(attempt.error))}</bdi>${attempt.failure_kind && html` <${Kind} value=${attempt.failure_kind} />`}
    </span></p>`}
    <dl class="attempt-facts">
      ${facts(t, attempt).map(([name, value]) => html`<div key=${name}><dt>${t(name)}</dt><dd>${value}</dd></div>`)}
    </dl>
  </li>`;
}

function Kind({ value }) {
  const t = useWords(kinds);
  return html`<span class="tag" title=${value}>${t.has(value) ? t(value) : value}</span>`;
}

function facts(t, attempt) {
  const fine = attempt.reason !== null && attempt.reason !== undefined;
  return [
    ...(fine ? [['why', html`<bdi>${reasonWords(attempt.reason)}</bdi>`]] : []),
    ['upstreamModel', html`<${Name}>${attempt.upstream_model}<//>`],
    ...(fine
      ? [
          ['connected', pooled(attempt) ? html`<span class="muted">${t('pooled')}</span>` : duration(attempt.connected_ms)],
          ['firstByte', duration(attempt.first_byte_ms)],
          ['firstEvent', duration(attempt.first_event_ms)],
        ]
      : []),
    ['end', duration(attempt.duration_ms)],
    ...(attempt.upstream_cost ? [['upstreamCost', exactMoney(attempt.upstream_cost)]] : []),
  ];
}

/** An answer without a connection of its own came over one that was there already. */
function pooled({ connected_ms: connected, first_byte_ms: byte }) {
  return connected === null && byte !== null;
}

function Bar({ attempt, scale }) {
  const t = useWords(strings);
  return html`<div class="lane" aria-hidden="true">
    ${phasesOf(attempt).map(({ phase, from, to }) => {
      const left = scale.percent(scale.after(attempt) + from);
      const width = Math.max(0.25, scale.percent(to - from));
      return html`<span key=${phase} class="phase" data-phase=${phase} data-outcome=${attempt.outcome} style=${{ left: `${Math.min(left, 99.75)}%`, width: `${width}%` }}
        title=${`${t(`phase_${phase}`)}: ${duration(to - from)}`}></span>`;
    })}
  </div>`;
}

export function Skipped({ rows }) {
  const t = useWords(strings);
  if (!rows.length) return null;
  const columns = [
    { key: 'channel', title: t('channel'), lead: true, cell: (row) => html`<a href=${channelLink(row.channel)}><${Name}>${row.channel}<//></a>` },
    { key: 'upstream_model', title: t('upstreamModel'), cell: (row) => html`<${Name}>${row.upstream_model}<//>` },
    { key: 'why', title: t('whyNot'), wide: true, cell: (row) => html`<bdi>${reasonWords(row.why)}</bdi>` },
  ];
  return html`<${Section} title=${t('skipped')} hint=${t('skippedHint')}>
    <${Table} caption=${t('skipped')} columns=${columns} rows=${rows} rowKey=${(row) => `${row.channel} ${row.upstream_model}`} />
  <//>`;
}
