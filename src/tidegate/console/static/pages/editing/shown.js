/** Settings as they are shown where nothing is edited. */

import { Badge } from '../../components/badge.js';
import { Icon } from '../../components/icon.js';
import { Name } from '../../components/text.js';
import { exactMoney, plain } from '../../format.js';
import { sentenceWords } from '../../gateway_words.js';
import { useWords } from '../../i18n.js';
import { html } from '../../view.js';
import { strings } from './editor.strings.js';
import { fieldsOf, shownGroups } from './fields.js';
import { draftOf, emptyDraft, rates } from './kinds.js';
import { labelOf, optionLabel } from './setting.js';
import { strings as settingStrings } from './settings.strings.js';

/** A draft as text, to be compared with another. Secrets are not shown. `t` has the words of forms. */
export function draftText(t, field, draft) {
  switch (field.kind) {
    case 'secret':
    case 'headers':
      return draft.remove ? t('removed') : draft.text ? t('hidden') : '';
    case 'namesOrAll':
      return draft.all ? t('all') : draft.text || t('empty');
    case 'several':
      return draft.join(', ') || t('empty');
    case 'tiers':
      return draft.map((tier) => Object.entries(tier).filter(([, value]) => value).map((pair) => pair.join(' ')).join(', ')).join('\n') || t('empty');
    case 'flag':
      return draft ? '✓' : '✗';
    default: // all others are text
      return draft.split('\n').map(plain).join('\n') || t('empty');
  }
}

/** All settings that are set, group by group. */
export function SettingList({ kind, entry }) {
  const t = useWords(settingStrings);
  const groups = shownGroups(kind);
  const drafts = draftOf(fieldsOf(groups), entry);
  const empty = emptyDraft(fieldsOf(groups));
  const set = (field) => known(field, entry) || JSON.stringify(drafts[field.name]) !== JSON.stringify(empty[field.name]);
  const filled = groups.map((group) => ({ ...group, fields: group.fields.filter(set) })).filter(({ fields }) => fields.length);
  return html`<div class="setting-groups">
    ${filled.map((group) => html`<section key=${group.title}>
      <h3>${t(group.title)}</h3>
      <dl class="facts">
        ${group.fields.map((field) => html`<dt key=${`${field.name}-t`}>${labelOf(t, field)}</dt>
          <dd key=${field.name}>${value(t, field, drafts[field.name], entry)}</dd>`)}
      </dl>
    </section>`)}
  </div>`;
}

function known(field, entry) {
  if (field.kind === 'secret') return entry.has_api_key;
  if (field.kind === 'headers') return entry.header_names?.length > 0;
  return field.kind === 'namesOrAll' || field.kind === 'flag';
}

function value(t, field, draft, entry) {
  switch (field.kind) {
    case 'secret':
      return html`<span class="code">••••••••</span>`;
    case 'headers':
      return html`<${Name} code>${entry.header_names.join(', ')}<//>`;
    case 'choice':
      return optionLabel(t, field, draft);
    case 'maybe':
      return t(draft);
    case 'flag':
      return t(draft ? 'yes' : 'no');
    case 'several':
      return draft.join(', ');
    case 'namesOrAll':
      return draft.all ? t('allModels') : html`<${Lines} text=${draft.text} />`;
    case 'served':
    case 'names':
    case 'factors':
      return html`<${Lines} text=${draft} />`;
    case 'tiers':
      return html`<${TierTable} tiers=${draft} label=${t('price_tiers')} />`;
    case 'decimal':
      return exactMoney(draft);
    default: // text, numbers and durations
      return html`<${Name} code=${field.code}>${draft}<//>`;
  }
}

function Lines({ text }) {
  return html`<ul class="lines">${text.split('\n').map((line, index) => html`<li key=${index}><${Name} code>${line}<//></li>`)}</ul>`;
}

/** The price steps of long prompts. */
export function TierTable({ tiers, label }) {
  const t = useWords(settingStrings);
  const used = rates.filter((rate) => tiers.some((tier) => tier[rate]));
  return html`<div class="table-box plain" tabindex="0" role="region" aria-label=${label}><table class="table">
    <thead><tr><th scope="col" class="numeric">${t('above_input_tokens')}</th>
      ${used.map((rate) => html`<th scope="col" class="numeric" key=${rate}>${t(`price.${rate}`)}</th>`)}</tr></thead>
    <tbody>${tiers.map((tier, index) => html`<tr key=${index}><td class="numeric">${tier.above_input_tokens}</td>
      ${used.map((rate) => html`<td class="numeric" key=${rate}>${exactMoney(tier[rate] || null)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** Whether the file or the database has it. */
export function ManagedBy({ entry }) {
  const t = useWords(strings);
  const file = entry.managed_by === 'file';
  return html`<${Badge} tone=${file ? 'off' : 'plain'} title=${t(file ? 'fileHint' : 'databaseHint')}>${t(entry.managed_by)}<//>`;
}

/** Why something cannot be changed here; nothing for what can. */
export function FileNote({ entry }) {
  const t = useWords(strings);
  if (entry.managed_by !== 'file') return null;
  return html`<p class="note"><${Icon} name="info" />${t('byFile')}</p>`;
}

/** What is doubtful about an entry, and why it cannot be used. */
export function Doubts({ entry }) {
  const t = useWords(strings);
  return html`<div class="doubts">
    ${entry.problem && html`<p class="note bad"><${Icon} name="warning" />${t('problem', { problem: sentenceWords(entry.problem) })}</p>`}
    ${(entry.warnings ?? []).map((warning) => html`<p class="note warn" key=${warning}><${Icon} name="warning" />${sentenceWords(warning)}</p>`)}
  </div>`;
}
