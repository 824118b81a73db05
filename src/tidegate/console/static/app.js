/** The console begins here: who is signed in decides what is drawn. */

import { askSession, session } from './api.js';
import { useWords } from './i18n.js';
import { followLinks } from './router.js';
import { Shell } from './shell.js';
import { SignIn } from './signin.js';
import { strings } from './shell.strings.js';
import { useStore } from './store.js';
import { html, render, useEffect, useRef } from './view.js';

const RETRY_MS = 3000;

function App() {
  const { state, operator } = useStore(session);
  const entered = useRef(null);
  if (state === 'in') entered.current = operator;
  if (state === 'out') entered.current = null;
  useEffect(() => {
    if (state !== 'asking') return undefined;
    let timer = null;
    const ask = () => askSession().catch((error) => error.kind !== 'signed-out' && (timer = setTimeout(ask, RETRY_MS)));
    ask();
    return () => clearTimeout(timer);
  }, [state]);
  if (state === 'asking') return html`<${Starting} />`;
  // An expired session hides the page and keeps it, so that what was typed into it is there after signing in. Another
  // operator gets a new page.
  return html`
    ${state !== 'in' && html`<${SignIn} expired=${state === 'expired'} />`}
    ${entered.current && html`<${Shell} key=${entered.current} hidden=${state !== 'in'} operator=${entered.current} />`}`;
}

function Starting() {
  const t = useWords(strings);
  return html`<p class="starting" role="status">${t('starting')}</p>`;
}

followLinks();
render(html`<${App} />`, document.getElementById('app'));
