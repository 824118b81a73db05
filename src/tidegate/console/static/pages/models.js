/** Public model names: what they cost, their limits, and those that are free because nobody gave them a price. */

import { Badge, Tag } from '../components/badge.js';
import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Table } from '../components/table.js';
import { Name } from '../components/text.js';
import { exactMoney, plain, whole } from '../format.js';
import { sentenceWords } from '../gateway_words.js';
import { useWords } from '../i18n.js';
import { PageHead, Section } from '../page.js';
import { useResource } from '../resource.js';
import { link } from '../router.js';
import { html } from '../view.js';
import { durationText } from './editing/kinds.js';
import { ManagedBy } from './editing/shown.js';
import { covers, entryLink, ListBar, ListMore, loadAll, servedModels, useFilter } from './manage.js';
import { strings } from './models.strings.js';

const FRESH_MS = 15000;

/** The model settings and the channels that serve them. */
export function useModels() {
  return useResource('models+channels', async (signal) => {
    const [models, channels] = await Promise.all([loadAll('models', signal), loadAll('channels', signal)]);
    return { models, channels };
  }, { every: FRESH_MS });
}

export default function Models() {
  const t = useWords(strings);
  const loaded = useModels();
  const add = html`<a class="button primary" href=${link('/models/new')}><${Icon} name="plus" />${t('add')}</a>`;
  return html`<${PageHead} title=${t('title')} lead=${t('lead')} actions=${add} />
    <${Loaded} resource=${loaded}>
      ${({ models, channels }) => {
        const free = unpriced(servedModels(channels), models);
        return html`${free.length > 0 && html`<${Free} free=${free} channels=${channels} />`}
          ${models.length > 0 && html`<${List} models=${models} channels=${channels} />`}
          ${!models.length && !free.length && html`<${Empty} title=${t('none')} icon="models"><p>${t('noneText')}</p>${add}<//>`}`;
      }}
    <//>`;
}

/** Served names without a price: `{name, entry}`, `entry` being the settings that hold for it, if any. */
export function unpriced(served, models) {
  const held = served.map((name) => ({ name, entry: settingsFor(name, models) }));
  return held.filter(({ entry }) => !entry?.price);
}

/** The settings that hold for a name: its own, else the longest pattern's. */
function settingsFor(name, models) {
  const fitting = models.filter((entry) => covers(entry.name, name));
  return fitting.sort((a, b) => Number(b.name === name) - Number(a.name === name) || b.name.length - a.name.length)[0];
}

/** Channels that serve a model's name. */
export function channelsOf(name, channels) {
  return channels.filter((channel) => Object.keys(channel.models ?? {}).some((one) => covers(one, name) || covers(name, one)));
}

function Free({ free, channels }) {
  const t = useWords(strings);
  const columns = [
    { key: 'name', title: t('name'), lead: true, cell: ({ name }) => html`<${Name} code>${name}<//>` },
    { key: 'channels', title: t('channels'), cell: ({ name }) => html`<${Channels} of=${channelsOf(name, channels)} />` },
    { key: 'state', title: t('price'), cell: () => html`<${Badge} tone="warn">${t('free')}<//>` },
    { key: 'add', title: t('actions'), cell: ({ name, entry }) => html`<${AddPrice} name=${name} entry=${entry} />` },
  ];
  return html`<${Section} title=${t('freeTitle')} hint=${t('freeText')} className="after">
    <${Table} caption=${t('freeTitle')} columns=${columns} rows=${free} rowKey=${({ name }) => name} />
  <//>`;
}

function AddPrice({ name, entry }) {
  const t = useWords(strings);
  if (entry?.name === name && entry.managed_by === 'file') return html`<span class="muted">${t('inFile')}</span>`;
  const own = entry?.name === name;
  const target = own ? entryLink('models', name, '/edit') : link('/models/new', { name });
  return html`<a class="button small" href=${target} aria-label=${t('addPriceOf', { name: plain(name) })}>
    <${Icon} name="plus" size=${14} />${t('addPrice')}
  </a>`;
}

