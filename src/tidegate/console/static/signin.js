/** The sign-in page. */

import { signIn } from './api.js';
import { Secret } from './components/field.js';
import { Icon, Mark } from './components/icon.js';
import { useWords } from './i18n.js';
import { LanguageChoice, ThemeChoice } from './preferences.js';
import { strings } from './shell.strings.js';
import { html, useEffect, useRef, useState } from './view.js';

/** Asks for the admin token; `expired` says that there was a session before. */
export function SignIn({ expired }) {
  const t = useWords(strings);
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(null);
  const [wait, setWait] = useCountdown();
  const form = useRef(null);

  useEffect(() => {
    document.title = `${t('title')} · Tidegate`;
    form.current.querySelector('[name=token]')?.focus();
  }, []);

  const submit = async (event) => {
    event.preventDefault();
    if (busy || wait) return;
    if (!token.trim()) {
      setWrong('empty');
      return;
    }
    setBusy(true);
    setWrong(null);
    try {
      await signIn(token.trim());
    } catch (error) {
      if (error.kind === 'throttled' && error.retryAfter) setWait(Math.ceil(error.retryAfter));
      setWrong(reason(error));
      setBusy(false);
      form.current?.querySelector('[name=token]')?.focus();
    }
  };

  const message = wait ? t('throttled', { count: wait }) : wrong && wrong !== 'throttled' ? t(wrong) : null;
  return html`<main class="signin">
    <form class="signin-card" ref=${form} onSubmit=${submit} novalidate>
      <div class="signin-brand"><${Mark} size=${32} /><h1>Tidegate</h1></div>
      <p class="signin-lead">${t('lead')}</p>
      ${expired && html`<p class="note info" role="status"><${Icon} name="clock" />${t('expired')}</p>`}
      <input class="heard" type="text" name="username" value="admin" autocomplete="username" tabindex="-1" aria-hidden="true" readonly />
      <${Secret} label=${t('token')} hint=${t('tokenHint')} value=${token} onInput=${setToken} error=${message}
        name="token" autocomplete="current-password" required />
      <button type="submit" class="button primary tall" disabled=${wait > 0} aria-busy=${busy ? 'true' : undefined}>
        ${busy ? t('entering') : t('enter')}
      </button>
      <p class="heard" role="alert">${message && !wait ? message : ''}</p>
    </form>
    <div class="signin-choices"><${LanguageChoice} /><${ThemeChoice} /></div>
  </main>`;
}

const REASONS = { 'signed-out': 'wrong', throttled: 'throttledPlain', network: 'unreachable', away: 'away' };

function reason(error) {
  if (error.kind === 'throttled' && error.retryAfter) return 'throttled';
  return REASONS[error.kind] ?? 'wrong';
}

function useCountdown() {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    if (left <= 0) return undefined;
    const timer = setTimeout(() => setLeft(left - 1), 1000);
    return () => clearTimeout(timer);
  }, [left]);
  return [left, setLeft];
}
