/** The request of the playground: fields, or the whole body as JSON. */

import { Area, Check, Choice, Input, Segmented } from '../../components/field.js';
import { Icon } from '../../components/icon.js';
import { useWords } from '../../i18n.js';
import { html, useId } from '../../view.js';
import { dialects, exampleTool } from './dialects.js';
import { strings } from './playground.strings.js';

/** What the form holds at first; it outlives the page, so that a look at another one loses nothing. */
export const kept = {
  protocol: 'chat',
  model: '',
  key: '',
  mode: 'form',
  system: '',
  prompt: '',
  limit: '',
  temperature: '',
  stream: true,
  tools: '',
  body: '',
};

/**
 * The body of a request as the form tells it: `{text, value, wrong}`.
 *
 * `text` is what is sent, `value` the same as an object, null where it is none, and `wrong` names fields that cannot
 * be sent, each with the key of its message.
 */
export function bodyOf(form) {
  if (form.mode === 'json') return { text: form.body, value: objectOf(form.body), wrong: {} };
  const limit = numberOf(form.limit);
  const temperature = numberOf(form.temperature);
  const tools = form.tools.trim() ? listOf(form.tools) : null;
  const wrong = {
    ...(form.model.trim() ? {} : { model: 'modelMissing' }),
    ...(Number.isNaN(limit) ? { limit: 'numberWrong' } : {}),
    ...(Number.isNaN(temperature) ? { temperature: 'numberWrong' } : {}),
    ...(tools === undefined ? { tools: 'toolsWrong' } : {}),
  };
  const { system, prompt, stream } = form;
  const value = dialects[form.protocol].body({ model: form.model.trim(), system, prompt, limit, temperature, tools, stream });
  return { text: JSON.stringify(value), value, wrong };
}

/** The fields. `put(patch)` changes some; `wrong` has the keys of messages by field; `run()` is Ctrl + Enter. */
export function RequestForm({ form, put, wrong, models, keys, run }) {
  const t = useWords(strings);
  const list = useId();
  const pressed = (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  };
  const told = (name) => (wrong[name] ? t(wrong[name]) : undefined);
  const protocols = Object.keys(dialects).map((name) => [name, t(`protocol.${name}`)]);
  const keyNames = [['', t('ownKey')], ...keys.map((key) => [key.name, key.name])];
  return html`<div class="form" onKeyDown=${pressed}>
    <${Segmented} label=${t('protocol')} hideLabel=${false} value=${form.protocol} options=${protocols}
      onChange=${(protocol) => put(reshaped({ ...form, protocol }))} />
    ${form.mode === 'form' && html`<${Input} label=${t('model')} hint=${t('modelHint')} error=${told('model')} value=${form.model} code list=${list}
      onInput=${(model) => put({ model })} />`}
    <datalist id=${list}>${models.map((name) => html`<option key=${name} value=${name} />`)}</datalist>
    <${Choice} label=${t('key')} value=${form.key} options=${keyNames} onChange=${(key) => put({ key })} />
    <${Segmented} label=${t('mode')} hideLabel=${false} value=${form.mode} options=${[['form', t('form')], ['json', t('json')]]}
      onChange=${(mode) => put(mode === 'json' ? asJson(form) : { mode })} />
    ${form.mode === 'json'
      ? html`<${Area} label=${t('body')} hint=${t('bodyHint')} value=${form.body} rows=${18} code onInput=${(body) => put({ body })} />`
      : html`<${Fields} ...${{ t, form, put, told }} />`}
  </div>`;
}

function Fields({ t, form, put, told }) {
  const example = () => put({ tools: JSON.stringify([exampleTool(form.protocol)], null, 2) });
  return html`
    <${Area} label=${t('system')} optional value=${form.system} rows=${2} onInput=${(system) => put({ system })} />
    <${Area} label=${t('prompt')} value=${form.prompt} rows=${5} onInput=${(prompt) => put({ prompt })} />
    <div class="form-pair">
      <${Input} label=${t('limit')} optional error=${told('limit')} value=${form.limit} inputmode="numeric" onInput=${(limit) => put({ limit })} />
      <${Input} label=${t('temperature')} optional error=${told('temperature')} value=${form.temperature} inputmode="decimal"
        onInput=${(temperature) => put({ temperature })} />
    </div>
    <${Check} label=${t('stream')} checked=${form.stream} onChange=${(stream) => put({ stream })} />
    <details class="fold" open=${form.tools ? true : undefined}>
      <summary>${t('tools')}</summary>
      <div class="fold-body">
        <${Area} label=${t('tools')} hint=${t('toolsHint')} error=${told('tools')} value=${form.tools} rows=${6} code onInput=${(tools) => put({ tools })} />
        <div><button type="button" class="button small" onClick=${example}><${Icon} name="plus" size=${14} />${t('addTool')}</button></div>
      </div>
    </details>`;
}

function asJson(form) {
  const { value } = bodyOf(form);
  return { mode: 'json', body: JSON.stringify(value, null, 2) };
}

/** In another protocol the body, and the example of a tool, have another form. */
function reshaped(form) {
  if (form.mode === 'json') return { protocol: form.protocol, body: JSON.stringify(bodyOf({ ...form, mode: 'form' }).value, null, 2) };
  const examples = Object.keys(dialects).map((name) => JSON.stringify([exampleTool(name)], null, 2));
  const tools = examples.includes(form.tools) ? JSON.stringify([exampleTool(form.protocol)], null, 2) : form.tools;
  return { protocol: form.protocol, tools };
}

function numberOf(text) {
  return text.trim() ? Number(text) : null;
}

function objectOf(text) {
  const value = parsed(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

function listOf(text) {
  const value = parsed(text);
  return Array.isArray(value) ? value : undefined;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
