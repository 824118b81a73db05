/** What the pages of channels, models, accounts and keys share: loading, filtering, adding, editing, deleting. */

import { change, get, part, read } from '../api.js';
import { FormDialog } from '../components/dialog.js';
import { Check } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Empty, Failed, Loaded, Loading } from '../components/states.js';
import { Name } from '../components/text.js';
import { toast } from '../components/toast.js';
import { useWords } from '../i18n.js';
import { PageHead, useTitle } from '../page.js';
import { useResource } from '../resource.js';
import { go, link, useQuery } from '../router.js';
import { html, useMemo, useState } from '../view.js';
import { Editor } from './editing/editor.js';
import { FileNote } from './editing/shown.js';
import { strings } from './manage.strings.js';

const PAGE = 500;
const MOST = 5000;
const SHOWN_AT_ONCE = 100;

/** All entries of a kind, at most five thousand. */
export async function loadAll(kind, signal) {
  const entries = [];
  let after = '';
  do {
    const page = await get(kind, { limit: PAGE, after }, { signal });
    entries.push(...page.data);
    after = page.has_more ? page.next : null;
  } while (after !== null && entries.length < MOST);
  return entries;
}

/** The entries of a kind, loaded again every so many milliseconds. */
export function useEntries(kind, every = 0) {
  return useResource(kind, (signal) => loadAll(kind, signal), { every });
}

/** One entry as `{entry, etag}`. */
export function useEntry(kind, name, every = 0) {
  const load = async (signal) => {
    const { body, etag } = await read(`${kind}/${part(name)}`, { signal });
    return { entry: body, etag };
  };
  return useResource(`${kind}/${name}`, load, { every, keep: false });
}

/** The address of an entry's page. */
export function entryLink(kind, name, more = '') {
  return link(`/${kind}/${part(name)}${more}`);
}

/** What a list is narrowed to, kept in the address; `texts(entry)` are what is searched in. */
export function useFilter(entries, texts) {
  const [query, put] = useQuery();
  const wanted = (query.find ?? '').toLowerCase();
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  const found = useMemo(
    () => (wanted ? entries.filter((entry) => texts(entry).join('\n').toLowerCase().includes(wanted)) : entries),
    [entries, wanted],
  );
  return {
    text: query.find ?? '',
    put: (find) => put({ find }),
    rows: found.slice(0, most),
    found: found.length,
    more: found.length > most ? () => setMost(most + SHOWN_AT_ONCE) : null,
  };
}

/** The line above a list: search, and how many there are. */
export function ListBar({ filter, all, label, children }) {
  const t = useWords(strings);
  return html`<div class="list-bar">
    <div class="search">
      <${Icon} name="search" />
      <input type="search" data-search value=${filter.text} aria-label=${label} placeholder=${label} autocomplete="off" spellcheck=${false}
        onInput=${(event) => filter.put(event.currentTarget.value)} />
    </div>
    ${children}
    <p class="muted" role="status">${filter.text ? t('found', { found: filter.found, all }) : t('count', { count: all })}</p>
  </div>`;
}

/** What stands below a list that is longer than what is shown. */
export function ListMore({ filter }) {
  const t = useWords(strings);
  if (filter.text && !filter.found) return html`<p class="nothing-found muted">${t('nothingFound')}</p>`;
  return filter.more && html`<div class="pager"><button type="button" class="button" onClick=${filter.more}>${t('more')}</button></div>`;
}

/** The way back to the list. */
export function Back({ kind }) {
  const t = useWords(strings);
  return html`<a class="back" href=${link(`/${kind}`)}><${Icon} name="left" size=${14} />${t(kind)}</a>`;
}

/** The head of an entry's page: its name, marks, and what can be done. */
export function EntryHead({ kind, name, marks, actions }) {
  useTitle(name);
  const title = html`<${Name}>${name}<//>`;
  return html`<${PageHead} title=${title} back=${html`<${Back} kind=${kind} />`} lead=${marks && html`<span class="row">${marks}</span>`} actions=${actions} />`;
}

/**
 * An entry's page: `children(stored)` once it is loaded; until then, and where there is none, its name and the way back.
 *
 * `absent` is what to show in place of an error where there is none.
 */
export function EntryPage({ kind, name, resource, absent, children }) {
  if (resource.value) return html`<${Loaded} resource=${resource}>${children}<//>`;
  if (absent && resource.error?.kind === 'missing') return absent;
  return html`<${EntryHead} kind=${kind} name=${name} />
    ${resource.loading && html`<${Loading} />`}
    ${resource.error && html`<${NotLoaded} ...${{ kind, name, resource }} />`}`;
}

/** Why an entry is not shown: most often there is none of this name, which a further try does not change. */
function NotLoaded({ kind, name, resource }) {
  const t = useWords(strings);
  if (resource.error.kind !== 'missing') return html`<${Failed} error=${resource.error} retry=${resource.reload} />`;
  return html`<${Empty} title=${t(`${kind}.none`)} icon="search">
    <p>${t.parts(`${kind}.noneText`, { name: html`<strong><${Name}>${name}<//></strong>` })}</p>
    <div class="row">
      <a class="button" href=${link(`/${kind}`)}><${Icon} name="left" />${t(`${kind}.all`)}</a>
      <a class="button" href=${link('/audit', { kind, name })}><${Icon} name="audit" />${t('history')}</a>
      ${kind === 'models' && html`<a class="button" href=${link('/models/new', { name })}><${Icon} name="plus" />${t('models.add')}</a>`}
    </div>
  <//>`;
}