function List({ models, channels }) {
  const t = useWords(strings);
  const filter = useFilter(models, (model) => [model.name]);
  return html`<div class="spaced"><${ListBar} filter=${filter} all=${models.length} label=${t('find')} /></div>
    ${filter.rows.length > 0 && html`<${Table} caption=${t('title')} columns=${columnsOf(t, channels)} rows=${filter.rows}
      rowKey=${(model) => model.name} href=${(model) => entryLink('models', model.name)} />`}
    <${ListMore} filter=${filter} />`;
}

function columnsOf(t, channels) {
  const rate = (name) => ({
    key: name,
    title: t(name),
    hint: t('perMillion'),
    numeric: true,
    cell: (model) => html`<${Rate} price=${model.price} name=${name} />`,
  });
  return [
    {
      key: 'name',
      title: t('name'),
      lead: true,
      cell: (model) => html`<a href=${entryLink('models', model.name)}><${Name} code>${model.name}<//></a>
        <div class="row under">
          ${model.managed_by === 'file' && html`<${ManagedBy} entry=${model} />`}
          ${model.warnings.length > 0 && html`<${Badge} tone="warn" title=${model.warnings.map(sentenceWords).join('\n')}>${t('notServed')}<//>`}
        </div>`,
    },
    rate('input'),
    rate('output'),
    rate('cache_read'),
    rate('cache_write'),
    { key: 'more', title: t('more'), cell: (model) => html`<${More} model=${model} />` },
    { key: 'limit', title: t('limit'), numeric: true, cell: (model) => (model.max_output_tokens ? whole(model.max_output_tokens) : html`<span class="muted">–</span>`) },
    { key: 'times', title: t('times'), hint: t('timesHint'), cell: (model) => html`<span class="unbroken">${times(model)}</span>` },
    { key: 'channels', title: t('channels'), cell: (model) => html`<${Channels} of=${channelsOf(model.name, channels)} />` },
  ];
}

function times(model) {
  if (model.first_event_timeout === undefined) return '–';
  return `${durationText(model.first_event_timeout)} / ${durationText(model.idle_timeout)}`;
}

// What is not set costs as another: cache as input, an hour's cache as the other.
const INSTEAD = { cache_read: 'input', cache_write: 'input', cache_write_1h: 'cache_write' };

function Rate({ price, name }) {
  const t = useWords(strings);
  if (!price) return name === 'input' ? html`<${Badge} tone="warn">${t('free')}<//>` : html`<span class="muted">–</span>`;
  if (price[name]) return exactMoney(price[name]);
  const instead = INSTEAD[name] && price[INSTEAD[name]];
  return instead ? html`<span class="muted" title=${t('asInput')}>${exactMoney(instead)}</span>` : html`<span class="muted">–</span>`;
}

function More({ model }) {
  const t = useWords(strings);
  const tiers = model.price_tiers?.length ?? 0;
  const factors = Object.entries(model.service_tiers ?? {});
  if (!tiers && !factors.length && !model.price?.web_search) return html`<span class="muted">–</span>`;
  return html`<span class="tags">
    ${tiers > 0 && html`<${Tag} title=${model.price_tiers.map((tier) => t('above', { count: tier.above_input_tokens })).join('\n')}>${t('steps', { count: tiers })}<//>`}
    ${factors.map(([name, factor]) => html`<${Tag} key=${name}>${plain(name)} ×${Number(factor)}<//>`)}
    ${model.price?.web_search && html`<${Tag} title=${t('webSearchHint')}>${t('webSearch', { price: exactMoney(model.price.web_search) })}<//>`}
  </span>`;
}

/** Links to channels, the first few. */
export function Channels({ of }) {
  const t = useWords(strings);
  if (!of.length) return html`<span class="muted">${t('noChannel')}</span>`;
  const shown = of.slice(0, 2);
  return html`<span class="tags" title=${of.map((channel) => channel.name).join('\n')}>
    ${shown.map((channel) => html`<a key=${channel.name} class="clipped" href=${entryLink('channels', channel.name)}><${Name}>${channel.name}<//></a>`)}
    ${of.length > shown.length && html`<span class="muted">+${of.length - shown.length}</span>`}
  </span>`;
}
