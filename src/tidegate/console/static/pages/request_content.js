/** What was said, where it was captured: fetched only when the reader asks for it, and shown as text. */

import { change, get, part } from '../api.js';
import { FormDialog } from '../components/dialog.js';
import { Icon } from '../components/icon.js';
import { Empty, Loaded } from '../components/states.js';
import { Block, Time } from '../components/text.js';
import { bytes } from '../format.js';
import { useWords } from '../i18n.js';
import { Section } from '../page.js';
import { useResource } from '../resource.js';
import { html, useState } from '../view.js';
import { strings } from './request.strings.js';

export function Content({ id }) {
  const t = useWords(strings);
  const [open, setOpen] = useState(false);
  return html`<${Section} title=${t('content')} hint=${t('contentHint')}
      actions=${html`<button type="button" class="button" aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}>${t(open ? 'hideContent' : 'showContent')}</button>`}>
    ${open && html`<${Said} id=${id} />`}
  <//>`;
}

function Said({ id }) {
  const t = useWords(strings);
  const [deleting, setDeleting] = useState(false);
  const content = useResource(id, (signal) => get(`requests/${part(id)}/content`, {}, { signal }));
  const drop = async () => {
    await change('DELETE', `requests/${part(id)}/content`);
    setDeleting(false);
    content.reload();
  };
  if (content.error?.kind === 'missing') return html`<${Empty} title=${t('contentGone')} />`;
  return html`<${Loaded} resource=${content}>
    ${(said) => html`
      <div class="row spread">
        <p class="muted">${t.parts('contentAt', { at: html`<${Time} at=${said.captured_at} form="full" />` })}</p>
        <button type="button" class="button quiet" onClick=${() => setDeleting(true)}><${Icon} name="trash" />${t('deleteContent')}</button>
      </div>
      <div class="halves said-halves">
        <${Part} title=${t('contentRequest')} said=${said.request} />
        <${Part} title=${t('contentAnswer')} said=${said.answer} />
      </div>`}
  <//>
  ${deleting && html`<${FormDialog} title=${t('deleteTitle')} saveLabel=${t('deleteContent')} danger save=${drop} onClose=${() => setDeleting(false)}>
    <p>${t('deleteText')}</p>
  <//>`}`;
}

function Part({ title, said }) {
  const t = useWords(strings);
  if (!said) return null;
  const kept = bytes(new TextEncoder().encode(said.text).length);
  return html`<div>
    <h3>${title} <span class="muted">${said.truncated ? t('truncated', { kept, all: bytes(said.bytes) }) : bytes(said.bytes)}</span></h3>
    <${Block} text=${laidOut(said.text)} label=${title} />
  </div>`;
}

/** JSON with its members on lines of their own; anything else as it is. */
function laidOut(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
