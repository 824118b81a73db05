/** Texts that come from outside, and times. */

import { ago, fullMoment, moment, NOTHING, plain, plainLines, utc } from '../format.js';
import { language, useWords } from '../i18n.js';
import { useStore } from '../store.js';
import { html, useEffect, useRef, useState } from '../view.js';
import { Icon } from './icon.js';
import { strings } from './strings.js';

/** A name from outside: never markup, its direction kept to itself, its control characters visible. */
export function Name({ children, code = false, className = '', hint = false }) {
  const text = Array.isArray(children) ? children.join('') : children;
  if (text === null || text === undefined) return html`<span class="nothing">${NOTHING}</span>`;
  return html`<bdi class=${`name ${code ? 'code' : ''} ${className}`} translate=${false} title=${hint ? plain(text) : undefined}>${plain(text)}</bdi>`;
}

const FORMS = { moment, full: fullMoment, ago };

/** A time in the reader's zone, with UTC as its tooltip. `form`: `moment`, `full` or `ago` (kept current). */
export function Time({ at, form = 'moment' }) {
  useStore(language);
  const [, draw] = useState(0);
  useEffect(() => {
    if (form !== 'ago') return undefined;
    const timer = setInterval(() => draw((count) => count + 1), 20000);
    return () => clearInterval(timer);
  }, [form]);
  if (!at) return html`<span class="nothing">${NOTHING}</span>`;
  const hint = form === 'moment' ? utc(at) : `${fullMoment(at)}\n${utc(at)}`;
  return html`<time datetime=${new Date(at).toISOString()} title=${hint}>${FORMS[form](at)}</time>`;
}

/** A button that copies a text. `label` says what is copied; with `words` it is written on the button. */
export function Copy({ text, label, words = false, className = 'quiet' }) {
  const t = useWords(strings);
  const [done, setDone] = useState('');
  const timer = useRef(null);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    setDone((await copied(text)) ? 'copied' : 'notCopied');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDone(''), 2000);
  };
  const told = done ? t(done) : '';
  return html`<button type="button" class=${`button ${className} ${words ? '' : 'bare'}`} onClick=${copy}
      aria-label=${words ? undefined : label} title=${told || label}>
    <${Icon} name=${done === 'copied' ? 'check' : 'copy'} />
    ${words && html`<span>${told || label}</span>`}
    <span class="heard" role="status">${told}</span>
  </button>`;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text); // without https there is no clipboard object
  }
}

function copiedBySelection(text) {
  const area = document.createElement('textarea');
  const before = document.activeElement;
  area.value = text;
  area.className = 'heard';
  (before?.closest('dialog') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
    before?.focus();
  }
}

/** Several lines of text, signs that cannot be seen made visible, with a button that copies them as they are. */
export function Block({ text, label, copy = true, wrap = true }) {
  return html`<div class="block">
    <pre class=${wrap ? 'wrap' : ''} tabindex="0" role="region" aria-label=${label} translate=${false}>${plainLines(text)}</pre>
    ${copy && html`<${Copy} text=${text} label=${label} />`}
  </div>`;
}
