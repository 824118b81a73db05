/** One setting in a form, drawn after its kind. */

import { Area, Check, Choice, Field, Input, Problem, Secret, Segmented } from '../../components/field.js';
import { Icon } from '../../components/icon.js';
import { plain } from '../../format.js';
import { faultWords, sentenceWords } from '../../gateway_words.js';
import { useWords } from '../../i18n.js';
import { html, useContext, useId } from '../../view.js';
import { newTier, rates, setting } from './kinds.js';
import { strings } from './settings.strings.js';

const SHOWN_SUGGESTIONS = 40;

/**
 * A field with its label, hint and error. `value` is its draft, `onChange` gets the next one.
 *
 * `entry` is what is stored now, null for something new; `suggestions` are names that could stand here.
 */
export function Setting({ field, fields, value, onChange, entry, suggestions = [] }) {
  const t = useWords(strings);
  const problem = useContext(Problem);
  const words = field.words ?? field.name;
  const common = {
    label: t(words),
    name: field.name,
    hint: t.has(`${words}_hint`) ? t(`${words}_hint`) : undefined,
    error: faultText(problem, field, fields),
    value,
  };
  return html`<${drawn[field.kind]} ...${{ t, field, common, value, onChange, entry, suggestions }} />`;
}

/** Whether a setting has a label of its own in the words. */
export function labelOf(t, field) {
  return t(field.words ?? field.name);
}

/** What an option of a choice is called. */
export function optionLabel(t, field, option) {
  return t.has(`${field.name}.${option}`) ? t(`${field.name}.${option}`) : option;
}

