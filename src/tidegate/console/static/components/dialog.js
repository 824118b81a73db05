/** Windows over the page: the browser's own dialog keeps the focus inside and closes on Escape. */

import { session } from '../api.js';
import { useWords } from '../i18n.js';
import { useStore } from '../store.js';
import { html, useId, useLayoutEffect, useRef, useState } from '../view.js';
import { Problem, problemText } from './field.js';
import { Icon } from './icon.js';
import { strings } from './strings.js';

/** A dialog that is open as long as it is drawn. `onClose` is called on Escape and by its button; `side` docks it. */
export function Dialog({ title, onClose, children, footer, wide = false, side = false }) {
  const t = useWords(strings);
  const box = useRef(null);
  const id = useId();
  const signedIn = useStore(session).state === 'in';
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = box.current;
    return () => {
      dialog.close(); // what is behind an open one cannot be focused
      if (before?.isConnected) before.focus();
    };
  }, []);
  useLayoutEffect(() => {
    // An open dialog makes all else inert: closed, it lets the reader sign in, and keeps what was typed.
    if (signedIn && !box.current.open) box.current.showModal();
    else if (!signedIn && box.current.open) box.current.close();
  }, [signedIn]);
  const cancel = (event) => {
    if (event.target !== box.current) return;
    event.preventDefault(); // the owner decides: it may be in the middle of saving
    onClose();
  };
  return html`<dialog ref=${box} class=${`dialog ${wide ? 'wide' : ''} ${side ? 'side' : ''}`} aria-labelledby=${id}
      onCancel=${cancel}>
    <header class="dialog-head">
      <h2 id=${id}>${title}</h2>
      <button type="button" class="button quiet bare" aria-label=${t('close')} onClick=${onClose}>
        <${Icon} name="close" />
      </button>
    </header>
    <div class="dialog-body">${children}</div>
    ${footer && html`<footer class="dialog-foot">${footer}</footer>`}
  </dialog>`;
}

/** A dialog with a form: `save()` gives a promise; its errors are shown, and the button waits for it. */
export function FormDialog({ title, saveLabel, onClose, save, children, danger = false, wide = false, disabled = false }) {
  const t = useWords(strings);
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(null);
  const [marked, setMarked] = useState([]);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setMarked([...event.currentTarget.elements].map((field) => field.name));
    setBusy(true);
    setError(null);
    try {
      await save();
    } catch (caught) {
      setError(caught);
      if (!caught.kind) console.error(caught);
    } finally {
      setBusy(false);
    }
  };
  const footer = html`
    <button type="button" class="button" onClick=${onClose}>${t('cancel')}</button>
    <button type="submit" form=${id} class=${`button ${danger ? 'danger' : 'primary'}`} disabled=${disabled}
        aria-busy=${busy ? 'true' : undefined}>
      ${busy ? t('working') : saveLabel}
    </button>`;
  return html`<${Dialog} title=${title} onClose=${onClose} footer=${footer} wide=${wide}>
    <form id=${id} class="form" novalidate onSubmit=${submit}>
      ${error && html`<p class="form-error" role="alert"><${Icon} name="warning" />${problemText(error, marked)}</p>`}
      <${Problem.Provider} value=${error}>${children}<//>
    </form>
  <//>`;
}
