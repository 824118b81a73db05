/** The overview without requests: for a newcomer, the first request to paste. */

import { get } from '../api.js';
import { Empty, Loaded } from '../components/states.js';
import { Block } from '../components/text.js';
import { useWords } from '../i18n.js';
import { useResource } from '../resource.js';
import { html } from '../view.js';
import { strings } from './overview.strings.js';

/** Nothing in this range; where there was never a request, how to send one. */
export function FirstRequest({ filtered }) {
  const t = useWords(strings);
  const first = useResource(filtered ? null : 'first', async (signal) => {
    const { data } = await get('requests', { limit: 1 }, { signal });
    return data.length ? { seen: true } : { seen: false, model: await someModel(signal) };
  });
  if (filtered) return html`<${Nothing} />`;
  return html`<${Loaded} resource=${first}>
    ${({ seen, model }) =>
      seen
        ? html`<${Nothing} />`
        : html`<${Empty} title=${t('emptyTitle')} icon="overview">
            <p>${t('emptyText')}</p>
            <${Block} text=${curl(model)} label=${t('curl')} />
          <//>`}
  <//>`;
}

function Nothing() {
  const t = useWords(strings);
  return html`<${Empty} title=${t('emptyRange')} icon="clock"><p>${t('emptyRangeText')}</p><//>`;
}

async function someModel(signal) {
  const { data } = await get('channels', { limit: 20 }, { signal });
  const names = data.flatMap((channel) => Object.keys(channel.models ?? {}));
  return (names.find((name) => !name.endsWith('*')) ?? names[0] ?? 'MODEL').replace(/\*$/, '');
}

function curl(model) {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Say hello.' }] });
  const quoted = body.replaceAll("'", "'\\''");
  return `curl -N ${location.origin}/v1/chat/completions \\
  -H "authorization: Bearer $TIDEGATE_KEY" \\
  -H "content-type: application/json" \\
  -d '${quoted}'`;
}
