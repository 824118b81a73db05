/** One model's settings: shown, added, changed. */

import { Icon } from '../components/icon.js';
import { Time } from '../components/text.js';
import { useWords } from '../i18n.js';
import { Section } from '../page.js';
import { link, useQuery } from '../router.js';
import { html } from '../view.js';
import { Doubts, FileNote, ManagedBy, SettingList } from './editing/shown.js';
import { AddingEntry, EditingEntry, EntryActions, EntryHead, EntryPage, useEntry } from './manage.js';
import { Channels, channelsOf, useModels } from './models.js';
import { strings } from './models.strings.js';

const FRESH_MS = 15000;

/** The page of a model. */
export function Showing({ params }) {
  const t = useWords(strings);
  const model = useEntry('models', params.name, FRESH_MS);
  const all = useModels();
  return html`<${EntryPage} kind="models" name=${params.name} resource=${model}>
    ${(stored) => {
      const { entry } = stored;
      const exact = !entry.name.endsWith('*');
      const actions = html`<${EntryActions} kind="models" stored=${stored}>
        ${exact && html`<a class="button" href=${link('/requests', { model: entry.name })}><${Icon} name="requests" />${t('requests')}</a>`}
        ${exact && html`<a class="button" href=${link('/playground', { model: entry.name })}><${Icon} name="playground" />${t('try')}</a>`}
      <//>`;
      return html`<${EntryHead} kind="models" name=${entry.name} marks=${html`<${ManagedBy} entry=${entry} />`} actions=${actions} />
        <${FileNote} entry=${entry} />
        <${Doubts} entry=${entry} />
        ${!entry.problem && !entry.price && html`<p class="note warn"><${Icon} name="warning" />${t('isFree')}</p>`}
        <div class="two-cards">
          <${Section} title=${t('settings')}><${SettingList} kind="models" entry=${entry} /><//>
          <${Section} title=${t('service')}><dl class="facts">
            <dt>${t('channels')}</dt><dd>${all.value && html`<${Channels} of=${channelsOf(entry.name, all.value.channels)} />`}</dd>
            ${entry.created_at && html`<dt>${t('created')}</dt><dd><${Time} at=${entry.created_at} form="full" /></dd>`}
            ${entry.changed_at && html`<dt>${t('changed')}</dt><dd><${Time} at=${entry.changed_at} form="full" /></dd>`}
          </dl><//>
        </div>`;
    }}
  <//>`;
}

/** Adding settings; the address may name the model. */
export function Adding() {
  const [query] = useQuery();
  return html`<${AddingEntry} kind="models" start=${query.name ? { name: query.name } : {}} />`;
}

/** Changing them. */
export function Editing({ params }) {
  return html`<${EditingEntry} kind="models" name=${params.name} />`;
}
