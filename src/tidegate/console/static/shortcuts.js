/** Keys that work everywhere: search, help, and jumping to a page. */

import { Dialog } from './components/dialog.js';
import { language, useWords } from './i18n.js';
import { pages } from './pages/index.js';
import { go, link } from './router.js';
import { strings } from './shell.strings.js';
import { html, useEffect } from './view.js';

const JUMP_MS = 1500;

/** Listens for the keys while it is drawn, and shows their list on `?`. */
export function Shortcuts({ active, shown, onShow }) {
  useEffect(() => {
    if (!active) return undefined;
    let jumpUntil = 0;
    const press = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (writing(event.target) || document.querySelector('dialog[open]')) return;
      const jumping = performance.now() < jumpUntil;
      jumpUntil = 0;
      const page = jumping && pages.find((one) => one.jump === event.key);
      if (page) go(link(page.path));
      else if (event.key === 'g') jumpUntil = performance.now() + JUMP_MS;
      else if (event.key === '?') onShow(true);
      else if (event.key !== '/' || !focusSearch()) return;
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [active]);
  return shown ? html`<${List} onClose=${() => onShow(false)} />` : null;
}

function writing(target) {
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName ?? '');
}

function focusSearch() {
  const field = document.querySelector('main [data-search]');
  field?.focus();
  field?.select?.();
  return Boolean(field);
}

function List({ onClose }) {
  const t = useWords(strings);
  const jumps = pages.filter((page) => page.jump);
  const lines = [
    [['/'], t('keySearch')],
    [['?'], t('keyHelp')],
    [['Esc'], t('keyEscape')],
    ...jumps.map((page) => [['g', page.jump], t('keyJump', { page: page.title[language.get()] })]),
  ];
  return html`<${Dialog} title=${t('shortcuts')} onClose=${onClose}>
    <dl class="keys">
      ${lines.map(([keys, what]) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${what}</dd></div>`)}
    </dl>
  <//>`;
}
