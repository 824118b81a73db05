/** The form of a channel, model, account or key: on a page of its own, for something new or something that is there. */

import { Dialog } from '../../components/dialog.js';
import { problemText, Problem } from '../../components/field.js';
import { Icon } from '../../components/icon.js';
import { Name, Time } from '../../components/text.js';
import { sentenceWords } from '../../gateway_words.js';
import { useWords } from '../../i18n.js';
import { go, guardLeaving, leaveFreely } from '../../router.js';
import { html, useEffect, useMemo, useRef, useState } from '../../view.js';
import { strings } from './editor.strings.js';
import { fieldsOf, groupsOf } from './fields.js';
import { useSaving } from './saving.js';
import { fieldOf, labelOf, Setting } from './setting.js';
import { strings as settingStrings } from './settings.strings.js';
import { draftText } from './shown.js';

/**
 * `stored` is `{entry, etag}`, or null for something new. `onDone(entry)` is called once it is saved, `onCancel` when
 * the reader gives up. `suggest` has names for fields that take some: `{accounts, models}`.
 */
export function Editor({ kind, stored, onDone, onCancel, suggest = {}, start = {} }) {
  const t = useWords(strings);
  const groups = useMemo(() => begun(groupsOf(kind, { fresh: !stored }), start), [kind]);
  const fields = useMemo(() => fieldsOf(groups), [groups]);
  const form = useRef(null);
  const saving = useSaving(kind, fields, stored, onDone);
  const { draft, put, error, busy, entry, meanwhile } = saving;

  useEffect(() => {
    if (error) form.current?.querySelector('[aria-invalid="true"]')?.focus();
  }, [error]);
  const [leaving, setLeaving] = useState(null);
  useEffect(() => holdBack(saving.dirty && !busy, setLeaving), [saving.dirty, busy]);
  const giveUp = (then) => {
    leaveFreely();
    then();
  };

  const submit = (event) => {
    event.preventDefault();
    saving.save();
  };
  return html`<form class="form editor" ref=${form} novalidate onSubmit=${submit}>
    ${entry?.problem && html`<p class="note bad"><${Icon} name="warning" />${t('problem', { problem: sentenceWords(entry.problem) })}</p>`}
    <${Problem.Provider} value=${error}>
      ${groups.map((group) => html`<${Group} key=${group.title} ...${{ group, fields, draft, put, entry, suggest, error }} />`)}
    <//>
    ${meanwhile && html`<${Meanwhile} ...${meanwhile} />`}
    ${error && !meanwhile && html`<p class="form-error" role="alert"><${Icon} name="warning" />${told(t, error, fields)}</p>`}
    ${leaving && html`<${Unsaved} onStay=${() => setLeaving(null)} onLeave=${() => giveUp(() => go(leaving))} />`}
    <div class="editor-foot">
      <button type="submit" class="button primary" disabled=${Boolean(meanwhile)} aria-busy=${busy ? 'true' : undefined}>
        ${busy ? t('working') : t(stored ? 'save' : kind === 'keys' ? 'create' : 'add')}
      </button>
      <button type="button" class="button" onClick=${() => giveUp(onCancel)}>${t('cancel')}</button>
    </div>
  </form>`;
}

/** Fields begin with what the address names. */
function begun(groups, start) {
  const fields = (group) => group.fields.map((field) => (field.name in start ? { ...field, initial: start[field.name] } : field));
  return groups.map((group) => ({ ...group, fields: fields(group) }));
}

function Group({ group, fields, draft, put, entry, suggest, error }) {
  const t = useWords(settingStrings);
  const own = group.fields.map(
    (field) => html`<div key=${field.name} class=${field.narrow || field.kind === 'maybe' || field.kind === 'choice' ? 'setting' : 'setting whole'}>
      <${Setting} field=${field} fields=${fields} value=${draft[field.name]} onChange=${(value) => put(field.name, value)}
        entry=${entry} suggestions=${suggest[field.suggest]} />
    </div>`,
  );
  const hint = group.hint && html`<p class="card-hint">${t(group.hint)}</p>`;
  const wrong = (error?.faults ?? []).some((fault) => group.fields.includes(fieldOf(fault, fields)));
  if (!group.folded) {
    return html`<section class="card">
      <header class="card-head"><div><h2>${t(group.title)}</h2>${hint}</div></header>
      <div class="settings">${own}</div>
    </section>`;
  }
  return html`<details class="card fold" open=${wrong ? true : undefined}>
    <summary><h2>${t(group.title)}</h2></summary>
    <div class="fold-body">${hint}<div class="settings">${own}</div></div>
  </details>`;
}

/** What another operator saved while this form was open, and the two ways on. */
function Meanwhile({ change, fields, take, keep }) {
  const t = useWords(strings);
  const names = useWords(settingStrings);
  const box = useRef(null);
  useEffect(() => box.current.focus(), []);
  const who = change && html`<p>${t.parts('changedBy', {
    when: html`<${Time} at=${change.at} />`,
    who: html`<${Name}>${change.operator}<//>`,
  })}</p>`;
  return html`<section class="card meanwhile" tabindex="-1" ref=${box} role="alert" aria-label=${t('changedTitle')}>
    <h2><${Icon} name="warning" /> ${t('changedTitle')}</h2>
    ${who}
    <p>${fields.length ? t('changedText') : t('changedSame')}</p>
    ${fields.length > 0 && html`<div class="table-box" tabindex="0" role="region" aria-label=${t('changedText')}><table class="table compare">
      <thead><tr>${['setting', 'before', 'now', 'yours'].map((name) => html`<th scope="col" key=${name}>${t(name)}</th>`)}</tr></thead>
      <tbody>
        ${fields.map(({ field, before, now, yours }) => html`<tr key=${field.name}>
          <th scope="row">${labelOf(names, field)}</th>
          ${[before, now, yours].map((draft, index) => html`<td key=${index}>${draft === undefined ? '' : html`<pre>${draftText(t, field, draft)}</pre>`}</td>`)}
        </tr>`)}
      </tbody>
    </table></div>`}
    <div class="row">
      <button type="button" class="button" onClick=${take} title=${t('reloadHint')}>${t('reload')}</button>
      <button type="button" class="button primary" onClick=${keep} title=${t('keepHint')}>${t('keep')}</button>
    </div>
  </section>`;
}

function told(t, error, fields) {
  if (error.kind === 'missing') return t('gone');
  const loose = (error.faults ?? []).filter((fault) => !fieldOf(fault, fields));
  if (error.faults?.length && !loose.length) return t('checkFields');
  return problemText(error);
}

/** While there is something that was not saved, the console asks before it shows another page, and the browser before it closes. */
function holdBack(dirty, ask) {
  if (!dirty) return undefined;
  const close = (event) => event.preventDefault();
  const release = guardLeaving(ask);
  addEventListener('beforeunload', close);
  return () => {
    removeEventListener('beforeunload', close);
    release();
  };
}

function Unsaved({ onStay, onLeave }) {
  const t = useWords(strings);
  const footer = html`<button type="button" class="button" onClick=${onStay}>${t('stay')}</button>
    <button type="button" class="button danger" onClick=${onLeave}>${t('leave')}</button>`;
  return html`<${Dialog} title=${t('unsavedTitle')} onClose=${onStay} footer=${footer}><p>${t('unsaved')}</p><//>`;
}
