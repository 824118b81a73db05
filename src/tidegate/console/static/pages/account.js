/** One account: what it has, its payments, its ledger and its keys. */

import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Time } from '../components/text.js';
import { exactMoney } from '../format.js';
import { useWords } from '../i18n.js';
import { useNarrow } from '../narrow.js';
import { Section } from '../page.js';
import { useResource } from '../resource.js';
import { link, useQuery } from '../router.js';
import { html, useState } from '../view.js';
import { Balance, Pays } from './accounts.js';
import { strings } from './accounts.strings.js';
import { CreditDialog } from './credit.js';
import { Doubts, FileNote, ManagedBy, SettingList } from './editing/shown.js';
import { KeyTable } from './keys.js';
import { Ledger } from './ledger.js';
import { AddingEntry, EditingEntry, EntryActions, EntryHead, EntryPage, loadAll, useEntry } from './manage.js';

const FRESH_MS = 5000;
const FIRST_KEYS = 10;
const FIRST_KEYS_NARROW = 3;
/** Keys without an account belong to this one, which is there without being declared. */
const ALWAYS_THERE = 'default';

/** The page of an account. */
export function Showing({ params }) {
  const t = useWords(strings);
  const account = useEntry('accounts', params.name, FRESH_MS);
  const [paying, setPaying] = useState(false);
  const [turn, setTurn] = useState(0);
  const paid = () => {
    setPaying(false);
    setTurn(turn + 1);
    account.reload();
  };
  const absent = params.name === ALWAYS_THERE ? html`<${Undeclared} />` : null;
  return html`<${EntryPage} kind="accounts" name=${params.name} resource=${account} absent=${absent}>
    ${(stored) => {
      const { entry } = stored;
      const marks = html`<${Pays} account=${entry} /><${ManagedBy} entry=${entry} />`;
      const actions = html`<${EntryActions} kind="accounts" stored=${stored}>
        <button type="button" class="button primary" onClick=${() => setPaying(true)}><${Icon} name="money" />${t('credit')}</button>
        <a class="button" href=${link('/requests', { account: entry.name })}><${Icon} name="requests" />${t('requests')}</a>
      <//>`;
      return html`<${EntryHead} kind="accounts" name=${entry.name} marks=${marks} actions=${actions} />
        <${FileNote} entry=${entry} />
        <${Doubts} entry=${entry} />
        <div class="two-cards">
          <${Section} title=${t('money')}><dl class="facts">
            <dt>${t('balance')}</dt><dd class="big"><${Balance} account=${entry} /></dd>
            <dt>${t('held')}</dt><dd title=${t('heldHint')}>${exactMoney(entry.held)}</dd>
            ${entry.created_at && html`<dt>${t('created')}</dt><dd><${Time} at=${entry.created_at} form="full" /></dd>`}
            ${entry.changed_at && html`<dt>${t('changed')}</dt><dd><${Time} at=${entry.changed_at} form="full" /></dd>`}
          </dl><//>
          <${Section} title=${t('settings')}><${SettingList} kind="accounts" entry=${entry} /><//>
        </div>
        <${Keys} account=${entry.name} />
        <${Ledger} account=${entry.name} turn=${turn} />
        ${paying && html`<${CreditDialog} account=${entry.name} onClose=${() => setPaying(false)} onPaid=${paid} />`}`;
    }}
  <//>`;
}

/** The account that nobody declared has no settings, but keys and a ledger. */
function Undeclared() {
  const t = useWords(strings);
  const add = html`<a class="button" href=${link('/accounts/new', { name: ALWAYS_THERE })}><${Icon} name="plus" />${t('declare')}</a>`;
  return html`<${EntryHead} kind="accounts" name=${ALWAYS_THERE} actions=${add} />
    <p class="note"><${Icon} name="info" />${t('undeclared')}</p>
    <${Keys} account=${ALWAYS_THERE} />
    <${Ledger} account=${ALWAYS_THERE} turn=${0} />`;
}

function Keys({ account }) {
  const t = useWords(strings);
  const [all, setAll] = useState(false);
  const most = useNarrow() ? FIRST_KEYS_NARROW : FIRST_KEYS;
  const shown = (rows) => (all ? rows : rows.slice(0, most));
  const keys = useResource(`keys of ${account}`, async (signal) => {
    const all = await loadAll('keys', signal);
    return all.filter((key) => key.account === account);
  });
  const add = html`<a class="button small" href=${link('/keys/new', { account })}><${Icon} name="plus" size=${14} />${t('addKey')}</a>`;
  return html`<${Section} title=${t('keys')} actions=${add} className="spaced">
    <${Loaded} resource=${keys} lines=${3}>
      ${(rows) => (rows.length ? html`<${KeyTable} rows=${shown(rows)} account=${false} />
            ${shown(rows).length < rows.length && html`<div class="pager"><button type="button" class="button" onClick=${() => setAll(true)}>${t('allKeys', { count: rows.length })}</button></div>`}` : html`<${Empty} title=${t('noKeys')} icon="keys"><p>${t('noKeysText')}</p><//>`)}
    <//>
  <//>`;
}

/** Adding an account; the address may name it. */
export function Adding() {
  const [query] = useQuery();
  return html`<${AddingEntry} kind="accounts" start=${query.name ? { name: query.name } : {}} />`;
}

/** Changing an account. */
export function Editing({ params }) {
  return html`<${EditingEntry} kind="accounts" name=${params.name} />`;
}
