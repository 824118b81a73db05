/** One key: shown, made, changed. */

import { Dialog } from '../components/dialog.js';
import { Check } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Block, Copy, Name, Time } from '../components/text.js';
import { toast } from '../components/toast.js';
import { useWords } from '../i18n.js';
import { Section } from '../page.js';
import { go, link, useQuery } from '../router.js';
import { html, useState } from '../view.js';
import { Doubts, FileNote, ManagedBy, SettingList } from './editing/shown.js';
import { LastUse } from './keys.js';
import { strings } from './keys.strings.js';
import { Spent } from './limits.js';
import { AddingEntry, EditingEntry, EntryActions, EntryHead, EntryPage, entryLink, useEntry } from './manage.js';

const FRESH_MS = 15000;

/** One key. */
export function Showing({ params }) {
  const t = useWords(strings);
  const key = useEntry('keys', params.name, FRESH_MS);
  return html`<${EntryPage} kind="keys" name=${params.name} resource=${key}>
    ${(stored) => {
      const { entry } = stored;
      const actions = html`<${EntryActions} kind="keys" stored=${stored}>
        <a class="button" href=${link('/requests', { key: entry.name })}><${Icon} name="requests" />${t('requests')}</a>
        <a class="button" href=${link('/playground', { key: entry.name })}><${Icon} name="playground" />${t('try')}</a>
      <//>`;
      return html`<${EntryHead} kind="keys" name=${entry.name} marks=${html`<${ManagedBy} entry=${entry} />`} actions=${actions} />
        <${FileNote} entry=${entry} />
        <${Doubts} entry=${entry} />
        <div class="two-cards">
          <${Section} title=${t('use')}><dl class="facts">
            ${entry.hint && html`<dt>${t('secret')}</dt><dd><${Name} code>${entry.hint}<//></dd>`}
            <dt>${t('used')}</dt><dd><${LastUse} at=${entry.last_used_at} /></dd>
            <dt>${t('today')}</dt><dd><${Spent} amount=${entry.spent_today} budget=${entry.budget_per_day} label=${t('today')} /></dd>
            <dt>${t('month')}</dt><dd><${Spent} amount=${entry.spent_month} budget=${entry.budget_per_month} label=${t('month')} /></dd>
            ${entry.created_at && html`<dt>${t('created')}</dt><dd><${Time} at=${entry.created_at} form="full" /></dd>`}
            ${entry.changed_at && html`<dt>${t('changed')}</dt><dd><${Time} at=${entry.changed_at} form="full" /></dd>`}
          </dl><//>
          <${Section} title=${t('settings')}><${SettingList} kind="keys" entry=${entry} /><//>
        </div>`;
    }}
  <//>`;
}

/** Making a key: its secret is shown once, and has to be confirmed. */
export function Adding() {
  const [query] = useQuery();
  const [made, setMade] = useState(null);
  const start = query.account ? { account: query.account } : {};
  return html`<${AddingEntry} kind="keys" onAdded=${setMade} start=${start} />
    ${made && html`<${SecretOnce} made=${made} />`}`;
}

/** Changing a key. */
export function Editing({ params }) {
  return html`<${EditingEntry} kind="keys" name=${params.name} />`;
}

function SecretOnce({ made }) {
  const t = useWords(strings);
  const [kept, setKept] = useState(false);
  const done = () => {
    if (!kept) return;
    toast(t('made', { name: made.name }));
    go(entryLink('keys', made.name), { replace: true });
  };
  const footer = html`<button type="button" class="button primary" disabled=${!kept} onClick=${done}>${t('done')}</button>`;
  return html`<${Dialog} title=${t('secretTitle')} onClose=${done} footer=${footer}>
    <div class="form">
      <p>${t.parts('secretText', { name: html`<strong><${Name}>${made.name}<//></strong>` })}</p>
      <${Block} text=${made.secret} label=${t('secret')} copy=${false} />
      <div><${Copy} text=${made.secret} label=${t('copySecret')} words className="" /></div>
      <${Check} label=${t('kept')} checked=${kept} onChange=${setKept} />
    </div>
  <//>`;
}
