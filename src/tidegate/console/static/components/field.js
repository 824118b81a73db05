/** Fields of forms: a label, the control, a hint, and what is wrong with it. */

import { faultWords, sentenceWords } from '../gateway_words.js';
import { useWords, words } from '../i18n.js';
import { createContext, html, useContext, useId, useState } from '../view.js';
import { Icon } from './icon.js';
import { strings } from './strings.js';

/** The error of the form's last try; each field takes what is said about it. */
export const Problem = createContext(null);

/** An error in a sentence for the reader. What is wrong with the `marked` fields is told there, and not here again. */
export function problemText(error, marked = []) {
  const t = words(strings);
  switch (error.kind) {
    case 'network':
      return t('networkLost');
    case 'away':
      return error.status === 503 ? t('databaseAway') : t('networkLost');
    case 'signed-out':
      return t('signedOut');
    case 'changed':
      return t('changedMeanwhile');
    case 'throttled':
      return error.retryAfter ? t('wait', { count: error.retryAfter }) : error.detail;
    default:
      if (error.faults?.length) {
        const others = error.faults.filter((fault) => !marked.includes(fault.field));
        return [t('checkFields'), others.map(faultLine).join('; ')].filter(Boolean).join(' ');
      }
      return (error.detail && sentenceWords(error.detail)) || error.message || t('unexpected', { status: error.status ?? '?' });
  }
}

function faultLine(fault) {
  return `${fault.field}: ${faultWords(fault)}`;
}

/** What the form's error says about a setting, or null. */
function faultAt(problem, name) {
  const own = problem?.faults?.find((fault) => fault.field === name);
  if (own) return faultWords(own);
  return problem?.detail && problem.parameter === name ? sentenceWords(problem.detail) : null;
}

/**
 * A label around any control. `children({id, invalid, describedBy})` draws it.
 *
 * `name` is the API's name of the setting: the form's error for it is shown here.
 */
export function Field({ label, name, hint, error, optional = false, children, className = '' }) {
  const t = useWords(strings);
  const id = useId();
  const problem = useContext(Problem);
  const wrong = error ?? (name ? faultAt(problem, name) : null);
  const describedBy = [hint && `${id}-hint`, wrong && `${id}-error`].filter(Boolean).join(' ') || undefined;
  return html`<div class=${`field ${className} ${wrong ? 'wrong' : ''}`}>
    <label class="field-label" for=${id}>
      ${label}${optional && html`<span class="field-optional">${t('optional')}</span>`}
    </label>
    ${children({ id, invalid: wrong ? 'true' : undefined, describedBy })}
    ${hint && html`<p class="field-hint" id=${`${id}-hint`}>${hint}</p>`}
    ${wrong && html`<p class="field-error" id=${`${id}-error`}><${Icon} name="warning" size=${14} />${wrong}</p>`}
  </div>`;
}

/** A line of text. `onInput` gets the text. Other attributes go to the input. */
export function Input({ label, name, hint, error, optional, value, onInput, type = 'text', code = false, className, ...rest }) {
  return html`<${Field} ...${{ label, name, hint, error, optional, className }}>
    ${({ id, invalid, describedBy }) => html`<input id=${id} class=${code ? 'code' : ''} type=${type} value=${value}
      autocomplete="off" spellcheck=${false} aria-invalid=${invalid} aria-describedby=${describedBy} name=${name}
      onInput=${(event) => onInput(event.currentTarget.value)} ...${rest} />`}
  <//>`;
}

/** A secret: hidden until the reader wants to see it. */
export function Secret({ label, name, hint, error, optional, value, onInput, autocomplete = 'off', ...rest }) {
  const t = useWords(strings);
  const [seen, setSeen] = useState(false);
  return html`<${Field} ...${{ label, name, hint, error, optional }}>
    ${({ id, invalid, describedBy }) => html`<div class="joined">
      <input id=${id} class="code" type=${seen ? 'text' : 'password'} value=${value} autocomplete=${autocomplete}
        spellcheck=${false} autocapitalize="off" aria-invalid=${invalid} aria-describedby=${describedBy} name=${name}
        onInput=${(event) => onInput(event.currentTarget.value)} ...${rest} />
      <button type="button" class="button" aria-pressed=${seen ? 'true' : 'false'} onClick=${() => setSeen(!seen)}>
        ${seen ? t('hide') : t('show')}
      </button>
    </div>`}
  <//>`;
}

/** Several lines of text. */
export function Area({ label, name, hint, error, optional, value, onInput, rows = 4, code = false, ...rest }) {
  return html`<${Field} ...${{ label, name, hint, error, optional }}>
    ${({ id, invalid, describedBy }) => html`<textarea id=${id} class=${code ? 'code' : ''} rows=${rows} value=${value}
      spellcheck=${false} aria-invalid=${invalid} aria-describedby=${describedBy} name=${name}
      onInput=${(event) => onInput(event.currentTarget.value)} ...${rest}></textarea>`}
  <//>`;
}

/** One of several. `options` is `[[value, label], …]`; `onChange` gets the value. */
export function Choice({ label, name, hint, error, optional, value, options, onChange, className, ...rest }) {
  return html`<${Field} ...${{ label, name, hint, error, optional, className }}>
    ${({ id, invalid, describedBy }) => html`<select id=${id} value=${value} aria-invalid=${invalid}
      aria-describedby=${describedBy} name=${name} onChange=${(event) => onChange(event.currentTarget.value)} ...${rest}>
      ${options.map(([one, text]) => html`<option key=${one} value=${one} selected=${one === value}>${text}</option>`)}
    </select>`}
  <//>`;
}

/** Yes or no. */
export function Check({ label, hint, checked, onChange, ...rest }) {
  const id = useId();
  return html`<div class="field check">
    <input id=${id} type="checkbox" checked=${checked} aria-describedby=${hint ? `${id}-hint` : undefined}
      onChange=${(event) => onChange(event.currentTarget.checked)} ...${rest} />
    <label for=${id}>${label}</label>
    ${hint && html`<p class="field-hint" id=${`${id}-hint`}>${hint}</p>`}
  </div>`;
}

/** One of few, side by side; arrow keys move as in any radio group. `options` is `[[value, label], …]`. */
export function Segmented({ label, value, options, onChange, hideLabel = true }) {
  const id = useId();
  return html`<fieldset class="segmented">
    <legend class=${hideLabel ? 'heard' : ''}>${label}</legend>
    <div class="segments">
      ${options.map(
        ([one, text]) => html`<label key=${one} class=${one === value ? 'segment chosen' : 'segment'}>
          <input type="radio" class="heard" name=${id} value=${one} checked=${one === value} onChange=${() => onChange(one)} />
          <span>${text}</span>
        </label>`,
      )}
    </div>
  </fieldset>`;
}
