/** The dialog that pays back what a request was charged. */

import { change, part } from '../api.js';
import { FormDialog } from '../components/dialog.js';
import { Input } from '../components/field.js';
import { toast } from '../components/toast.js';
import { exactMoney } from '../format.js';
import { useWords } from '../i18n.js';
import { html, useState } from '../view.js';
import { strings } from './request.strings.js';

export function RefundDialog({ row, onClose }) {
  const t = useWords(strings);
  const [amount, setAmount] = useState('');
  // The same reference is sent again after a lost answer, so that nothing is paid twice.
  const [reference, setReference] = useState(() => `console-${crypto.getRandomValues(new Uint32Array(2)).join('')}`);
  const save = async () => {
    const body = { reference: reference.trim(), ...(amount.trim() ? { amount: amount.trim() } : {}) };
    const { body: done } = await change('POST', `requests/${part(row.id)}/refund`, { body });
    const words = { amount: exactMoney(done.amount), account: done.account };
    toast(t(done.refunded ? 'refunded' : 'refundedBefore', words), done.refunded ? 'good' : 'info');
    onClose();
  };
  return html`<${FormDialog} title=${t('refundTitle')} saveLabel=${t('refundDo')} onClose=${onClose} save=${save} danger>
    <p>${t('refundText', { account: row.account })}</p>
    <${Input} label=${t('refundAmount')} name="amount" value=${amount} onInput=${setAmount} inputmode="decimal"
      hint=${t('refundAmountHint', { amount: exactMoney(row.cost) })} optional placeholder=${row.cost} />
    <${Input} label=${t('refundReference')} name="reference" value=${reference} onInput=${setReference} hint=${t('refundReferenceHint')} code />
  <//>`;
}
