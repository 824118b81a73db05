/** The overview's charts. */

import { TimeChart } from '../components/chart.js';
import { OUTCOMES, useOutcomes } from '../components/outcome.js';
import { duration, exactMoney, roundMoney, short, whole } from '../format.js';
import { useWords } from '../i18n.js';
import { html, useMemo } from '../view.js';
import { strings } from './overview.strings.js';
import { TOKENS } from './tokens.js';

export function Charts({ figures, onRange }) {
  const t = useWords(strings);
  const outcomes = useOutcomes();
  const { series, bucket_seconds: step } = figures;
  const at = useMemo(() => series.map((one) => Date.parse(one.at) / 1000), [series]);
  const of = (read) => series.map(read);
  const shared = { at, step, onRange };
  const per = t('perBucket', { length: duration(step * 1000) });
  return html`<div class="charts">
    <${TimeChart} ...${shared} title=${t('chartRequests')} hint=${per} kind="bars" format=${whole} tick=${short}
      series=${OUTCOMES.map(([key, colour]) => ({ key, colour, label: outcomes.name(key), values: of((one) => one[key]) }))} />
    <${TimeChart} ...${shared} title=${t('chartTokens')} hint=${per} kind="bars" format=${whole} tick=${short}
      series=${TOKENS.map(([key, member, colour]) => ({ key, colour, label: t(key), values: of((one) => one[member]) }))} />
    <${TimeChart} ...${shared} title=${t('chartFirst')} hint="p50 · p95" kind="lines" format=${duration} tick=${duration}
      series=${[
        { key: 'p50', colour: '--c1', label: 'p50', values: of((one) => one.first_token_ms?.p50 ?? null) },
        { key: 'p95', colour: '--c2', label: 'p95', values: of((one) => one.first_token_ms?.p95 ?? null) },
      ]} />
    <${TimeChart} ...${shared} title=${t('chartCost')} hint=${per} kind="bars" format=${exactMoney} tick=${roundMoney}
      series=${[{ key: 'cost', colour: '--c1', label: t('cost'), values: of((one) => Number(one.cost)) }]} />
  </div>`;
}