/** The field that a fault of the gateway is about, or null: the most exact of those that it can be. */
export function fieldOf(fault, fields) {
  const named = fields.filter(({ name }) => {
    const rest = fault.field.slice(name.length);
    return fault.field.startsWith(name) && (rest === '' || rest[0] === '.' || rest[0] === '[');
  });
  const exact = named.sort((a, b) => b.name.length - a.name.length)[0];
  return exact ?? fields.find(({ name }) => setting(name) === fault.field.split(/[.[]/)[0]) ?? null;
}

function faultText(problem, field, fields) {
  const own = (problem?.faults ?? []).filter((fault) => fieldOf(fault, fields) === field);
  if (!own.length) return problem?.parameter === field.name ? sentenceWords(problem.detail) : null;
  return own.map((fault) => sentence(fault, field)).join('; ');
}

function sentence(fault, { name }) {
  const place = plain(fault.field.slice(name.length).replace(/^\./, ''));
  return `${place ? `${place}: ` : ''}${faultWords(fault)}`;
}

const drawn = {
  text: ({ field, common, onChange, suggestions }) => html`<${Line} ...${{ field, common, onChange, suggestions }} />`,
  number: ({ field, common, onChange }) => html`<${Line} ...${{ field, common, onChange }} inputmode="numeric" />`,
  decimal: ({ field, common, onChange }) => html`<${Line} ...${{ field, common, onChange }} inputmode="decimal" />`,
  duration: ({ field, common, onChange }) => html`<${Line} ...${{ field, common, onChange }} />`,
  choice: ({ t, field, common, onChange }) => {
    const options = field.options.map((option) => [option, optionLabel(t, field, option)]);
    const all = field.required ? options : [['', t('unset')], ...options];
    return html`<${Choice} ...${common} options=${all} onChange=${onChange} />`;
  },
  maybe: ({ t, common, onChange }) => {
    const options = [['', t('unset')], ['yes', t('yes')], ['no', t('no')]];
    return html`<${Choice} ...${common} options=${options} onChange=${onChange} />`;
  },
  flag: ({ common, value, onChange }) =>
    html`<${Check} label=${common.label} hint=${common.hint} checked=${value} onChange=${onChange} name=${common.name} />`,
  names: ({ field, common, onChange }) => html`<${Area} ...${common} rows=${3} code=${field.code} onInput=${onChange} />`,
  served: ({ common, onChange }) => html`<${Area} ...${common} rows=${5} code onInput=${onChange} />`,
  factors: ({ common, onChange }) => html`<${Area} ...${common} rows=${2} code onInput=${onChange} />`,
  several: Several,
  namesOrAll: NamesOrAll,
  tiers: Tiers,
  secret: Sealed,
  headers: Headers,
};

function Line({ field, common, onChange, suggestions = [], ...rest }) {
  const list = useId();
  return html`<${Input} ...${common} code=${field.code} onInput=${onChange} required=${field.required}
      list=${suggestions.length ? list : undefined} ...${rest} />
    ${suggestions.length > 0 && html`<datalist id=${list}>${suggestions.map((name) => html`<option key=${name} value=${name} />`)}</datalist>`}`;
}

function Several({ t, field, common, value, onChange }) {
  const turn = (option, on) => onChange(field.options.filter((one) => (one === option ? on : value.includes(one))));
  return html`<fieldset class="field several">
    <legend class="field-label">${common.label}</legend>
    <div class="row">
      ${field.options.map(
        (option) => html`<${Check} key=${option} label=${optionLabel(t, field, option)} checked=${value.includes(option)}
          onChange=${(on) => turn(option, on)} />`,
      )}
    </div>
    ${common.error && html`<p class="field-error" role="alert"><${Icon} name="warning" size=${14} />${common.error}</p>`}
  </fieldset>`;
}

function NamesOrAll({ t, common, value, onChange, suggestions }) {
  const options = [['all', t('allModels')], ['these', t('theseModels')]];
  const given = value.text.split('\n').map((line) => line.trim());
  const left = suggestions.filter((name) => !given.includes(name)).slice(0, SHOWN_SUGGESTIONS);
  const add = (name) => onChange({ ...value, text: `${value.text.trimEnd()}\n${name}`.trimStart() });
  return html`<div class="field">
    <${Segmented} label=${common.label} hideLabel=${false} value=${value.all ? 'all' : 'these'} options=${options}
      onChange=${(chosen) => onChange({ ...value, all: chosen === 'all' })} />
    ${!value.all && html`<${Area} ...${common} value=${value.text} label=${t('theseModels')} rows=${4} code
      onInput=${(text) => onChange({ ...value, text })} />`}
    ${!value.all && left.length > 0 && html`<div class="row suggestions">
      ${left.map((name) => html`<button type="button" key=${name} class="button small" onClick=${() => add(name)}>
        <${Icon} name="plus" size=${12} /><bdi class="code">${plain(name)}</bdi>
      </button>`)}
    </div>`}
  </div>`;
}

function Tiers({ t, common, value, onChange }) {
  const put = (index, name, text) => onChange(value.map((row, at) => (at === index ? { ...row, [name]: text } : row)));
  return html`<fieldset class="field tiers">
    <legend class="field-label">${common.label}</legend>
    <p class="field-hint">${common.hint}</p>
    ${value.map(
      (row, index) => html`<div class="tier" key=${index}>
        <${Input} label=${t('above_input_tokens')} value=${row.above_input_tokens} inputmode="numeric"
          onInput=${(text) => put(index, 'above_input_tokens', text)} />
        ${rates.map((rate) => html`<${Input} key=${rate} label=${t(`price.${rate}`)} value=${row[rate]} inputmode="decimal"
          onInput=${(text) => put(index, rate, text)} />`)}
        <button type="button" class="button quiet bare" aria-label=${t('removeTier', { count: index + 1 })}
            title=${t('removeTier', { count: index + 1 })} onClick=${() => onChange(value.filter((_, at) => at !== index))}>
          <${Icon} name="trash" />
        </button>
      </div>`,
    )}
    ${common.error && html`<p class="field-error" role="alert"><${Icon} name="warning" size=${14} />${common.error}</p>`}
    <div><button type="button" class="button small" onClick=${() => onChange([...value, newTier()])}>
      <${Icon} name="plus" size=${14} />${t('addTier')}
    </button></div>
  </fieldset>`;
}

function Sealed({ t, common, value, onChange, entry }) {
  const kept = entry?.has_api_key;
  return html`<${Secret} ...${common} hint=${kept ? t('api_key_keep') : common.hint} value=${value.text}
      disabled=${value.remove} autocomplete="off" onInput=${(text) => onChange({ ...value, text })} />
    ${kept && html`<${Check} label=${t('api_key_remove')} checked=${value.remove}
      onChange=${(remove) => onChange({ text: '', remove })} />`}`;
}

function Headers({ t, common, value, onChange, entry }) {
  const names = (entry?.header_names ?? []).map(plain).join(', ');
  return html`<${Area} ...${common} hint=${names ? t('headers_keep', { names }) : common.hint} value=${value.text} rows=${3} code
      disabled=${value.remove} onInput=${(text) => onChange({ ...value, text })} />
    ${names && html`<${Check} label=${t('headers_remove')} checked=${value.remove}
      onChange=${(remove) => onChange({ text: '', remove })} />`}`;
}
