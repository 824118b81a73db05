/** The playground: ask any model over any protocol, and see each event of the answer. */

import { Dialog } from '../components/dialog.js';
import { Segmented } from '../components/field.js';
import { Icon } from '../components/icon.js';
import { Block } from '../components/text.js';
import { useWords } from '../i18n.js';
import { PageHead, Section } from '../page.js';
import { useResource } from '../resource.js';
import { useQuery } from '../router.js';
import { html, useEffect, useMemo, useRef, useState } from '../view.js';
import { loadAll, servedModels } from './manage.js';
import { Answer, Facts, WholeAnswer } from './playground/answer.js';
import { EventList } from './playground/event_list.js';
import { bodyOf, kept, RequestForm } from './playground/form.js';
import { strings } from './playground/playground.strings.js';
import { Run } from './playground/run.js';
import { KEY_VARIABLE, needs, program, programs } from './playground/snippets.js';
import { Strip } from './playground/strip.js';
import { Warnings } from './request_figures.js';

export default function Playground() {
  const t = useWords(strings);
  const [form, put] = useForm();
  const [tried, setTried] = useState(false);
  const [copying, setCopying] = useState(false);
  const { run, turn, start, stop } = useRun();
  const names = useNames();
  const answer = useRef(null);
  const { text, value, wrong } = bodyOf(form);
  const running = run !== null && !run.over;

  const ask = () => {
    setTried(true);
    if (running || Object.keys(wrong).length) return;
    start(form.protocol, text, form.key);
    if (answer.current.getBoundingClientRect().top > innerHeight / 2) answer.current.scrollIntoView();
  };
  const actions = html`
    <button type="button" class="button" onClick=${() => setCopying(true)}><${Icon} name="copy" />${t('copyAs')} …</button>
    ${running
      ? html`<button type="button" class="button danger" onClick=${stop}><${Icon} name="stop" />${t('stop')}</button>`
      : html`<button type="button" class="button primary" onClick=${ask} title=${t('runHint')}><${Icon} name="play" />${t(run ? 'again' : 'run')}</button>`}`;
  return html`<${PageHead} title=${t('title')} lead=${t('lead')} actions=${actions} />
    <div class="playground">
      <${Section} title=${t('request')}>
        <${RequestForm} ...${{ form, put, ...names }} wrong=${tried ? wrong : {}} run=${ask} />
      <//>
      <div class="playground-answer" ref=${answer}>
        <${Section} title=${t('answer')}><${Answer} run=${run} turn=${turn} /><//>
        ${run && html`<${Section} title=${t('facts')}><${Facts} run=${run} turn=${turn} /><//>`}
        ${run && html`<${Warnings} warnings=${run.warnings} />`}
        ${run && run.whole === null && html`<${Section} title=${t('timing')}><${Strip} run=${run} turn=${turn} /><//>`}
        ${run && run.whole === null && html`<${Section} title=${t('events')}><${EventList} run=${run} turn=${turn} /><//>`}
        ${run?.whole && html`<${Section} title=${t('wholeAnswer')}><${WholeAnswer} text=${run.whole} /><//>`}
      </div>
    </div>
    ${copying && html`<${Programs} protocol=${form.protocol} body=${value} onClose=${() => setCopying(false)} />`}`;
}

/** The form, begun with what the address names. */
function useForm() {
  const [query] = useQuery();
  const [form, setForm] = useState(() => {
    const named = ['model', 'key', 'protocol'].filter((name) => query[name]);
    return { ...kept, ...Object.fromEntries(named.map((name) => [name, query[name]])) };
  });
  useEffect(() => {
    Object.assign(kept, form);
  }, [form]);
  return [form, (patch) => setForm((old) => ({ ...old, ...patch }))];
}

const DRAW_MS = 40;

/** One run at a time, drawn at most so often. It ends when the page is left. */
function useRun() {
  const [run, setRun] = useState(null);
  const [turn, setTurn] = useState(0);
  const current = useRef(null);
  const drawing = useRef(null);
  const changed = () => {
    drawing.current ??= setTimeout(() => {
      drawing.current = null;
      setTurn((count) => count + 1);
    }, DRAW_MS);
  };
  useEffect(
    () => () => {
      current.current?.stop();
      clearTimeout(drawing.current);
    },
    [],
  );
  useEffect(() => {
    if (!run || run.over) return undefined;
    const timer = setInterval(changed, 250); // the strip grows also while nothing comes
    return () => clearInterval(timer);
  }, [run, run?.over]);
  const start = (protocol, body, key) => {
    current.current?.stop();
    current.current = new Run(protocol, changed);
    setRun(current.current);
    current.current.ask(body, key);
  };
  return { run, turn, start, stop: () => current.current?.stop() };
}

/** Names of models and keys to choose from. */
function useNames() {
  const channels = useResource('playground/channels', (signal) => loadAll('channels', signal));
  const keys = useResource('playground/keys', (signal) => loadAll('keys', signal));
  return useMemo(
    () => ({
      models: servedModels(channels.value ?? []).filter((name) => !name.endsWith('*')),
      keys: (keys.value ?? []).filter((key) => !key.problem),
    }),
    [channels.value, keys.value],
  );
}

function Programs({ protocol, body, onClose }) {
  const t = useWords(strings);
  const [kind, setKind] = useState('curl');
  const options = programs.map((name) => [name, t(`program.${name}`)]);
  const command = needs(kind, protocol);
  return html`<${Dialog} title=${t('copyAs')} onClose=${onClose} wide>
    <div class="form">
      <${Segmented} label=${t('copyAs')} value=${kind} options=${options} onChange=${setKind} />
      ${body === null
        ? html`<p class="note warn"><${Icon} name="warning" />${t('notJson')}</p>`
        : html`<${Block} text=${program(kind, protocol, location.origin, body)} label=${t(`program.${kind}`)} wrap=${false} />
            <p class="muted">${t('programText', { variable: KEY_VARIABLE })} ${command && t.parts('programNeeds', { command: html`<code>${command}</code>` })}</p>`}
    </div>
  <//>`;
}
