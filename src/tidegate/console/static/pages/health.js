/** How channels are: their state as a badge, why they rest, and for how long. */

import { get } from '../api.js';
import { Badge } from '../components/badge.js';
import { whole } from '../format.js';
import { reasonWords } from '../gateway_words.js';
import { useWords } from '../i18n.js';
import { useResource } from '../resource.js';
import { html, useEffect, useState } from '../view.js';
import { strings } from './health.strings.js';

const HEALTH_MS = 3000;
const FIGURES_MS = 30000;
const HOUR_MS = 3600000;
const WORST = ['cooling', 'probing', 'may_probe'];
const TONES = { ready: 'good', cooling: 'bad', probing: 'warn', may_probe: 'warn', paused: 'off', draining: 'info' };

/** The node's health, kept fresh; `channels` in it are by name. */
export function useHealth() {
  return useResource('health', async (signal) => {
    const told = await get('health', {}, { signal });
    return { ...told, channels: new Map(told.channels.map((channel) => [channel.name, channel])) };
  }, { every: HEALTH_MS });
}

/** Figures of the last hour by channel. */
export function useLastHour() {
  return useResource('overview/channels', async (signal) => {
    const since = new Date(Date.now() - HOUR_MS).toISOString();
    const told = await get('overview', { since, group_by: 'channel' }, { signal });
    return new Map(told.groups.filter((group) => group.name !== null).map((group) => [group.name, group]));
  }, { every: FIGURES_MS });
}

/** A state in a word. */
export function State({ state, open }) {
  const t = useWords(strings);
  if (!state) return html`<span class="muted">–</span>`;
  const word = t(state);
  const text = state === 'draining' && open ? t('drainingOpen', { count: open }) : word;
  return html`<${Badge} tone=${TONES[state]}>${text}<//>`;
}

/** Why a channel rests, and how long still: of that of its models which is worst. A paused one waits for its operator. */
export function Why({ channel }) {
  const t = useWords(strings);
  const resting = restingModels(channel);
  if (!resting.length || channel.state === 'paused') return null;
  const [first] = resting;
  const all = resting.map((model) => `${model.upstream_model}: ${reasonWords(model.why)}`).join('\n');
  return html`<span class="why" title=${all}>
    ${first.until && html`<${Countdown} until=${first.until} />${' '}`}
    <span class="reason">${reasonWords(first.why)}</span>
    ${resting.length > 1 && html` <span class="muted">${t('moreModels', { count: resting.length - 1 })}</span>`}
  </span>`;
}

/** The models of a channel that rest, the worst first. */
export function restingModels(channel) {
  const resting = (channel?.models ?? []).filter((model) => model.state !== 'ready' && model.why);
  return resting.sort((one, other) => WORST.indexOf(one.state) - WORST.indexOf(other.state));
}

/** Seconds that are left, counted down. */
export function Countdown({ until }) {
  const t = useWords(strings);
  const left = () => Math.max(0, Math.ceil((new Date(until).getTime() - Date.now()) / 1000));
  const [seconds, setSeconds] = useState(left());
  useEffect(() => {
    setSeconds(left());
    const timer = setInterval(() => setSeconds(left()), 500);
    return () => clearInterval(timer);
  }, [until]);
  return html`<span class="countdown">${t('left', { count: seconds })}</span>`;
}

/** The share of attempts that went well, or null where there was none. */
export function success(figures) {
  return figures?.attempts ? (figures.attempts - figures.attempts_failed) / figures.attempts : null;
}

/** Open requests, where there are some. */
export function Open({ count }) {
  return count ? html`${whole(count)}` : html`<span class="muted">0</span>`;
}