/** The page that adds something; `onAdded(entry)` in place of going to its page. `start` are first values. */
export function AddingEntry({ kind, onAdded, start }) {
  const t = useWords(strings);
  const suggest = useSuggestions(kind);
  useTitle(t(`${kind}.add`));
  const done = (entry) => {
    if (onAdded) return onAdded(entry);
    toast(t('added', { name: entry.name }));
    return go(entryLink(kind, entry.name), { replace: true });
  };
  return html`<${PageHead} title=${t(`${kind}.add`)} back=${html`<${Back} kind=${kind} />`} lead=${t(`${kind}.addLead`)} />
    <${Editor} kind=${kind} stored=${null} suggest=${suggest} start=${start} onDone=${done} onCancel=${() => go(link(`/${kind}`))} />`;
}

/** The page that changes something that is there. */
export function EditingEntry({ kind, name }) {
  const t = useWords(strings);
  const suggest = useSuggestions(kind);
  const loaded = useEntry(kind, name);
  useTitle(name);
  const back = () => go(entryLink(kind, name), { replace: true });
  const done = () => {
    toast(t('saved', { name }));
    back();
  };
  const stored = loaded.value;
  const title = html`${t.parts('editing', { name: html`<${Name}>${name}<//>` })}`;
  return html`<${PageHead} title=${title} back=${html`<a class="back" href=${entryLink(kind, name)}><${Icon} name="left" size=${14} />${t('back')}</a>`} />
    ${loaded.loading && html`<${Loading} />`}
    ${!stored && loaded.error && html`<${NotLoaded} ...${{ kind, name, resource: loaded }} />`}
    ${stored?.entry.managed_by === 'file' && html`<${FileNote} entry=${stored.entry} />`}
    ${stored?.entry.managed_by === 'database' && html`<${Editor} kind=${kind} stored=${stored} suggest=${suggest} onDone=${done} onCancel=${back} />`}`;
}

/** Names that fields may take: accounts and public model names. */
function useSuggestions(kind) {
  const wanted = kind === 'keys';
  const accounts = useResource(wanted ? 'accounts' : null, (signal) => loadAll('accounts', signal));
  const channels = useResource(wanted ? 'channels' : null, (signal) => loadAll('channels', signal));
  return useMemo(
    () => ({ accounts: (accounts.value ?? []).map((one) => one.name), models: servedModels(channels.value ?? []) }),
    [accounts.value, channels.value],
  );
}

/** The public names that channels serve, each once, by name. */
export function servedModels(channels) {
  return [...new Set(channels.flatMap((channel) => Object.keys(channel.models ?? {})))].sort();
}

/** Whether a pattern, or a name, stands for a name or for a narrower pattern. */
export function covers(pattern, name) {
  return pattern === name || (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)));
}

/** Edit and delete, for what is not the file's. */
export function EntryActions({ kind, stored, onDeleted, children }) {
  const t = useWords(strings);
  const [asking, setAsking] = useState(false);
  const { entry, etag } = stored;
  if (entry.managed_by === 'file') return children;
  return html`${children}
    <a class="button" href=${entryLink(kind, entry.name, '/edit')}><${Icon} name="edit" />${t('edit')}</a>
    <button type="button" class="button" onClick=${() => setAsking(true)}><${Icon} name="trash" />${t(`${kind}.delete`)}</button>
    ${asking && html`<${Deleting} ...${{ kind, entry, etag }} onClose=${() => setAsking(false)} onDone=${onDeleted} />`}`;
}

/** Asks before something is deleted. An account with keys goes only together with them. */
function Deleting({ kind, entry, etag, onClose, onDone }) {
  const t = useWords(strings);
  const [force, setForce] = useState(false);
  const [keys, setKeys] = useState(false);
  const remove = async () => {
    try {
      const query = force ? { force: 'true' } : {};
      await change('DELETE', `${kind}/${part(entry.name)}`, { ifMatch: etag, query });
    } catch (error) {
      if (kind === 'accounts' && error.kind === 'conflict') setKeys(true);
      if (error.kind !== 'missing') throw error;
    }
    toast(t('deleted', { name: entry.name }));
    onClose();
    (onDone ?? (() => go(link(`/${kind}`), { replace: true })))();
  };
  const title = t(`${kind}.deleteTitle`);
  return html`<${FormDialog} title=${title} saveLabel=${t(`${kind}.delete`)} danger onClose=${onClose} save=${remove}>
    <p>${t.parts(`${kind}.deleteText`, { name: html`<strong><${Name}>${entry.name}<//></strong>` })}</p>
    ${keys && html`<${Check} label=${t('deleteKeys')} checked=${force} onChange=${setForce} />`}
  <//>`;
}
