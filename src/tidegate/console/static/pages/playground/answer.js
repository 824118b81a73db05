/** What came of a run: the text as it grows, the facts, and the error in the protocol's form. */

import { Badge } from '../../components/badge.js';
import { problemText } from '../../components/field.js';
import { Icon } from '../../components/icon.js';
import { Empty } from '../../components/states.js';
import { Block, Copy, Name } from '../../components/text.js';
import { duration, whole } from '../../format.js';
import { useWords } from '../../i18n.js';
import { link } from '../../router.js';
import { html, useLayoutEffect, useRef } from '../../view.js';
import { strings } from './playground.strings.js';

const TONES = { asking: 'info', answering: 'info', done: 'good', stopped: 'off', failed: 'bad' };

/** The text of an answer; it is text, whatever stands in it. */
export function Answer({ run }) {
  const t = useWords(strings);
  const box = useRef(null);
  useLayoutEffect(() => {
    const shown = box.current;
    if (shown && !run.over && shown.scrollHeight - shown.scrollTop - shown.clientHeight < 80) shown.scrollTop = shown.scrollHeight;
  });
  if (!run) return html`<${Empty} title=${t('noAnswer')} icon="playground"><p>${t('noAnswerText')}</p><//>`;
  return html`
    ${run.error && html`<p class="form-error" role="alert"><${Icon} name="warning" /><span translate="no">${errorOf(t, run.error)}</span></p>`}
    <div class="answer" ref=${box} tabindex="0" role="region" aria-label=${t('answer')} translate="no">
      ${run.reasoning.length > 0 && html`<${Part} title=${t('reasoning')} text=${run.reasoning} className="reasoning" t=${t} />`}
      ${run.text.length > 0 && html`<${Part} text=${run.text} t=${t} />`}
      ${run.tool.length > 0 && html`<${Part} title=${t('toolCall')} text=${run.tool} className="code" t=${t} />`}
      ${!run.text.length && !run.tool.length && !run.reasoning.length && html`<p class="muted">${t('noText')}</p>`}
    </div>
    ${run.over && run.text.length > 0 && html`<div class="answer-foot"><${Copy} text=${run.text.toString()} label=${t('copy')} words className="small" /></div>`}`;
}

function Part({ title, text, className = '', t }) {
  return html`<div class=${`answer-part ${className}`}>
    ${title && html`<p class="answer-title">${title}</p>`}
    <p class="answer-text">${text.chunks.map((chunk, index) => html`<span key=${index}>${chunk}</span>`)}</p>
    ${text.cut && html`<p class="muted">${t('cut')}</p>`}
  </div>`;
}

function errorOf(t, error) {
  if (error === 'unfinished') return t('errorUnfinished');
  if (error.kind === 'cut') return t('errorCut');
  if (error.kind === 'network') return t('errorNetwork');
  return error.kind ? problemText(error) : error;
}

/** State, times, usage, and the way to the gateway's own record. */
export function Facts({ run }) {
  const t = useWords(strings);
  const used = run.tokens;
  return html`<dl class="facts run-facts">
    <dt>${t('state')}</dt><dd><span role="status"><${Badge} tone=${TONES[run.phase]}>${t(`phase.${run.phase}`)}<//></span></dd>
    <dt>${t('status')}</dt><dd>${run.status ?? '–'}</dd>
    <dt>${t('headAfter')}</dt><dd>${duration(run.headAt)}</dd>
    <dt>${t('firstToken')}</dt><dd>${duration(run.firstAt)}</dd>
    <dt>${t('longestGap')}</dt><dd>${duration(run.longestGap)}</dd>
    <dt>${t('total')}</dt><dd>${duration(run.endAt)}</dd>
    ${used && html`<dt>${t('usage')}</dt><dd>${t('usageText', {
      input: whole(used.input),
      cached: whole(used.cached),
      written: whole(used.written),
      output: whole(used.output),
    })}</dd>`}
    ${run.finish && html`<dt>${t('finish')}</dt><dd><${Name} code>${run.finish}<//></dd>`}
    ${run.requestId && html`<dt>${t('requestLink')}</dt><dd><a href=${link(`/requests/${run.requestId}`)} title=${run.requestId}>${t('openRequest')}</a></dd>`}
  </dl>`;
}

/** A whole answer, or an error, as it came. */
export function WholeAnswer({ text }) {
  const t = useWords(strings);
  return html`<${Block} text=${indented(text)} label=${t('wholeAnswer')} />`;
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
