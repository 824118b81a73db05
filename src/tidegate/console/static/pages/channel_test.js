/** A test of a channel: the doctor's streams, and where they depart from the protocol. */

import { change, part } from '../api.js';
import { Badge } from '../components/badge.js';
import { Choice, Input, problemText } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Block, Name } from '../components/text.js';
import { duration, plain, whole } from '../format.js';
import { useWords } from '../i18n.js';
import { Section } from '../page.js';
import { html, useEffect, useRef, useState } from '../view.js';
import { strings } from './channel_test.strings.js';
import { strings as ruleStrings } from './doctor_rules.strings.js';

/** Runs at once with the first model; another can be chosen. Where all are patterns, one must be named before. */
export function ChannelTest({ entry, onClose }) {
  const t = useWords(strings);
  const all = Object.keys(entry.models ?? {});
  const patterns = all.filter((name) => name.endsWith('*'));
  const names = all.filter((name) => !name.endsWith('*'));
  const [model, setModel] = useState(names.length || !patterns.length ? '' : patterns[0].slice(0, -1));
  const [state, setState] = useState({});
  const stop = useRef(null);

  const run = async () => {
    stop.current?.abort();
    const abort = new AbortController();
    stop.current = abort;
    setState({ running: true });
    try {
      const body = model ? { model } : {};
      const told = await change('POST', `channels/${part(entry.name)}/test`, { body, signal: abort.signal });
      setState({ report: told.body });
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!error.kind) console.error(error);
      setState({ error });
    }
  };
  useEffect(() => {
    if (names.length || !patterns.length) run();
    return () => stop.current?.abort();
  }, []);

  const begun = Boolean(state.running || state.report || state.error);
  return html`<${Section} title=${t('title')} hint=${t('lead')} className="test">
    <form class="test-bar" onSubmit=${(event) => { event.preventDefault(); run(); }}>
      ${patterns.length > 0 && html`<${Input} code label=${t('model')} value=${model} onInput=${setModel}
        hint=${t('patterns', { patterns: all.join(', ') })} required=${!names.length} />`}
      ${!patterns.length && names.length > 1 && html`<${Choice} label=${t('model')} value=${model} options=${[['', t('first')], ...names.map((name) => [name, name])]} onChange=${setModel} />`}
      <button type="submit" class="button" disabled=${state.running}>
        <${Icon} name=${begun ? 'refresh' : 'play'} />${t(begun ? 'again' : 'run')}
      </button>
      <button type="button" class="button quiet" onClick=${onClose}><${Icon} name="close" />${t('close')}</button>
    </form>
    <div role="status" aria-busy=${state.running ? 'true' : undefined}>
      ${state.running && html`<p class="note info"><${Icon} name="clock" />${t('running')}</p>`}
      ${state.report && html`<${Verdict} report=${state.report} />`}
    </div>
    ${state.error && html`<p class="note bad" role="alert"><${Icon} name="warning" />${problemText(state.error)}</p>`}
    ${state.report && html`<ul class="streams">${state.report.streams.map((stream) => html`<${Stream} key=${stream.name} stream=${stream} />`)}</ul>`}
  <//>`;
}

function Verdict({ report }) {
  const t = useWords(strings);
  const findings = report.streams.flatMap((stream) => stream.findings);
  const [errors, warnings] = ['error', 'warning'].map((one) => findings.filter(({ severity }) => severity === one).length);
  const tone = report.ok ? (warnings ? 'warn' : 'good') : 'bad';
  const text = report.ok ? (warnings ? t('warned', { count: warnings }) : t('good')) : t('bad', { count: errors });
  return html`<p class=${`note ${tone}`}><${Icon} name=${tone === 'good' ? 'check' : 'warning'} />
    <span>${text} ${t.parts('about', {
      model: html`<${Name} code>${report.model}<//>`,
      protocol: t(`protocol.${report.protocol}`),
      time: duration(report.duration_ms),
    })}</span>
  </p>`;
}

const TONES = { error: 'bad', warning: 'warn', note: 'info' };

function Stream({ stream }) {
  const t = useWords(strings);
  const warned = stream.findings.some(({ severity }) => severity === 'warning');
  const name = t.has(`stream.${stream.name}`) ? t(`stream.${stream.name}`) : stream.name;
  return html`<li class="stream">
    <div class="stream-head">
      <${Badge} tone=${stream.ok ? (warned ? 'warn' : 'good') : 'bad'}>${t(stream.ok ? 'passed' : 'failed')}<//>
      <h3>${name}</h3>
      <dl class="inline-facts">
        <div><dt>${t('status')}</dt><dd>${stream.status ?? '–'}</dd></div>
        <div><dt>${t('firstByte')}</dt><dd>${duration(stream.first_byte_ms)}</dd></div>
        <div><dt>${t('firstEvent')}</dt><dd>${duration(stream.first_event_ms)}</dd></div>
        <div><dt>${t('total')}</dt><dd>${duration(stream.total_ms)}</dd></div>
        <div><dt>${t('events')}</dt><dd>${whole(stream.events)}</dd></div>
      </dl>
    </div>
    ${stream.findings.map((finding, index) => html`<${Finding} key=${index} finding=${finding} />`)}
  </li>`;
}

function Finding({ finding }) {
  const t = useWords(strings);
  const rules = useWords(ruleStrings);
  const severity = finding.severity in TONES ? finding.severity : 'note';
  return html`<div class=${`finding found-${severity}`}>
    <p><${Badge} tone=${TONES[severity]}>${t(severity)}<//> <span class="code">${finding.rule}</span></p>
    ${rules.has(finding.rule) && html`<p>${rules(finding.rule)}</p>`}
    <p class="finding-here"><span class="muted">${t('here')}</span> <bdi lang="en">${plain(finding.message)}</bdi></p>
    ${finding.source && html`<p class="muted">${t.parts('source', { source: t.has(`from.${finding.source}`) ? t(`from.${finding.source}`) : html`<bdi lang="en">${finding.source}</bdi>` })}</p>`}
    ${finding.event && html`<${Block} text=${finding.event} label=${t('event')} copy=${false} />`}
  </div>`;
}
