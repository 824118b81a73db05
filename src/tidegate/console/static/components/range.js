/** The choice of a time range: up to now, or between two moments. Kept in the address. */

import { now as gatewayNow } from '../clock.js';
import { fullMoment } from '../format.js';
import { useWords } from '../i18n.js';
import { html, useState } from '../view.js';
import { FormDialog } from './dialog.js';
import { Input } from './field.js';
import { Icon } from './icon.js';
import { strings } from './range.strings.js';

/** Seconds of each range up to now. */
export const RANGES = { '15m': 900, '1h': 3600, '6h': 21600, '24h': 86400, '7d': 604800, '30d': 2592000 };

/** What a query says: `{range}` or, between two moments, `{since, until}` as ISO texts. */
export function rangeOf(query, fallback) {
  const since = moment(query.since);
  const until = moment(query.until);
  if (since && until && since < until) return { since: since.toISOString(), until: until.toISOString() };
  if (Object.hasOwn(RANGES, query.range ?? '')) return { range: query.range };
  return fallback ? { range: fallback } : {};
}

/** The `since` and `until` to ask for at a moment (milliseconds). */
export function bounds(range, now) {
  if (range.since) return { since: range.since, until: range.until };
  return range.range ? { since: new Date(now - RANGES[range.range] * 1000).toISOString() } : {};
}

/** Buttons for the ranges. `onChange` gets what to put into the query; `any` adds a button for all of time. */
export function RangePicker({ range, onChange, any = false }) {
  const t = useWords(strings);
  const [open, setOpen] = useState(false);
  const custom = Boolean(range.since);
  const choices = [...(any ? [''] : []), ...Object.keys(RANGES)];
  return html`<div class="range" role="group" aria-label=${t('label')}>
    <div class="segments">
      ${choices.map((one) => {
        const chosen = !custom && (range.range ?? '') === one;
        return html`<button key=${one} type="button" class=${chosen ? 'segment chosen' : 'segment'}
            aria-pressed=${chosen ? 'true' : 'false'} title=${one ? t(`long_${one}`) : undefined}
            onClick=${() => onChange({ range: one || null, since: null, until: null })}>
          ${one ? t(`short_${one}`) : t('any')}
        </button>`;
      })}
      <button type="button" class=${custom ? 'segment chosen' : 'segment'} aria-pressed=${custom ? 'true' : 'false'}
          aria-haspopup="dialog" onClick=${() => setOpen(true)}
          title=${custom ? `${fullMoment(range.since)} – ${fullMoment(range.until)}` : undefined}>
        <${Icon} name="clock" size=${14} />${custom ? t('from_to', brief(range)) : html`<span class="range-word">${t('custom')}</span>`}
      </button>
    </div>
    ${open && html`<${Custom} range=${range} onChange=${onChange} onClose=${() => setOpen(false)} />`}
  </div>`;
}

function brief({ since, until }) {
  const options = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };
  const format = new Intl.DateTimeFormat(document.documentElement.lang, options);
  return { since: format.format(new Date(since)), until: format.format(new Date(until)) };
}

function Custom({ range, onChange, onClose }) {
  const t = useWords(strings);
  const now = gatewayNow();
  const [since, setSince] = useState(local(range.since ?? now - (RANGES[range.range] ?? 3600) * 1000));
  const [until, setUntil] = useState(local(range.until ?? now));
  const [tried, setTried] = useState(false);
  const from = moment(since);
  const to = moment(until);
  const wrong = tried && !(from && to && from < to) ? t('order') : null;
  const save = async () => {
    setTried(true);
    if (!(from && to && from < to)) return;
    onChange({ range: null, since: from.toISOString(), until: to.toISOString() });
    onClose();
  };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return html`<${FormDialog} title=${t('title')} saveLabel=${t('apply')} save=${save} onClose=${onClose}>
    <div class="form-pair">
      <${Input} label=${t('since')} type="datetime-local" step="1" value=${since} onInput=${setSince} />
      <${Input} label=${t('until')} type="datetime-local" step="1" value=${until} onInput=${setUntil} error=${wrong} />
    </div>
    <p class="field-hint">${t('zone', { zone })}</p>
  <//>`;
}

function moment(text) {
  const then = text ? new Date(text) : null;
  return then && !Number.isNaN(then.getTime()) ? then : null;
}

function local(at) {
  const then = new Date(at);
  then.setMinutes(then.getMinutes() - then.getTimezoneOffset());
  return then.toISOString().slice(0, 19);
}
