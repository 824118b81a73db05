/** The overview: what the gateway does in a range of time, as tiles, charts and groups. */

import { get } from '../api.js';
import { Icon } from '../components/icon.js';
import { bounds, RangePicker, rangeOf } from '../components/range.js';
import { Loaded } from '../components/states.js';
import { Name, Time } from '../components/text.js';
import { now } from '../clock.js';
import { duration } from '../format.js';
import { useWords } from '../i18n.js';
import { PageHead, useTitle } from '../page.js';
import { useResource } from '../resource.js';
import { useQuery } from '../router.js';
import { html } from '../view.js';
import { Charts } from './overview_charts.js';
import { FirstRequest } from './overview_first.js';
import { Groups } from './overview_groups.js';
import { strings } from './overview.strings.js';
import { Tiles } from './overview_tiles.js';

const DIMENSIONS = ['model', 'channel', 'key', 'account', 'protocol'];
/** Seconds between two looks, by range; a range that is over does not change. */
const REFRESH = { '15m': 10, '1h': 15, '6h': 30, '24h': 60, '7d': 120, '30d': 300 };
const SOON = 10;

export default function Overview() {
  const t = useWords(strings);
  useTitle(t('title'));
  const [query, change] = useQuery();
  const range = rangeOf(query, '1h');
  const groupBy = DIMENSIONS.includes(query.group_by) ? query.group_by : 'model';
  const filters = Object.fromEntries(DIMENSIONS.filter((one) => query[one]).map((one) => [one, query[one]]));
  const every = range.range ? REFRESH[range.range] : 0;
  const asked = { ...range, group_by: groupBy, ...filters };
  const load = (signal) => get('overview', { ...bounds(range, now()), group_by: groupBy, ...filters }, { signal });
  const overview = useResource(JSON.stringify(asked), load, { every: (told) => 1000 * pause(told, every), name: 'overview' });

  return html`
    <${PageHead}
      title=${t('title')}
      lead=${html`<${Lead} ...${{ overview, every }} />`}
      actions=${html`<${RangePicker} range=${range} onChange=${(patch) => change(patch, { push: true })} />`}
    />
    <${Filters} filters=${filters} onRemove=${(one) => change({ [one]: null }, { push: true })} />
    <${Loaded} resource=${overview} lines=${12}>
      ${(figures) => html`<${Figures} ...${{ figures, query, filters, groupBy, change }} />`}
    <//>`;
}

/** Seconds until the next look; soon, while older rows are still being added up. */
function pause(figures, usual) {
  return figures.uncounted_rows ? Math.min(SOON, usual || SOON) : usual;
}

function Lead({ overview, every }) {
  const t = useWords(strings);
  if (!overview.value) return html`<span>\u00a0</span>`;
  return html`<span>${t.parts('lead', { at: html`<${Time} at=${overview.value.as_of} />` })}</span>
    ${every > 0 && html`<span class="auto">${t('auto', { length: duration(every * 1000) })}</span>`}`;
}

function Figures({ figures, query, filters, groupBy, change }) {
  const t = useWords(strings);
  const groupedBy = (one) => change({ group_by: one });
  const drag = (from, to) =>
    change(
      { range: null, since: new Date(from * 1000).toISOString(), until: new Date(to * 1000).toISOString() },
      { push: true },
    );
  if (!figures.totals.requests && !figures.open_requests) {
    return html`<${FirstRequest} filtered=${Object.keys(filters).length > 0} />`;
  }
  return html`
    ${figures.uncounted_rows > 0 && html`<p class="note info"><${Icon} name="info" />${t('uncounted', { count: figures.uncounted_rows })}</p>`}
    <${Tiles} ...${{ figures, query, filters }} />
    <${Charts} figures=${figures} onRange=${drag} />
    <${Groups} ...${{ figures, query, filters, groupBy, groupedBy, dimensions: DIMENSIONS, change }} />`;
}

function Filters({ filters, onRemove }) {
  const t = useWords(strings);
  const given = Object.entries(filters);
  if (!given.length) return null;
  return html`<ul class="chips" aria-label=${t('filters')}>
    ${given.map(
      ([what, name]) => html`<li key=${what}>
        <button type="button" class="chip" aria-label=${t('remove', { what: t(what), name })} onClick=${() => onRemove(what)}>
          <span>${t(what)}:</span> <${Name}>${name}<//><${Icon} name="close" size=${12} />
        </button>
      </li>`,
    )}
  </ul>`;
}
