/** Adding a payment to an account: the same reference is never credited twice. */

import { change, part } from '../api.js';
import { FormDialog } from '../components/dialog.js';
import { Input } from '../components/field.js';
import { Name } from '../components/text.js';
import { toast } from '../components/toast.js';
import { exactMoney } from '../format.js';
import { useWords } from '../i18n.js';
import { html, useState } from '../view.js';
import { strings } from './accounts.strings.js';

/** `onPaid()` is called once the payment is in the books. */
export function CreditDialog({ account, onClose, onPaid }) {
  const t = useWords(strings);
  const [amount, setAmount] = useState('');
  // Made once for this dialog: when the answer is lost and the reader tries again, nothing is paid twice.
  const [reference, setReference] = useState(() => `console ${crypto.randomUUID?.() ?? randomName()}`);
  const pay = async () => {
    const body = { amount: amount.trim(), ...(reference.trim() ? { reference: reference.trim() } : {}) };
    const { body: done } = await change('POST', `accounts/${part(account)}/credit`, { body });
    const words = done.credited ? 'credited' : 'creditedBefore';
    toast(t(words, { amount: exactMoney(body.amount), balance: exactMoney(done.balance) }), done.credited ? 'good' : 'info');
    onPaid();
  };
  return html`<${FormDialog} title=${t('creditTitle')} saveLabel=${t('credit')} onClose=${onClose} save=${pay}>
    <p>${t.parts('creditText', { name: html`<strong><${Name}>${account}<//></strong>` })}</p>
    <${Input} label=${t('amount')} name="amount" hint=${t('amountHint')} value=${amount} onInput=${setAmount} inputmode="decimal" autofocus />
    <${Input} label=${t('reference')} name="reference" hint=${t('referenceHint')} value=${reference} onInput=${setReference} code />
  <//>`;
}

/** Where the page is not served over https there is no randomUUID. */
function randomName() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
