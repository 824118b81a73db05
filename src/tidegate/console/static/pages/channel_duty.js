/** Pause, drain and resume of a channel. */

import { change, part } from '../api.js';
import { FormDialog } from '../components/dialog.js';
import { problemText } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Name } from '../components/text.js';
import { toast } from '../components/toast.js';
import { useWords } from '../i18n.js';
import { html, useState } from '../view.js';
import { strings } from './channels.strings.js';

/** Buttons for what can be done in the channel's state. Taking it out of use is asked for; resuming is not. */
export function DutyButtons({ entry, onChanged, small = false }) {
  const t = useWords(strings);
  const [asking, setAsking] = useState(null);
  const [busy, setBusy] = useState(false);
  const apply = async (verb) => {
    await change('POST', `channels/${part(entry.name)}/${verb}`);
    toast(t(`${verb}Done`, { name: entry.name }));
    onChanged();
  };
  const resume = async () => {
    setBusy(true);
    try {
      await apply('resume');
    } catch (error) {
      toast(problemText(error), 'bad');
    } finally {
      setBusy(false);
    }
  };
  const size = small ? 'small' : '';
  const button = (verb, icon, act) => html`<button type="button" class=${`button ${size}`} onClick=${act} aria-busy=${busy ? 'true' : undefined}
      aria-label=${small ? t(`${verb}Of`, { name: entry.name }) : undefined}>
    <${Icon} name=${icon} size=${small ? 14 : 16} />${t(verb)}
  </button>`;
  return html`
    ${entry.state !== 'active' && button('resume', 'play', resume)}
    ${entry.state !== 'paused' && button('pause', 'pause', () => setAsking('pause'))}
    ${!small && entry.state !== 'draining' && button('drain', 'down', () => setAsking('drain'))}
    ${asking && html`<${FormDialog} title=${t(`${asking}Title`)} saveLabel=${t(asking)} onClose=${() => setAsking(null)}
        save=${() => apply(asking).then(() => setAsking(null))}>
      <p>${t.parts(`${asking}Text`, { name: html`<strong><${Name}>${entry.name}<//></strong>` })}</p>
    <//>`}`;
}
