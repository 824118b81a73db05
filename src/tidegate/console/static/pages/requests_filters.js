/** The filters of the list of requests. */

import { get } from '../api.js';
import { Choice, Input } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { OUTCOMES, useOutcomes } from '../components/outcome.js';
import { useWords } from '../i18n.js';
import { useResource } from '../resource.js';
import { html, useEffect, useId, useRef, useState } from '../view.js';
import { strings } from './requests.strings.js';

/** The filters by their names in the API and in the address. */
export const FILTERS = ['id', 'outcome', 'protocol', 'model', 'channel', 'key', 'account', 'status', 'stream'];
const MORE = ['channel', 'key', 'account', 'status', 'stream'];
const PROTOCOLS = ['chat', 'responses', 'messages'];
/** After the last letter, so that not every one asks the gateway. */
const SETTLE_MS = 350;

export function Filters({ query, filters, change, error }) {
  const t = useWords(strings);
  const outcomes = useOutcomes();
  const [open, setOpen] = useState(() => MORE.some((one) => query[one]));
  const given = Object.keys(filters).length;
  const said = (name) => (t.has(`wrong_${name}`) ? t(`wrong_${name}`) : error.detail);
  const text = (name, rest = {}) => html`<${Typed} key=${name} name=${name} label=${t(name === 'id' ? 'search' : name)}
    value=${query[name] ?? ''} onChange=${(value) => change({ [name]: value || null })}
    error=${error?.parameter === name ? said(name) : null} ...${rest} />`;
  const choice = (name, options) => html`<${Choice} key=${name} label=${t(name)} value=${query[name] ?? ''}
    options=${[['', t('any')], ...options]} onChange=${(value) => change({ [name]: value || null })} />`;
  return html`<search class="filters" aria-label=${t('filters')}>
    ${text('id', { 'data-search': true, code: true, type: 'search', placeholder: 'req_…', className: 'filter-id' })}
    ${choice('outcome', OUTCOMES.map(([one]) => [one, outcomes.name(one)]))}
    ${choice('protocol', PROTOCOLS.map((one) => [one, one]))}
    ${text('model', { kind: 'models' })}
    ${
      open &&
      html`${text('channel', { kind: 'channels' })}${text('key', { kind: 'keys' })}${text('account', { kind: 'accounts' })}
        ${text('status', { inputmode: 'numeric', pattern: '[1-5][0-9][0-9]', placeholder: t('statusHint'), className: 'filter-status' })}
        ${choice('stream', [['true', t('streamed')], ['false', t('whole')]])}`
    }
    <div class="filter-buttons">
      <button type="button" class="button quiet" aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}>
        <${Icon} name="filter" />${t(open ? 'fewer' : 'more')}
      </button>
      ${given > 0 && html`<button type="button" class="button quiet" onClick=${() => change(Object.fromEntries(FILTERS.map((one) => [one, null])))}>
        <${Icon} name="close" />${t('clear')}
      </button>`}
    </div>
  </search>`;
}

/** A field that takes effect a moment after the last letter. `kind` offers the names of the catalog. */
function Typed({ value, onChange, kind, ...rest }) {
  const [text, setText] = useState(value);
  const timer = useRef(null);
  const list = useId();
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const settle = (now) => {
    clearTimeout(timer.current);
    if (now.trim() !== value) onChange(now.trim());
  };
  const type = (now) => {
    setText(now);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => settle(now), SETTLE_MS);
  };
  return html`<${Input} value=${text} onInput=${type} list=${kind ? list : undefined} ...${rest}
      onChange=${(event) => settle(event.currentTarget.value)} />
    ${kind && html`<${Offers} id=${list} kind=${kind} />`}`;
}

function Offers({ id, kind }) {
  const names = useResource(kind, async (signal) => {
    const { data } = await get(kind, { limit: 500 }, { signal });
    return data.map((one) => one.name);
  });
  return html`<datalist id=${id}>${(names.value ?? []).map((name) => html`<option key=${name} value=${name}></option>`)}</datalist>`;
}
